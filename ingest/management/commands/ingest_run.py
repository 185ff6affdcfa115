"""Command: fetch runs from GitHub by their ids."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dashboard.ingest_requests import RequestRefusedError, known_name
from ingest.claims import AlreadyRunningError
from ingest.github import GitHubError
from ingest.management.console import ConsoleProgress, report_lines
from ingest.remote_runs import Arrival, ingest_remote
from ingest.run_facts import MAX_ID, IngestError


class Command(BaseCommand):
    help = "Fetch runs from GitHub and ingest them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run_id", nargs="+", type=run_id)
        parser.add_argument("--repo", default=settings.FRONTIERBOARD_REPOSITORY)
        parser.add_argument(
            "--force", action="store_true", help="list an unchanged run again"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            repository = known_name(options["repo"])
        except RequestRefusedError as error:
            raise CommandError(str(error)) from error
        ids = list(dict.fromkeys(options["run_id"]))
        good = [self._ingest(repository, i, force=options["force"]) for i in ids]
        if not all(good):
            raise CommandError(f"{good.count(False)} of {len(ids)} runs were not taken")

    def _ingest(self, repository: str, number: int, *, force: bool) -> bool:
        progress = ConsoleProgress(str(number), self.stderr)
        try:
            arrival = ingest_remote(repository, number, progress, force=force)
        except (GitHubError, IngestError, AlreadyRunningError) as error:
            progress.clear()
            self.stderr.write(f"{number}: {error}")
            return False
        progress.clear()
        self._say(arrival)
        return True

    def _say(self, arrival: Arrival) -> None:
        if arrival.report is None:
            self.stdout.write(f"run {arrival.run_id}: stored already, nothing is new")
        else:
            for line in report_lines(arrival.report):
                self.stdout.write(line)
        if arrival.source is not None:
            self.stdout.write(f"  measured in run {arrival.source.run_id}:")
            self._say(arrival.source)


def run_id(text: str) -> int:
    """Read a run id; raises ValueError, which the parser turns into its own line."""
    if not text.isdecimal() or not 0 < int(text) <= MAX_ID:
        raise ValueError(text)
    return int(text)
