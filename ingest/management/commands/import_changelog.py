"""Command: import a repository's whole changelog file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ingest.changelog_files import ImportedChangelog, import_changelog
from ingest.config_keys import ConfigError
from ingest.management.arguments import commit, repository_name, text_of

MOST_DEFECTS = 50


class Command(BaseCommand):
    help = (
        "Import a repository's whole perf-changelog.yaml; the same one changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--repo",
            default=settings.FRONTIERBOARD_REPOSITORY,
            help="owner/name (default: %(default)s)",
        )
        parser.add_argument(
            "--sha",
            help="expand keys against the masters of this commit (default: the newest)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        repository = repository_name(options["repo"])
        sha = commit(options["sha"]) if options["sha"] else ""
        file = options["file"]
        try:
            done = import_changelog(
                text_of(file), name=file.name, repository=repository, sha=sha
            )
        except ConfigError as error:
            raise CommandError(f"{file.name}: {error}") from error
        for defect in done.defects[:MOST_DEFECTS]:
            self.stderr.write(f"defect: {defect}")
        self.stdout.write(_summary(done))


def _summary(done: ImportedChangelog) -> str:
    links = ", ".join(f"{done.links[state]} {state}" for state in sorted(done.links))
    return (
        f"{done.entries} entries: {done.new} new, {done.changed} changed, "
        f"{done.removed} removed; {done.wildcards} wildcards, "
        f"{len(done.retired)} retired keys; links: {links}; "
        f"{len(done.defects)} defects"
    )
