"""Command: import what the master configs said in the past, as a list of changes."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ingest.config_history import import_config_history
from ingest.config_keys import ConfigError
from ingest.management.arguments import repository_name, text_of

MOST_DEFECTS = 50


class Command(BaseCommand):
    help = "Import changes of config keys, one JSON object a line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--repo",
            default=settings.FRONTIERBOARD_REPOSITORY,
            help="owner/name (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        repository, file = repository_name(options["repo"]), options["file"]
        try:
            done = import_config_history(
                text_of(file), name=file.name, repository=repository
            )
        except ConfigError as error:
            raise CommandError(f"{file.name}: {error}") from error
        for defect in done.defects[:MOST_DEFECTS]:
            self.stderr.write(f"defect: {defect}")
        kinds = ", ".join(f"{n} {kind}" for kind, n in done.kinds.most_common())
        self.stdout.write(
            f"{done.kinds.total()} changes: {done.new} new, {done.changed} changed; "
            f"{kinds}; {done.swaps} checkpoint swaps; {len(done.defects)} defects"
        )
