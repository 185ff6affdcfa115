"""What the comparison of one key and scenario is made of, as its page shows it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
from django.http import HttpRequest

from dashboard.analysis.best_at import BestAt
from dashboard.analysis.comparison import PointChange
from dashboard.analysis.segments import NOTICE, RECIPE, SweepIdentity
from dashboard.analysis.sides import Side, SweepVerdict
from dashboard.analysis.step_curves import paired_stretches, step_curve
from dashboard.analysis.told_verdicts import ToldVerdict, flag_tone, told_numbers
from dashboard.analysis.verdict_json import verdict_json
from dashboard.analysis.verdicts import Verdict
from dashboard.charts import theme
from dashboard.charts.comparison import DrawnSide, base_look, comparison_figure
from dashboard.charts.exports import Words, export_layout
from dashboard.charts.frontier import Axes, Figure
from dashboard.forms.compare import METRIC, PLACE
from dashboard.models import Run
from dashboard.queries.comparisons import EvalPair, KeyComparison, Score, score
from dashboard.vocabulary.metrics import METRICS, Metric
from dashboard.vocabulary.scenarios import scenario_label

LINES = 2
_JUDGED = frozenset(
    {
        Verdict.REGRESSION,
        Verdict.IMPROVEMENT,
        Verdict.MIXED,
        Verdict.WITHIN_NOISE,
    }
)


class DeltaRow(NamedTuple):
    """One metric of one pair; ``word`` says what the flag means, empty without one.

    ``tone`` is bad, ok or warn where the verdict judges, else empty.
    """

    place_id: str
    deployment: str
    concurrency: int
    metric: Metric
    point: PointChange
    word: str
    tone: str


class BestRow(NamedTuple):
    """The best y of both sides at an interactivity; None where a side has none.

    ``alone`` says which side has no point where the other one is best: there the
    change is one of coverage.
    """

    x: float
    base: float | None
    head: float | None
    change: float | None
    alone: str


class Fact(NamedTuple):
    """Something that a sweep served or was measured with, on both sides."""

    name: str
    base: str
    head: str
    breaks: bool


class EvalRow(NamedTuple):
    """An eval of both sides with the scores' intervals."""

    pair: EvalPair
    base: tuple[Score | None, Score | None]
    head: tuple[Score | None, Score | None]


@dataclass(frozen=True)
class KeyShown:
    """One key and scenario of a comparison; ``number`` is its place on the page."""

    found: KeyComparison
    number: int
    sort: str

    @property
    def verdict(self) -> SweepVerdict:
        """The verdict with both sides."""
        return self.found.verdict

    @cached_property
    def told(self) -> ToldVerdict:
        """The verdict as plain values."""
        return ToldVerdict(told_numbers(verdict_json(self.verdict)))

    @property
    def paste(self) -> str:
        """The sentence that a person can paste."""
        return paste(self.verdict)

    @property
    def x(self) -> Metric:
        """The metric of the horizontal axis."""
        return METRICS[self.verdict.axes[0]]

    @property
    def y(self) -> Metric:
        """The metric of the vertical axis."""
        return METRICS[self.verdict.axes[1]]

    @cached_property
    def looks(self) -> tuple[theme.Look, theme.Look]:
        """How base and head are drawn."""
        base, head = (
            self._look(side, place)
            for place, side in enumerate((self.verdict.base, self.verdict.head))
        )
        return base_look(base, head), head

    def _look(self, side: Side | None, place: int) -> theme.Look:
        if side is None or side.publication != Run.Publication.OFFICIAL:
            return theme.unofficial_look(place)
        key = self.found.key
        return theme.look(
            hardware=key.hardware,
            framework=key.framework,
            precision=key.precision,
            is_speculative=bool(side.identity.spec_methods - {"none"}),
        )

    @cached_property
    def figure(self) -> Figure | str:
        """The chart, or why there is none."""
        base, head = (
            self._drawn(role, side, points, look)
            for role, side, points, look in zip(
                ("base", "head"),
                (self.verdict.base, self.verdict.head),
                (self.found.base_points, self.found.head_points),
                self.looks,
                strict=True,
            )
        )
        gap = paired_stretches(base.points, head.points, *self.verdict.axes)
        axes = Axes(*self.verdict.axes)
        return comparison_figure(base, head, gap, axes, is_judged=self.is_judged)

    @property
    def is_judged(self) -> bool:
        """Tell whether the points decide something: else no colour may."""
        return self.verdict.performance in _JUDGED

    @property
    def has_unpaired(self) -> bool:
        """Tell whether the curves rest on points that only one side measured."""
        sides = (self.found.base_points, self.found.head_points)
        return not all(points["is_paired"].all() for points in sides)

    @property
    def is_drawn(self) -> bool:
        """Tell whether there is a chart."""
        return not isinstance(self.figure, str)

    @property
    def figure_id(self) -> str:
        """The id of the chart's figure on the page."""
        return f"figure-{self.number}"

    @property
    def alone_id(self) -> str:
        """The id of the layout that the chart has away from the page."""
        return f"alone-{self.number}"

    def _drawn(
        self, role: str, side: Side | None, points: pd.DataFrame, look: theme.Look
    ) -> DrawnSide:
        labels = points["deployment"].map(self.verdict.labels)
        ids = [
            place_id(*place)
            for place in zip(points["deployment"], points["concurrency"], strict=True)
        ]
        named = points.assign(deployment=labels, place_id=ids)
        corners = step_curve(points, *self.verdict.axes)
        return DrawnSide(role, side.name if side else "", named, corners, look)

    @property
    def title(self) -> str:
        """What the chart shows, in one line."""
        of = f"{self.found.key.key}, {scenario_label(self.verdict.scenario)}"
        return f"{of}: {self.y.phrase} against {self.x.phrase}"

    @cached_property
    def rows(self) -> list[DeltaRow]:
        """The delta table, sorted as asked for."""
        return delta_rows(self.verdict, self.sort)

    @property
    def best(self) -> list[BestRow]:
        """The best throughput of both sides at fixed interactivities."""
        comparison = self.verdict.judged.comparison
        found = comparison.best_at if comparison else ()
        return [
            BestRow(b.x, b.base, b.head, _change(b.base, b.head), _alone(b))
            for b in found
        ]

    @cached_property
    def facts(self) -> list[Fact]:
        """What both sides served and were measured with."""
        base = self.verdict.base
        broken = {change["kind"] for change in self.verdict.breaks}
        before = _identity_texts(base.identity) if base else {}
        after = _identity_texts(self.verdict.head.identity)
        return [
            Fact(name.replace("_", " "), before.get(name, ""), text, name in broken)
            for name, text in after.items()
        ]

    @property
    def differing(self) -> list[Fact]:
        """Return what is not the same on both sides.

        A recipe covers image and checkpoint: beside these it is no change of its own.
        """
        is_own = any(change["kind"] == RECIPE for change in self.verdict.markers)
        return [
            fact
            for fact in self.facts
            if fact.base != fact.head and (is_own or fact.name != RECIPE)
        ]

    @property
    def alike(self) -> list[Fact]:
        """Return what is known and the same on both sides."""
        return [fact for fact in self.facts if fact.base == fact.head and fact.head]

    @property
    def notices(self) -> list[str]:
        """What staff put between the sides."""
        return [c["text"] for c in self.verdict.breaks if c["kind"] == NOTICE]

    @property
    def evals(self) -> list[EvalRow]:
        """The evals of both sides with the intervals of their scores."""
        return [EvalRow(p, _scores(p, "base"), _scores(p, "head")) for p in self._pairs]

    @property
    def _pairs(self) -> Sequence[EvalPair]:
        return self.found.evals

    def alone(self, request: HttpRequest) -> Figure:
        """Return the layout of the chart away from its page."""
        sides = [side for side in (self.verdict.base, self.verdict.head) if side]
        unofficial = [
            str(side.run_id)
            for side in sides
            if side.publication != Run.Publication.OFFICIAL
        ]
        lines = [
            self.paste,
            f"Source: Frontierboard, {request.build_absolute_uri()}",
        ]
        mark = f"unofficial run {', '.join(unofficial)}" if unofficial else ""
        return export_layout(Words(self.title, lines, mark), LINES, None)


