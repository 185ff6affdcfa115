"""Command: import master configs as they stood at one commit."""

from argparse import ArgumentParser
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ingest.artifacts.bundles import parse_time
from ingest.management.arguments import commit, repository_name, text_of
from ingest.pipeline import import_config_files


class Command(BaseCommand):
    help = "Import master configs (a folder or YAML files) of one commit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", nargs="+", type=Path)
        parser.add_argument(
            "--sha", required=True, help="the commit, 7 to 64 hex digits"
        )
        parser.add_argument(
            "--at", required=True, help="its time, such as 2026-08-21T22:25:16Z"
        )
        parser.add_argument(
            "--repo",
            default=settings.FRONTIERBOARD_REPOSITORY,
            help="owner/name (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        sha, at = commit(options["sha"]), _time(options["at"])
        repository = repository_name(options["repo"])
        files = _read(options["path"])
        done = import_config_files(files, repository=repository, sha=sha, at=at)
        for defect in done.defects:
            self.stderr.write(f"defect: {defect}")
        self.stdout.write(
            f"{done.files} files at {sha[:12]}: {done.keys} config keys, "
            f"{done.entries} matrix entries, {done.new_snapshots} new, "
            f"{len(done.defects)} defects"
        )
        if not done.files:
            raise CommandError("nothing was imported")


def _time(text: str) -> datetime:
    at = parse_time(text)
    if at is None:
        raise CommandError(f"--at: not a time with its zone: {text!r}")
    return at


def _read(paths: list[Path]) -> dict[str, str]:
    files: dict[str, str] = {}
    for path in paths:
        try:
            found = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
        except OSError as error:
            raise CommandError(f"cannot be read: {error}") from error
        files |= {file.name: text_of(file) for file in found}
    if not files:
        raise CommandError(f"{paths[0]}: holds no .yaml file")
    return files
