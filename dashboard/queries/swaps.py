"""Swaps with what came with them: matched points, coverage, evals. Three queries."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from django.db.models import Q

from dashboard.analysis.evals import wilson
from dashboard.analysis.swap_effects import Effect, effects
from dashboard.models import EvalResult, Point, Sweep
from dashboard.queries.change_rows import ChangeRow, change_row
from dashboard.vocabulary.floors import decisive_filter
from dashboard.vocabulary.metrics import default_axes
from dashboard.vocabulary.scenarios import AGENTIC

METRICS = ("tput_per_gpu", "median_intvty", "p90_intvty")
_COLUMNS = ("deployment_id", "concurrency", "is_out", *METRICS)
# Which sweep a point is counted with, then the point.
_OF_SWEEP = ("sweep_id", "sweep__extends_id")

# Run, config key and scenario of an eval.
EvalSite = tuple[int, int, str]


class Score(NamedTuple):
    """The mean score of some evals of one task, with its 95 % Wilson interval.

    The interval is of one eval's questions: all of them ask the same ones.
    """

    share: float
    low: float
    high: float
    n: int
    evals: int


class EvalChange(NamedTuple):
    """One task before and after, None where not measured; ``recovery`` is a ratio."""

    task: str
    filter: str
    before: Score | None
    after: Score | None

    @property
    def recovery(self) -> float | None:
        """Return the score after as a fraction of the one before."""
        if self.before is None or self.after is None or not self.before.share:
            return None
        return self.after.share / self.before.share


@dataclass(frozen=True, slots=True)
class SwapReport:
    """One sweep that began with another checkpoint."""

    sweep: Sweep
    row: ChangeRow
    effects: list[Effect]
    evals: list[EvalChange]

    @property
    def others(self) -> list[Mapping[str, Any]]:
        """Return what else differs; the grid is shown on its own."""
        changes = [*self.sweep.breaks, *self.sweep.markers]
        return [c for c in changes if c.get("kind") not in {"checkpoint", "grid"}]


def swap_reports(found: Iterable[Sweep]) -> list[SwapReport]:
    """Return the given swaps with what came with each of them."""
    sweeps = list(found)
    points = _points(sweeps)
    of_sweep = dict(iter(points.groupby("sweep")))
    none = points.iloc[:0]
    scores = _scores(sweeps)
    return [
        SwapReport(
            sweep,
            change_row(sweep),
            _effects(
                sweep,
                of_sweep.get(sweep.previous_id or 0, none),
                of_sweep.get(sweep.pk, none),
            ),
            _eval_changes(sweep, scores),
        )
        for sweep in sweeps
    ]


def _points(sweeps: Sequence[Sweep]) -> pd.DataFrame:
    """Return current points of both sides; what extends a sweep counts with it."""
    ids = {pk for sweep in sweeps for pk in (sweep.pk, sweep.previous_id)}
    # Chosen among sweeps: a condition over two tables would be asked of every point.
    of_sides = Sweep.objects.filter(Q(pk__in=ids) | Q(extends_id__in=ids))
    found = Point.objects.filter(sweep__in=of_sides, is_current=True)
    rows = list(found.values_list(*_OF_SWEEP, *_COLUMNS))
    points = pd.DataFrame(
        rows, columns=["own", "extended", "deployment", *_COLUMNS[1:]]
    )
    return points.assign(sweep=points["extended"].fillna(points["own"]))


def _effects(sweep: Sweep, before: pd.DataFrame, after: pd.DataFrame) -> list[Effect]:
    x, y = default_axes(agentic=sweep.scenario == AGENTIC)
    return effects(before, after, (y, x))


def _scores(sweeps: Sequence[Sweep]) -> dict[EvalSite, dict[str, Score]]:
    """Return the mean score by task of each side of the swaps."""
    sides = [s for sweep in sweeps for s in (sweep, sweep.previous) if s is not None]
    found = EvalResult.objects.filter(
        is_current=True,
        run_id__in={side.run_id for side in sides},
        config_key_id__in={side.config_key_id for side in sides},
    )
    shares: dict[EvalSite, dict[str, list[tuple[float, int]]]]
    shares = defaultdict(lambda: defaultdict(list))
    names = ("run_id", "config_key_id", "scenario", "task", "n")
    for *site, task, n, strict, flexible, score in found.values_list(
        *names, "strict", "flexible", "score"
    ):
        named = {"strict": strict, "flexible": flexible, "score": score}
        share = named[decisive_filter(task)]
        if share is not None and n:
            shares[tuple(site)][task].append((share, n))
    return {
        site: {task: _score(found) for task, found in tasks.items()}
        for site, tasks in shares.items()
    }


def _score(found: Sequence[tuple[float, int]]) -> Score:
    share = sum(share for share, _ in found) / len(found)
    n = min(n for _, n in found)
    return Score(share, *wilson(share, n), n, len(found))


def _eval_changes(
    sweep: Sweep, scores: Mapping[EvalSite, Mapping[str, Score]]
) -> list[EvalChange]:
    sides = [_of(side, scores) for side in (sweep.previous, sweep)]
    tasks = sorted(sides[0].keys() | sides[1].keys())
    return [
        EvalChange(task, decisive_filter(task), *(side.get(task) for side in sides))
        for task in tasks
    ]


def _of(
    sweep: Sweep | None, scores: Mapping[EvalSite, Mapping[str, Score]]
) -> Mapping[str, Score]:
    if sweep is None:
        return {}
    return scores.get((sweep.run_id, sweep.config_key_id, sweep.scenario), {})