def paste(verdict: SweepVerdict) -> str:
    """Return the verdict as one sentence that says of which run and key it is."""
    head = verdict.head
    attempt = "" if head.attempt is None else f", attempt {head.attempt}"
    scenario = scenario_label(verdict.scenario)
    of = f"run {head.run_id}{attempt}, {verdict.config_key} {scenario}"
    return f"{of}: {verdict.sentence}"


def place_id(deployment: int, concurrency: int) -> str:
    """Return how chart and table name a place."""
    return f"{deployment}-{concurrency}"


def delta_rows(verdict: SweepVerdict, sort: str) -> list[DeltaRow]:
    """Return each metric of each pair, what got worst first unless asked otherwise."""
    comparison = verdict.judged.comparison
    points = comparison.points if comparison else ()
    rows = [_delta(verdict, point) for point in points]
    order = {name: n for n, name in enumerate(dict.fromkeys(p.metric for p in points))}

    def place(row: DeltaRow) -> tuple[Any, ...]:
        return row.deployment, row.concurrency, order[row.metric.name]

    if sort == PLACE:
        return sorted(rows, key=place)
    if sort == METRIC:
        return sorted(rows, key=lambda row: (order[row.metric.name], *place(row)))
    return sorted(rows, key=lambda row: (_rank(row), _gain(row), *place(row)))


def _rank(row: DeltaRow) -> int:
    """Return 0 for what decides, then what is flagged beside it, then the rest."""
    return 0 if row.tone else 1 if row.word else 2


def _gain(row: DeltaRow) -> float:
    return 0.0 if row.point.gain is None else row.point.gain


def _delta(verdict: SweepVerdict, point: PointChange) -> DeltaRow:
    word = verdict.judged.flag(point)
    tone = flag_tone(word, is_flagged=point in verdict.judged.flagged)
    return DeltaRow(
        place_id(point.deployment, point.concurrency),
        verdict.labels[point.deployment],
        point.concurrency,
        METRICS[point.metric],
        point,
        word,
        tone,
    )


def _alone(best: BestAt) -> str:
    if best.base_only:
        return "the head has no point there"
    return "the base has no point there" if best.head_only else ""


def _change(base: float | None, head: float | None) -> float | None:
    return None if base is None or head is None or not base > 0 else head / base - 1


def _scores(pair: EvalPair, side: str) -> tuple[Score | None, Score | None]:
    judged = pair.base if side == "base" else pair.head
    if judged is None:
        return None, None
    result = judged.result
    return score(result.strict, result.n), score(result.flexible, result.n)


def _identity_texts(identity: SweepIdentity) -> dict[str, str]:
    """Return what a sweep served and was measured with, by the kind of a change."""
    length = identity.acceptance_length
    acceptance = identity.acceptance_source.replace("_", " ")
    return {
        "checkpoint": identity.checkpoint,
        "image": ", ".join(identity.images),
        "recipe": _joined(recipe[:8] for recipe in identity.recipes),
        "precision": identity.precision,
        "spec_method": _joined(identity.spec_methods),
        "acceptance": acceptance if length is None else f"{acceptance} {length:g}",
        "harness": identity.harness,
        "runner pool": _joined(identity.pools),
    }


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(sorted(texts))
