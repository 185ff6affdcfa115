"""`manage.py forget_old`: say what retention lets go; with --yes let it go."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from ingest.retention import Ages, Forgotten, forget_old

NOTHING_SET = (
    "Everything is kept for good. FRONTIERBOARD_RAW_KEEP_DAYS and "
    "FRONTIERBOARD_SAMPLES_KEEP_DAYS, or --raw-days and --samples-days, say otherwise."
)


class Command(BaseCommand):
    help = "List old raw bytes and documents of evals that may go; --yes deletes them."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--dry-run", action="store_true", help="only list, as without --yes"
        )
        which.add_argument("--yes", action="store_true", help="delete what is listed")
        ages = Ages.of_settings()
        parser.add_argument(
            "--raw-days", type=int, default=ages.raw, help="instead of the setting"
        )
        parser.add_argument(
            "--samples-days",
            type=int,
            default=ages.samples,
            help="instead of the setting",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        ages = Ages(options["raw_days"], options["samples_days"])
        if min(ages.raw, ages.samples) < 0:
            raise CommandError("Days are counted from 0, which means for good.")
        if not (ages.raw or ages.samples):
            self.stdout.write(NOTHING_SET)
            return
        is_rehearsal = not options["yes"]
        done = forget_old(ages, timezone.now(), is_rehearsal=is_rehearsal)
        for line in _lines(ages, done, "would be" if is_rehearsal else "were"):
            self.stdout.write(line)
        if is_rehearsal and not done.is_nothing:
            self.stdout.write("Nothing was deleted: --yes does it.")


def _lines(ages: Ages, done: Forgotten, verb: str) -> list[str]:
    found = []
    if ages.raw:
        # A unit does not part from its number.
        size = filesizeformat(done.bytes).replace("\xa0", " ")
        found.append(
            f"Raw bytes older than {ages.raw} days: {done.files} files of "
            f"{done.uploads} uploads {verb} deleted, {size} ({done.bytes} bytes)."
        )
        found.append(
            f"Runs that keep older ones, since today's record rests on them: "
            f"{done.kept_runs}."
        )
    if ages.samples:
        found.append(
            f"Documents of evals older than {ages.samples} days: {done.samples} of "
            f"{done.evals} evals {verb} deleted."
        )
    return found
