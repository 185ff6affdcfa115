"""The rows of the catalogue of keys: what each holds, narrowed and sorted."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from dashboard.analysis.curves import Curve, SweepFacts
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.models import model_group
from dashboard.vocabulary.scenarios import scenario_order


class LastChange(NamedTuple):
    """The newest change of a line: when, what, and with which run."""

    at: datetime
    words: str
    run_id: int


class Defined(NamedTuple):
    """What the config says of a key today; empty for keys that no config defines."""

    checkpoint: str = ""
    image: str = ""


class EvalCount(NamedTuple):
    """How many scores of the current curve's runs passed, of how many."""

    passed: int = 0
    scored: int = 0


NO_EVALS = EvalCount()


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One key and scenario; ``curve`` is None for a key without a current sweep."""

    key: str
    model: str
    precision: str
    hardware: str
    framework: str
    is_synthetic: bool
    defined: Defined
    curve: Curve | None = None
    has_swap: bool = False
    last_change: LastChange | None = None
    regressions: int = 0
    evals: EvalCount = NO_EVALS

    @property
    def scenario(self) -> str:
        """Return the scenario, empty where none is measured."""
        return self.curve.sweep.scenario if self.curve else ""

    @property
    def sweep(self) -> SweepFacts | None:
        """Return the current sweep."""
        return self.curve.sweep if self.curve else None

    @property
    def newest(self) -> datetime | None:
        """Return when the newest point of the curve was measured."""
        if self.curve is None:
            return None
        return max(sweep.measured_at for sweep in self.curve.sweeps)

    @property
    def planned(self) -> int | None:
        """Return how many points were planned; of additions no plan is known."""
        if self.sweep is None or self.sweep.planned is None:
            return None
        added = sum(s.received for s in self.curve.extensions) if self.curve else 0
        return self.sweep.planned + added


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFilters:
    """What the catalogue is narrowed to; what is empty does not narrow.

    ``swap`` is yes or no. ``sort`` names a column, with a minus for the reverse.
    """

    text: str = ""
    model: str = ""
    hardware: str = ""
    framework: str = ""
    precision: str = ""
    swap: str = ""
    sort: str = "key"

    def take(self, row: KeyRow) -> bool:
        """Tell whether a row passes; every word of the text must be in it."""
        pairs = (
            (self.model, model_group(row.model)),
            (self.hardware, row.hardware),
            (self.framework, canonical_framework(row.framework)),
            (self.precision, row.precision),
            (self.swap, "yes" if row.has_swap else "no"),
        )
        if any(asked and asked != found for asked, found in pairs):
            return False
        sweep = row.sweep
        served = (sweep.checkpoint, sweep.image) if sweep else row.defined
        said = " ".join((row.key, row.scenario, *served)).lower()
        return all(word in said for word in self.text.lower().split())


def sorted_rows(rows: Iterable[KeyRow], sort: str) -> list[KeyRow]:
    """Return rows by one column; what is not known comes last either way."""
    by_name = sorted(rows, key=lambda row: (row.key, scenario_order(row.scenario)))
    value = SORTS[sort.removeprefix("-")]
    known = [row for row in by_name if value(row) is not None]
    rest = [row for row in by_name if value(row) is None]
    return sorted(known, key=value, reverse=sort.startswith("-")) + rest


SORTS: Mapping[str, Callable[[KeyRow], Any]] = {
    # Keys without a current sweep stand below those that were measured.
    "key": lambda row: row.key if row.curve else None,
    "scenario": lambda row: scenario_order(row.scenario) if row.curve else None,
    "points": lambda row: row.curve.received if row.curve else None,
    "evals": lambda row: row.evals.passed if row.evals.scored else None,
    "regressions": lambda row: row.regressions if row.curve else None,
    "checkpoint": lambda row: row.sweep.checkpoint.lower() if row.sweep else None,
    "image": lambda row: row.sweep.image.lower() if row.sweep else None,
    "age": lambda row: -row.newest.timestamp() if row.newest else None,
    "change": lambda row: row.last_change.at if row.last_change else None,
}
