"""Command: exclude points of a run."""

from argparse import ArgumentParser

from dashboard.models import Correction
from ingest.management.correcting import CorrectingCommand, add_sweep, number


class Command(CorrectingCommand):
    help = "Take out the points of a run that every given part names; else all."
    action = Correction.Action.EXCLUDE

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_sweep(parser, is_key_required=False)
        parser.add_argument("--attempt", type=number)
        parser.add_argument("--deployment", help="its label, such as TP8/EP8 DPA")
        parser.add_argument("--concurrency", type=number)
