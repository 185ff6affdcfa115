"""Command: write the demo's bundles and take them in through the pipeline."""

import tempfile
from argparse import ArgumentParser
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from demo import REPOSITORY, write_bundles
from ingest.artifacts.bundles import open_bundle
from ingest.management.console import ConsoleProgress, report_lines
from ingest.pipeline import ingest_bundle, limits, official_repository


class Command(BaseCommand):
    help = "Fill the dashboard with made-up runs that tell a story."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--until", default="", help="last day, YYYY-MM-DD")

    def handle(self, *args: Any, **options: Any) -> None:
        until = _day(options["until"])
        official_repository(REPOSITORY)
        with tempfile.TemporaryDirectory(prefix="frontierboard-demo-") as folder:
            bundles = write_bundles(Path(folder), until)
            for done, path in enumerate(bundles):
                progress = ConsoleProgress(path.name, self.stderr)
                progress("demo", done, len(bundles))
                report = ingest_bundle(open_bundle(path, limits()))
                progress.clear()
                self.stdout.write(next(report_lines(report)))
        self.stdout.write(f"demo: {len(bundles)} runs until {until}")


def _day(text: str) -> date:
    if not text:
        return timezone.now().date()
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"--until: not a day: {text!r}") from error
