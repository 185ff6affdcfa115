"""Command: publish sweeps of a run."""

from dashboard.models import Correction
from ingest.management.correcting import SweepCommand


class Command(SweepCommand):
    help = "Let a held sweep become the current one, incomplete as it may be."
    action = Correction.Action.PUBLISH
