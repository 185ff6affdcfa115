"""Command: the verdict on a run, for people and as a gate in CI."""

import sys
from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from dashboard.analysis.verdict_report import markdown_report, text_report
from dashboard.analysis.verdicts import Verdict
from dashboard.queries.run_verdicts import (
    AskedVerdict,
    NotStoredError,
    RunVerdict,
    VerdictRefusedError,
)
from ingest.management.commands.ingest_run import run_id

FOUND, REFUSED = 1, 2
LARGEST_ATTEMPT = 1000
WORSE = frozenset({Verdict.REGRESSION, Verdict.MIXED})


class Command(BaseCommand):
    help = (
        "Tell whether a run is better or worse than the official record. With "
        "--fail-on exits with 1 where it found that, 0 where not, 2 for an unknown run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run_id", type=run_id)
        parser.add_argument("--base", type=run_id, help="a run to compare with")
        parser.add_argument("--attempt", type=attempt, help="only this attempt of it")
        parser.add_argument(
            "--base-attempt", type=attempt, help="only this attempt of the base"
        )
        parser.add_argument(
            "--format", choices=["text", "markdown", "json"], default="text"
        )
        parser.add_argument(
            "--fail-on", choices=["regression", "evals"], action="append", default=[]
        )

    def handle(self, *args: Any, **options: Any) -> None:
        asked = AskedVerdict(**{name: options[name] for name in AskedVerdict._fields})
        try:
            found = asked.answer()
        except VerdictRefusedError as error:
            raise CommandError(_said(error), returncode=REFUSED) from error
        for line in _written(found, options["format"]):
            self.stdout.write(line)
        if _fails(found, options["fail_on"]):
            sys.exit(FOUND)


def attempt(text: str) -> int:
    """Read the number of an attempt; raises ValueError for anything else."""
    if not text.isdecimal() or not 0 < int(text) <= LARGEST_ATTEMPT:
        raise ValueError(text)
    return int(text)


def _said(error: VerdictRefusedError) -> str:
    is_fetchable = isinstance(error, NotStoredError)
    return f"{error} Fetch it with ingest_run." if is_fetchable else str(error)


def _written(found: RunVerdict, form: str) -> list[str]:
    if form == "json":
        return [orjson.dumps(found.as_json, option=orjson.OPT_INDENT_2).decode()]
    if form == "markdown":
        return [markdown_report(found.facts, found.verdicts).rstrip()]
    return list(text_report(found.facts, found.verdicts))


def _fails(found: RunVerdict, conditions: list[str]) -> bool:
    is_worse = any(verdict.performance in WORSE for verdict in found.verdicts)
    return ("regression" in conditions and is_worse) or (
        "evals" in conditions and bool(found.accuracy.failed)
    )
