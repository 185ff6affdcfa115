"""Who gets which id: runs, sweeps and topologies of the made-up database."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from hashlib import sha256

from dashboard.vocabulary.deployments import Deployment
from ingest.scale.history import Day, Moment, history
from ingest.scale.keys import GROUP, Key, keys

REPOSITORY = "example/inference-bench"
# Measured every other day: forty dates reach back eighty days.
STEP_DAYS = 2
FIRST_RUN_ID = 30_000_000_000
FIRST_PR = 1000
# Keys of a run of a pull request; there are as many as official runs of a day.
UNOFFICIAL_KEYS = 2


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the database is to be; equal ones give equal rows."""

    points: int
    keys: int
    dates: int
    seed: int
    until: date


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run: of a day and a group of keys, or of a pull request."""

    row_id: int
    github_run_id: int
    at: datetime
    day: int
    group: int
    is_official: bool

    @property
    def pr_number(self) -> int:
        """Return the pull request that it belongs to, or that was merged."""
        return FIRST_PR + self.row_id

    @property
    def sha(self) -> str:
        """Return the commit that it measured."""
        return sha256(str(self.github_run_id).encode()).hexdigest()[:40]

    @property
    def url(self) -> str:
        """Return its address at the forge."""
        return f"https://github.com/{REPOSITORY}/actions/runs/{self.github_run_id}"


@dataclass(frozen=True)
class Layout:
    """Everything that is to be stored, in order, but for the measurements."""

    scale: Scale

    @cached_property
    def keys(self) -> list[Key]:
        """Return the config keys; the id of a row is the number plus 1."""
        return keys(self.scale.keys, self.scale.points // self.scale.dates)

    @cached_property
    def groups(self) -> int:
        """Return how many official runs a day has."""
        return (self.scale.keys - 1) // GROUP + 1

    @cached_property
    def runs(self) -> list[PlannedRun]:
        """Return all runs, those of pull requests last; ids count from 1."""
        official = self.groups * self.scale.dates
        found = [self._run(n, *divmod(n, self.groups)) for n in range(official)]
        newest = found[-1]
        return found + [
            self._unofficial(official + n, newest, n) for n in range(self.groups)
        ]

    def _run(self, number: int, day: int, group: int) -> PlannedRun:
        back = (self.scale.dates - 1 - day) * STEP_DAYS + 1
        begun = datetime.combine(self.scale.until, time(6), UTC)
        at = begun - timedelta(days=back) + timedelta(minutes=10 * group)
        run_id = FIRST_RUN_ID + number
        return PlannedRun(number + 1, run_id, at, day, group, is_official=True)

    def _unofficial(self, number: int, newest: PlannedRun, n: int) -> PlannedRun:
        at = newest.at + timedelta(minutes=20 * (n + 1))
        run_id = FIRST_RUN_ID + number
        return PlannedRun(number + 1, run_id, at, newest.day, n, is_official=False)

    @cached_property
    def run_ids(self) -> dict[int, int]:
        """Return GitHub's ids by row id."""
        return {run.row_id: run.github_run_id for run in self.runs}

    @cached_property
    def days(self) -> list[list[Day]]:
        """Return the history of each key, in the order of the keys."""
        return [self._history(key) for key in self.keys]

    def _history(self, key: Key) -> list[Day]:
        runs = [
            self.runs[day * self.groups + key.group] for day in range(self.scale.dates)
        ]
        moments = [Moment(run.day, run.at) for run in runs]
        # Sweeps of a day follow each other, as ingestion would have stored them.
        ids = [(r.day * len(self.keys) + key.number + 1, r.row_id) for r in runs]
        return history(key, moments, ids, self.scale.seed)

    def official(self) -> Iterator[Day]:
        """Yield the official sweeps in the order of their ids."""
        for day in range(self.scale.dates):
            for found in self.days:
                yield found[day]

    def unofficial(self) -> Iterator[tuple[PlannedRun, int, Day]]:
        """Yield (run, id, what it would be officially) of pull requests' sweeps."""
        sweep_id = self.scale.dates * len(self.keys)
        for run in self.runs[-self.groups :]:
            of_group = [key for key in self.keys if key.group == run.group]
            for key in of_group[:UNOFFICIAL_KEYS]:
                sweep_id += 1
                yield run, sweep_id, self.days[key.number][-1]

    @cached_property
    def deployments(self) -> dict[Deployment, int]:
        """Return the id of every topology."""
        shapes = (shape for key in self.keys for shape in key.shapes)
        found = dict.fromkeys(shape.deployment for shape in shapes)
        return {deployment: n for n, deployment in enumerate(found, start=1)}

    @cached_property
    def checkpoints(self) -> dict[str, int]:
        """Return the id of every checkpoint by its name."""
        names = {day.checkpoint for found in self.days for day in found}
        return {name: n for n, name in enumerate(sorted(names), start=1)}

    def deployment_ids(self, key: Key) -> Sequence[int]:
        """Return the ids of a key's deployments, in its order."""
        return [self.deployments[shape.deployment] for shape in key.shapes]
