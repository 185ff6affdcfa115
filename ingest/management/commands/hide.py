"""Command: hide a run."""

from dashboard.models import Correction
from ingest.management.correcting import CorrectingCommand


class Command(CorrectingCommand):
    help = "Take a run off every official page; its rows stay."
    action = Correction.Action.HIDE
