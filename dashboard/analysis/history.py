"""The official sweeps of one config key and scenario in order, and what they reached.

A value belongs to the sweep under whose date it stands. No series joins two segments:
what draws them asks each sweep for its own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import floor, log10
from typing import NamedTuple

import numpy as np
import pandas as pd

from dashboard.analysis.best_at import INTERACTIVITIES
from dashboard.analysis.curves import Curve, SweepFacts, curves
from dashboard.analysis.frames import require_columns
from dashboard.analysis.hypervolume import hypervolume
from dashboard.analysis.pareto import on_frontier, placeable
from dashboard.analysis.ranking import best_at
from dashboard.analysis.segments import Change, Grid
from dashboard.vocabulary.metrics import METRICS

HELD = "held"
SPREAD = (0.15, 0.4, 0.75)  # of the range that a frontier spans


class Pull(NamedTuple):
    """The pull request of a run; ``address`` is empty where it is not known."""

    number: int
    address: str = ""


@dataclass(frozen=True, slots=True)
class HistorySweep:
    """An official sweep and what changed with it.

    ``members`` are the sweeps whose points make one curve under its date: itself, and
    where it only adds points, what it adds to. ``grid`` is what it measured itself.
    """

    facts: SweepFacts
    state: str
    markers: tuple[Change, ...] = ()
    is_swap: bool = False
    grid: Grid = field(default_factory=dict)
    pull: Pull | None = None
    members: tuple[int, ...] = ()

    @property
    def sweep_id(self) -> int:
        """Return the id of the sweep."""
        return self.facts.sweep_id

    @property
    def at(self) -> datetime:
        """Return the date under which it is official."""
        return self.facts.official_at

    @property
    def segment(self) -> int | None:
        """Return its stretch of the history, None while it is held."""
        return self.facts.segment

    @property
    def breaks(self) -> tuple[Change, ...]:
        """Return why it began its segment; empty within one."""
        return self.facts.breaks

    @property
    def is_held(self) -> bool:
        """Tell whether it waits for a person, or for the rest of its points."""
        return self.state == HELD

    @property
    def changes(self) -> tuple[Change, ...]:
        """Return everything that changed with it."""
        return (*self.breaks, *self.markers)

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """Return every deployment and concurrency that it measured itself."""
        return frozenset((name, c) for name, found in self.grid.items() for c in found)


class Value(NamedTuple):
    """What a sweep reached, where, and the bounds of its interval if it has one."""

    value: float
    where: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity over the history: its value by the id of the sweep.

    A sweep without a value is blank, never 0. ``floor`` is what it must reach.
    """

    name: str
    label: str
    values: Mapping[int, Value]
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class Ghost:
    """A former curve beside the current one, and what it is called."""

    curve: Curve
    words: str


@dataclass(frozen=True, slots=True)
class History:
    """The official sweeps of a key and scenario, oldest first."""

    sweeps: tuple[HistorySweep, ...] = ()

    @property
    def counted(self) -> list[HistorySweep]:
        """Return the sweeps that are or were current."""
        return [sweep for sweep in self.sweeps if not sweep.is_held]

    @property
    def breaking(self) -> list[HistorySweep]:
        """Return the sweeps at which the history broke."""
        return [sweep for sweep in self.counted if sweep.breaks]

    @property
    def current(self) -> Curve | None:
        """Return the newest curve that counts, with what was added to it."""
        return self._curve(self._bases()[-1:])

    @property
    def ghosts(self) -> list[Ghost]:
        """Return the curve before the current one, and the last before its segment.

        The same one twice is named once: as that before the break.
        """
        bases = self._bases()
        if not bases:
            return []
        segment = bases[-1].segment
        former = [b for b in bases[:-1] if b.segment == segment][-1:]
        across = [b for b in bases[:-1] if b.segment != segment][-1:]
        found = []
        for base, word in ((former, "former sweep"), (across, "before the break")):
            curve = self._curve(base)
            if curve is not None:
                found.append(Ghost(curve, _ghost_words(word, curve, bases)))
        return found

    def _bases(self) -> list[HistorySweep]:
        return [sweep for sweep in self.counted if sweep.facts.extends is None]

    def _curve(self, bases: Sequence[HistorySweep]) -> Curve | None:
        if not bases:
            return None
        (base,) = bases
        added = (s.facts for s in self.counted if s.facts.extends == base.sweep_id)
        (curve,) = curves([base.facts, *added])
        return curve


def _ghost_words(word: str, curve: Curve, bases: Sequence[HistorySweep]) -> str:
    broken = bases[-1].segment != curve.sweep.segment
    opening = next((b for b in bases if b.segment == bases[-1].segment), None)
    if broken and opening is not None and opening.is_swap:
        word = "before the swap"
    sweep = curve.sweep
    return (
        f"{word}, {sweep.official_at:%Y-%m-%d}, {sweep.checkpoint_short or 'unknown'}"
    )


def history_of(sweeps: Iterable[HistorySweep]) -> History:
    """Put sweeps in the order of their dates, each with what its curve was made of."""
    ordered = sorted(sweeps, key=lambda s: (s.at, s.facts.run_id, s.sweep_id))
    made: list[HistorySweep] = []
    of_base: dict[int, tuple[int, ...]] = {}
    for sweep in ordered:
        base = sweep.facts.extends
        before = of_base.get(base, ()) if base is not None else ()
        members = (*before, sweep.sweep_id)
        if not sweep.is_held:
            of_base[base if base is not None else sweep.sweep_id] = members
        made.append(replace(sweep, members=members))
    return History(tuple(made))


