"""Command: hold sweeps of a run."""

from dashboard.models import Correction
from ingest.management.correcting import SweepCommand


class Command(SweepCommand):
    help = "Keep a sweep from becoming the current one."
    action = Correction.Action.HOLD
