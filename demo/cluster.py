"""The imaginary clusters: a few runners each, one job at a time on a runner."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from demo.recipes import Recipe

RUNNERS = 4


@dataclass(frozen=True, slots=True)
class Slot:
    """A job's place: its runner, start and end."""

    runner: str
    start: datetime
    end: datetime


@dataclass(slots=True)
class Clusters:
    """When each runner is free again, from the start of an attempt on."""

    start: datetime
    _free: dict[str, datetime] = field(default_factory=dict)

    def place(self, recipe: Recipe, seconds: float, shift: int) -> Slot:
        """Give a job the runner that is free first; ``shift`` turns the order."""
        names = [
            f"{recipe.cluster}_{(index + shift) % RUNNERS:02}"
            for index in range(RUNNERS)
        ]
        runner = min(names, key=lambda name: self._free.get(name, self.start))
        start = self._free.get(runner, self.start)
        end = start + timedelta(seconds=round(seconds))
        self._free[runner] = end + timedelta(seconds=15)
        return Slot(runner, start, end)

    def finished(self) -> datetime:
        """Return when the last job has ended."""
        return max(self._free.values(), default=self.start)
