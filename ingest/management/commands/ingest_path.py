"""Command: take run bundles in from disk."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingest.artifacts.bundles import BundleError, open_bundle
from ingest.claims import AlreadyRunningError
from ingest.management.console import ConsoleProgress, report_lines
from ingest.pipeline import ingest_bundle, limits
from ingest.run_facts import IngestError


class Command(BaseCommand):
    help = "Ingest run bundles: folders, zips of them, or folders of bundles."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", nargs="+", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        paths = [bundle for path in options["path"] for bundle in bundles_in(path)]
        failed = [path for path in paths if not self._ingest(path)]
        if failed:
            raise CommandError(f"{len(failed)} of {len(paths)} bundles were not taken")

    def _ingest(self, path: Path) -> bool:
        progress = ConsoleProgress(path.name, self.stderr)
        try:
            report = ingest_bundle(open_bundle(path, limits()), progress)
        except (BundleError, IngestError, AlreadyRunningError) as error:
            progress.clear()
            self.stderr.write(f"{path}: {error}")
            return False
        progress.clear()
        for line in report_lines(report):
            self.stdout.write(line)
        return True


def bundles_in(path: Path) -> list[Path]:
    """Return a bundle, or the bundles one level below a folder, oldest name first."""
    try:
        if not path.is_dir() or (path / "run.json").exists():
            return [path]
    except OSError:  # opening it as a bundle says what is wrong
        return [path]
    found = sorted(
        child
        for child in path.iterdir()
        if (child / "run.json").exists() or child.suffix == ".zip"
    )
    return found or [path]
