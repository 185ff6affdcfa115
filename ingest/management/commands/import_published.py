"""Command: import what the official dashboard published, from files or its host."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ingest.management.arguments import repository_name
from ingest.management.console import ConsoleProgress
from ingest.published.client import fetch
from ingest.published.files import PublishedError, read_folder
from ingest.published.importing import ImportedHistory, import_published

MOST_PROBLEMS = 50


class Command(BaseCommand):
    help = (
        "Import official history: a folder with benchmarks.json, benchmarks-history"
        ".json, evaluations.json, availability.json, reliability.json and "
        "workflow-info.json, or the address of a host that serves them. The same "
        "again changes nothing; artifacts win over what was published."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help="a folder, or https://host")
        parser.add_argument(
            "--repo",
            default=settings.FRONTIERBOARD_REPOSITORY,
            help="owner/name whose runs these are (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        repository = repository_name(options["repo"])
        source = options["source"]
        progress = ConsoleProgress("published", self.stderr)
        try:
            is_host = "://" in source
            published = (
                fetch(source, progress) if is_host else read_folder(Path(source))
            )
            done = import_published(published, repository=repository, progress=progress)
        except PublishedError as error:
            raise CommandError(str(error)) from error
        finally:
            progress.clear()
        for problem in done.problems[:MOST_PROBLEMS]:
            self.stderr.write(f"left out: {problem}")
        self.stdout.write(_summary(done))


def _summary(done: ImportedHistory) -> str:
    same = done.runs - done.new_runs - done.changed_runs
    skips = ", ".join(f"{count} {reason}" for reason, count in done.skips.items())
    return (
        f"{done.runs} runs: {done.new_runs} new, {done.changed_runs} changed, "
        f"{same} same; {done.points} points and {done.evals} evals in those; "
        f"{done.day_rows} rows of days, {done.changed_day_rows} changed; "
        f"skipped: {skips or 'nothing'}; {len(done.problems)} problems"
    )
