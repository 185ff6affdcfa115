"""Command: fill an empty database with a million made-up points, to measure pages."""

import time
from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from dashboard.models import EvalResult, Point, Regression, Run, Sweep
from ingest.scale.filling import empty, fill, is_filled
from ingest.scale.layout import Layout, Scale

COUNTED = {
    "runs": Run.objects,
    "sweeps": Sweep.objects,
    "points": Point.objects,
    "evals": EvalResult.objects,
    "regressions": Regression.objects,
}


class Command(BaseCommand):
    help = "Write a large made-up database through COPY, to measure pages with."
    # They would only import every page.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--points", type=int, default=1_000_000)
        parser.add_argument("--keys", type=int, default=400)
        parser.add_argument("--dates", type=int, default=40)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--until", default="", help="last day, YYYY-MM-DD")
        parser.add_argument(
            "--replace", action="store_true", help="delete all runs and keys first"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        layout = Layout(_scale(options))
        if is_filled():
            if not options["replace"]:
                raise CommandError(
                    "The database holds runs or keys already; --replace deletes them."
                )
            empty()
        begun = time.perf_counter()
        fill(layout, self._progress)
        counts = ", ".join(
            f"{found.count():,} {name}" for name, found in COUNTED.items()
        )
        self.stdout.write(f"{counts} in {time.perf_counter() - begun:.0f} s")

    def _progress(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r\x1b[Kday {done} of {total}", ending="")
            self.stderr.flush()


def _scale(options: dict[str, Any]) -> Scale:
    """Return the size asked for; raises CommandError with what is wrong with it."""
    sizes = {name: options[name] for name in ("points", "keys", "dates", "seed")}
    for name, value in sizes.items():
        if value < (name != "seed"):
            raise CommandError(f"--{name}: a positive number, not {value}")
    if sizes["points"] < sizes["keys"] * sizes["dates"]:
        raise CommandError("--points: at least one per key and date")
    return Scale(**sizes, until=_day(options["until"]))


def _day(text: str) -> date:
    if not text:
        return timezone.now().date()
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"--until: not a day: {text!r}") from error