def best_series(
    points: pd.DataFrame, history: History, x: str, y: str, targets: Iterable[float]
) -> list[Series]:
    """Return for each target the best ``y`` that a sweep reaches: the step rule.

    ``points`` has the columns sweep_id, deployment (its label), concurrency,
    ``is_out``, ``x`` and ``y``. Blank where no point is as good as the target.
    """
    joined = under_its_date(points, history)
    unit = METRICS[x].unit
    found = []
    for target in targets:
        best = best_at(joined, "at_sweep", x, y, target)
        values = {
            int(sweep): Value(float(value), f"{deployment} c{concurrency}")
            for sweep, value, deployment, concurrency in zip(
                best["at_sweep"],
                best[y],
                best["deployment"],
                best["concurrency"],
                strict=True,
            )
        }
        name = f"at {target:g} {unit} or more"
        found.append(Series(name, f"at {target:g}", values))
    return found


def area_series(points: pd.DataFrame, history: History, x: str, y: str) -> Series:
    """Return the area that the points of each sweep dominate, in units of x times y.

    Both metrics are better when higher. Blank for a sweep without a point.
    """
    joined = under_its_date(points, history)
    counting = placeable(joined, x, y) & ~joined["is_out"].to_numpy(dtype=np.bool_)
    values = {
        int(sweep): Value(
            float(hypervolume(rows[x].to_numpy(float), rows[y].to_numpy(float)))
        )
        for sweep, rows in joined[counting].groupby("at_sweep")
    }
    return Series("hypervolume", "hypervolume", values)


def place_series(
    points: pd.DataFrame, metric: str, deployment: str, concurrency: int
) -> Series:
    """Return a metric at one deployment and concurrency, as each sweep measured it.

    Several recipes of one place are folded to their median; points that are out take
    no part.
    """
    require_columns(points, ("sweep_id", "deployment", "concurrency", "is_out", metric))
    here = points[
        points["deployment"].eq(deployment)
        & points["concurrency"].eq(concurrency)
        & ~points["is_out"].astype(bool)
    ]
    place = f"{deployment} c{concurrency}"
    medians = here.groupby("sweep_id", as_index=False)[metric].median().dropna()
    values = {
        int(sweep): Value(float(value), place)
        for sweep, value in zip(medians["sweep_id"], medians[metric], strict=True)
    }
    return Series(place, place, values)


def under_its_date(points: pd.DataFrame, history: History) -> pd.DataFrame:
    """Return ``points`` with ``at_sweep``: once for each date they count under."""
    require_columns(points, ("sweep_id",))
    pairs = [(s.sweep_id, member) for s in history.sweeps for member in s.members]
    known = pd.DataFrame(pairs, columns=["at_sweep", "sweep_id"], dtype="int64")
    return known.merge(points, on="sweep_id")


def default_targets(points: pd.DataFrame, x: str, y: str) -> tuple[float, ...]:
    """Return up to three round values of ``x`` spread over the current frontier.

    ``points`` are those of one curve; none without a frontier.
    """
    counting = on_frontier(points, x, y) & ~points["is_out"].to_numpy(dtype=np.bool_)
    reach = points.loc[counting, x]
    if reach.empty:
        return ()
    low, high = float(reach.min()), float(reach.max())
    within = [float(at) for at in INTERACTIVITIES if low <= at <= high]
    if not within:
        # Rounded down, so that the best point still reaches it.
        step = 10.0 ** (floor(log10(high)) - 1)
        return (floor(high / step) * step,)
    wanted = (low + (high - low) * share for share in SPREAD)
    return tuple(sorted({min(within, key=lambda at: abs(at - w)) for w in wanted}))


def default_place(history: History) -> tuple[str, int] | None:
    """Return the place that most sweeps measured, of those measured today.

    Of equal ones that with the highest concurrency. None without a sweep that counts.
    """
    counts: Counter[tuple[str, int]] = Counter()
    today: frozenset[tuple[str, int]] = frozenset()
    for sweep in history.counted:
        today = sweep.places
        counts.update(today)
    return max(today, key=lambda place: (counts[place], place[1], place), default=None)


@dataclass(frozen=True, slots=True)
class MatchedChange:
    """One place that two sweeps measured: the values, and the change as a fraction.

    Raw, with no sign of better or worse: across a break nothing is like for like.
    """

    deployment: str
    concurrency: int
    before: float
    after: float
    change: float | None


def matched_changes(
    points: pd.DataFrame, before: HistorySweep, after: HistorySweep, metric: str
) -> list[MatchedChange]:
    """Return the change of a metric at every place that both sweeps measured."""
    old, new = (place_values(points, s.members, metric) for s in (before, after))
    return [
        MatchedChange(*place, old[place], new[place], _ratio(old[place], new[place]))
        for place in sorted(old.keys() & new.keys())
    ]


def place_values(
    points: pd.DataFrame, sweep_ids: Iterable[int], metric: str
) -> dict[tuple[str, int], float]:
    """Return the median of a metric at each place of some sweeps.

    Points that are out take no part, nor do places where the metric is missing.
    """
    require_columns(points, ("sweep_id", "deployment", "concurrency", "is_out", metric))
    is_here = points["sweep_id"].isin(list(sweep_ids))
    here = points[is_here & ~points["is_out"].astype(bool)]
    place = ["deployment", "concurrency"]
    medians = here.groupby(place, as_index=False)[metric].median().dropna()
    columns = (medians[name] for name in (*place, metric))
    return {(str(d), int(c)): float(v) for d, c, v in zip(*columns, strict=True)}


def _ratio(before: float, after: float) -> float | None:
    return after / before - 1 if before else None
