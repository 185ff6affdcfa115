"""Command: import the floors of eval scores as those of a day on."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingest.artifacts.bundles import parse_time
from ingest.config_keys import ConfigError
from ingest.management.arguments import text_of
from ingest.thresholds import import_thresholds


class Command(BaseCommand):
    help = "Import eval-thresholds.yaml; the same file changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--at",
            required=True,
            help="since when it counts, such as 2026-08-21T22:25:16Z",
        )
        parser.add_argument("--author", default="import_thresholds", help="who says so")

    def handle(self, *args: Any, **options: Any) -> None:
        at = parse_time(options["at"])
        if at is None:
            raise CommandError(f"--at: not a time with its zone: {options['at']!r}")
        author = options["author"].strip()
        if not author:
            raise CommandError("--author: nobody")
        file = options["file"]
        try:
            done = import_thresholds(
                text_of(file), name=file.name, day=at.date(), author=author
            )
        except ConfigError as error:
            raise CommandError(f"{file.name}: {error}") from error
        for defect in done.defects:
            self.stderr.write(f"defect: {defect}")
        self.stdout.write(
            f"{done.named} floors from {at.date()} on: {done.new} new, "
            f"{len(done.defects)} defects"
        )
