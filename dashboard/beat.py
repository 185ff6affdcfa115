"""Beat's scheduler, which a clock that goes back does not stop."""

from typing import Any

from celery.beat import PersistentScheduler


class SteadyScheduler(PersistentScheduler):
    """Celery's own, but for times that lie ahead.

    What was last done "tomorrow", before the clock was set right, would not be done
    again until then: neither lost requests nor new runs would be looked for.
    """

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due; count from now what was last done later than now."""
        now = self.app.now()
        entries = self.schedule.values()
        ahead = [e for e in entries if e.last_run_at is None or e.last_run_at > now]
        for entry in ahead:
            entry.last_run_at = now
        if ahead:
            self._heap = None  # the order of what comes next, made of the old times
        return float(super().tick(*args, **kwargs))
