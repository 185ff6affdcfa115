"""`manage.py prepare`: the database ready for a start, and how many runs it holds."""

from typing import Any

from django.core.cache import cache
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from redis import RedisError

from dashboard.models import Run
from dashboard.queries.missing import is_history_missing


class Command(BaseCommand):
    help = "Migrate the database, see that Redis answers, print the number of runs."
    # The web server's start runs them; here they would only import every page.
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            call_command("migrate", interactive=False, verbosity=0)
            self._derive_missing()
            runs = Run.objects.count()
        except DatabaseError as error:
            raise CommandError(f"The database: {_first_line(error)}") from error
        try:
            # Reading alone would take a Redis that is away for an empty one.
            cache.touch("prepare")
        except RedisError as error:
            raise CommandError(f"Redis: {_first_line(error)}") from error
        self.stdout.write(str(runs))

    def _derive_missing(self) -> None:
        """After an upgrade, derive what the version before did not know of."""
        if not is_history_missing():
            return
        # Most starts need none of it, and it imports the whole pipeline.
        from ingest.pipeline import derive_missing  # noqa: PLC0415

        count = derive_missing()
        self.stderr.write(f"derived the history of {count} runs of an older version")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
