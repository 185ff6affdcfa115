"""Command: measure the run-to-run noise from the official history."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from dashboard.analysis.noise import PAIRS_NEEDED
from dashboard.models import Noise
from ingest.noise import measure_noise


class Command(BaseCommand):
    help = "Measure the run-to-run noise of each metric from the official history."

    def handle(self, *args: Any, **options: Any) -> None:
        today = timezone.now().date()
        count = measure_noise(today)
        self.stdout.write(f"{count} values as of {today}")
        for noise in Noise.objects.filter(as_of=today).order_by("metric", "band"):
            used = "" if noise.pairs >= PAIRS_NEEDED else " (too few pairs to be used)"
            self.stdout.write(
                f"  {noise.metric} {noise.band}: {100 * noise.value:.2f} %, "
                f"{noise.pairs} pairs{used}"
            )
