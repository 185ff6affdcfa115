"""Command: ask for official runs that are new on GitHub."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingest.polling import poll_repositories


class Command(BaseCommand):
    help = "Ask the worker for official runs that are new on GitHub."

    def handle(self, *args: Any, **options: Any) -> None:
        polled = poll_repositories()
        for request in polled.requests:
            self.stdout.write(f"run {request.github_run_id}: {request.state}")
        if polled.errors:
            raise CommandError("; ".join(polled.errors))
        self.stdout.write(f"{len(polled.requests)} asked for")
