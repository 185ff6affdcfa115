"""Command: undo a correction."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from dashboard import corrections
from dashboard.models import Correction, Run
from ingest.management.correcting import ReasonedCommand, correction_line, number


class Command(ReasonedCommand):
    help = "Undo a correction; it stays listed with who undid it and why."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("correction_id", type=number)
        super().add_arguments(parser)

    def carry_out(self, options: Mapping[str, Any]) -> tuple[Run, list[str]]:
        found = Correction.objects.select_related("run", "config_key", "deployment")
        correction = found.filter(pk=options["correction_id"]).first()
        if correction is None:
            raise CommandError(f"unknown correction: {options['correction_id']}")
        is_changed = corrections.take_back(
            correction=correction, author=options["author"], reason=options["reason"]
        )
        state = "undone" if is_changed else "undone before"
        return correction.run, [correction_line(correction, state)]
