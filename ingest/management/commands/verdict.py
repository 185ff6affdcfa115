"""Command: the verdict on a run, for people and as a gate in CI."""

import sys
from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from dashboard.analysis.verdict_json import verdict_json
from dashboard.analysis.verdict_report import markdown_report, text_report
from dashboard.analysis.verdicts import Verdict
from dashboard.models import Run
from dashboard.queries.run_verdicts import RunVerdict, run_verdict, stored_run
from ingest.management.commands.ingest_run import run_id

UNKNOWN_RUN = 2
WORSE = frozenset({Verdict.REGRESSION, Verdict.MIXED})


class Command(BaseCommand):
    help = (
        "Tell whether a run is better or worse than the official record. With "
        "--fail-on exits with 1 where it found that, 0 where not, 2 for an unknown run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run_id", type=run_id)
        parser.add_argument("--base", type=run_id, help="a run to compare with")
        parser.add_argument("--attempt", type=int, help="only this attempt of the run")
        parser.add_argument(
            "--format", choices=["text", "markdown", "json"], default="text"
        )
        parser.add_argument(
            "--fail-on", choices=["regression", "evals"], action="append", default=[]
        )

    def handle(self, *args: Any, **options: Any) -> None:
        base = options["base"]
        found = run_verdict(
            _stored(options["run_id"]),
            base=None if base is None else _stored(base),
            attempt=options["attempt"],
        )
        for line in _written(found, options["format"]):
            self.stdout.write(line)
        if _fails(found, options["fail_on"]):
            sys.exit(1)


def _stored(github_run_id: int) -> Run:
    run = stored_run(github_run_id)
    if run is None:
        raise CommandError(
            f"run {github_run_id} is not stored here; fetch it with ingest_run",
            returncode=UNKNOWN_RUN,
        )
    return run


def _written(found: RunVerdict, form: str) -> list[str]:
    if form == "json":
        verdicts = [verdict_json(verdict) for verdict in found.verdicts]
        body = {"run_id": found.facts.run_id, "verdicts": verdicts}
        return [orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()]
    if form == "markdown":
        return [markdown_report(found.facts, found.verdicts).rstrip()]
    return list(text_report(found.facts, found.verdicts))


def _fails(found: RunVerdict, conditions: list[str]) -> bool:
    is_worse = any(verdict.verdict in WORSE for verdict in found.verdicts)
    return ("regression" in conditions and is_worse) or (
        "evals" in conditions and bool(found.accuracy.failed)
    )
