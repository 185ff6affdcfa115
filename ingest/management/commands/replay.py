"""Command: make everything of runs again from stored records."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from dashboard.models import Run
from ingest.claims import AlreadyRunningError
from ingest.management.console import report_lines
from ingest.pipeline import replay_run


class Command(BaseCommand):
    help = "Make the rows of runs again from their stored records; no network."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run_id", nargs="*", type=int)
        parser.add_argument("--all", action="store_true", help="every stored run")

    def handle(self, *args: Any, **options: Any) -> None:
        for run in _chosen(options["run_id"], every=options["all"]):
            try:
                report = replay_run(run)
            except AlreadyRunningError as error:
                raise CommandError(str(error)) from error
            for line in report_lines(report):
                self.stdout.write(line)
            for name, counts in report.tally.by_table.items():
                if counts["changed"] or counts["new"] or counts["removed"]:
                    self.stdout.write(
                        f"  {name}: {counts['new']} new, {counts['changed']} changed, "
                        f"{counts['removed']} removed"
                    )


def _chosen(run_ids: list[int], *, every: bool) -> QuerySet[Run]:
    if every == bool(run_ids):
        raise CommandError("name run ids, or --all")
    runs = Run.objects.select_related("repository").order_by("created_at", "pk")
    if every:
        return runs
    missing = set(run_ids) - set(
        runs.filter(github_run_id__in=run_ids).values_list("github_run_id", flat=True)
    )
    if missing:
        raise CommandError(f"unknown run: {min(missing)}")
    return runs.filter(github_run_id__in=run_ids)
