"""What the commands that correct share: who, why, and deriving what follows at once."""

import getpass
from abc import abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from dashboard import corrections
from dashboard.corrections import CorrectionRefusedError, Named
from dashboard.models import Correction, Run, Sweep
from dashboard.vocabulary.texts import one_line
from ingest.claims import serialise_writes
from ingest.management.commands.ingest_run import run_id
from ingest.pipeline import derive_run

LARGEST = 2**31 - 1
LONGEST_LINE = 1000


class ReasonedCommand(BaseCommand):
    """A command that says who asks for it and why."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", required=True)
        parser.add_argument(
            "--author", default=_login_name(), help="your name; else the login's"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            lines = self._carried_out(options)
        except CorrectionRefusedError as error:
            raise CommandError(one_line(str(error))) from error
        for line in lines:
            self.stdout.write(line)

    @transaction.atomic
    def _carried_out(self, options: Mapping[str, Any]) -> list[str]:
        """Store and derive at once, so that no worker is needed; nothing by halves."""
        # Before the run is locked, in the order of those who ingest it.
        serialise_writes()
        run, lines = self.carry_out(options)
        derive_run(run)
        return [*lines, *standing_lines(run)]

    @abstractmethod
    def carry_out(self, options: Mapping[str, Any]) -> tuple[Run, list[str]]:
        """Store what is asked for; return the run and a line per correction."""


class CorrectingCommand(ReasonedCommand):
    """A command that makes a correction of a run, or of a part of it."""

    action: Correction.Action

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run_id", type=run_id)
        super().add_arguments(parser)

    def carry_out(self, options: Mapping[str, Any]) -> tuple[Run, list[str]]:
        run = Run.objects.filter(github_run_id=options["run_id"]).first()
        if run is None:
            raise CommandError(f"unknown run: {options['run_id']}")
        names = ("attempt", "config_key", "scenario", "deployment", "concurrency")
        parts = {name: options[name] for name in names if options.get(name) is not None}
        lines = []
        for target in corrections.named_targets(
            run, Named(action=self.action, **parts)
        ):
            made, is_new = corrections.store(
                target=target, author=options["author"], reason=options["reason"]
            )
            lines.append(correction_line(made, "new" if is_new else "made before"))
        return run, lines


class SweepCommand(CorrectingCommand):
    """A command that decides on sweeps of a run."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_sweep(parser, is_key_required=True)


def add_sweep(parser: ArgumentParser, *, is_key_required: bool) -> None:
    """Add the names of a sweep."""
    parser.add_argument("--key", dest="config_key", required=is_key_required)
    parser.add_argument("--scenario", help="such as 8k/1k; else every one of the key")


def number(text: str) -> int:
    """Read a number that a column holds; raises ValueError, as the parser expects."""
    if not text.isdecimal() or len(text) > len(str(LARGEST)) or int(text) > LARGEST:
        raise ValueError(text)
    return int(text)


def correction_line(made: Correction, state: str) -> str:
    """Say what a correction is about, whose it is and whether it was there."""
    parts = [
        f"correction {made.pk}, {state}: {made.get_action_display()}",
        made.config_key.key if made.config_key else "",
        made.scenario,
        made.deployment.label if made.deployment else "",
        "" if made.concurrency is None else f"c{made.concurrency}",
        "" if made.attempt is None else f"of attempt {made.attempt}",
        f"of run {made.run.github_run_id}, by {made.author}: {made.reason}",
    ]
    return one_line(" ".join(part for part in parts if part), LONGEST_LINE)


def standing_lines(run: Run) -> Iterator[str]:
    """Say what the run counts as after the derivation, and each of its sweeps."""
    run.refresh_from_db()
    planned = "" if run.planned_count is None else f" of {run.planned_count}"
    yield (
        f"derived: run {run.github_run_id} is {run.publication}, "
        f"{run.received_count}{planned} points"
    )
    sweeps = run.sweeps.select_related("config_key")
    for sweep in sweeps.order_by("config_key__key", "scenario"):
        yield one_line(_sweep_text(sweep), LONGEST_LINE)


def _sweep_text(sweep: Sweep) -> str:
    reason = f" ({sweep.state_reason})" if sweep.state_reason else ""
    state = sweep.state or "not official"
    return f"{sweep.config_key.key} {sweep.scenario}: {state}{reason}"


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return ""
