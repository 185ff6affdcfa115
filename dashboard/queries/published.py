"""Points and evals as the official dashboard answers with them: which, and their texts.

Official runs count, whether published or measured from artifacts. A person's decision
(hide, hold, exclude) keeps rows back; a doubt keeps measured rows back and never
published ones, which are given back as they were published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from django.db.models import (
    Exists,
    OuterRef,
    Q,
    Value,
    Window,
)
from django.db.models.functions import DenseRank
from django.db.models.query import QuerySet

from dashboard.models import (
    EvalResult,
    Point,
    RawRecord,
    Run,
    Skip,
)
from dashboard.queries.published_evals import measured_evals
from dashboard.queries.published_points import (
    Texts,
    history_texts,
    newest_texts,
    official_sweeps,
)
from dashboard.queries.published_shapes import (
    eval_text,
    history_text,
    newest_text,
    unofficial_text,
)
from dashboard.vocabulary import provenance

AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Moment:
    """Which runs count: all, those up to a day, those of exactly that day, or one."""

    day: date | None = None
    exact: bool = False
    run_id: int | None = None

    @property
    def is_now(self) -> bool:
        """Tell whether nothing narrows it."""
        return self.day is None and self.run_id is None


def newest_rows(models: Sequence[str], moment: Moment) -> Iterator[str]:
    """Yield the newest row of each configuration, lengths and concurrency.

    Of what only the published history holds nothing is newest: the official dashboard
    did not list it among its newest rows, and the history says less of it.
    """
    without = _of_history_alone(models) if moment.is_now else frozenset[int]()
    sweeps = official_sweeps(models, _in(moment))
    yield from newest_texts(sweeps, _published_texts(newest_text()), without=without)


def _of_history_alone(models: Sequence[str]) -> frozenset[int]:
    """Return ids of points that only the published history tells of."""
    told = Point.objects.filter(
        raw_record__artifact__name=provenance.HISTORY,
        sweep__config_key__model__in=models,
    )
    return frozenset(told.values_list("pk", flat=True))


def history_rows(models: Sequence[str], scenario: str | None) -> Iterator[str]:
    """Yield every row, oldest first, of one pair of lengths or of all."""
    narrowed = Q() if scenario is None else Q(scenario=scenario)
    sweeps = official_sweeps(models, narrowed)
    yield from history_texts(sweeps, _published_texts(history_text()))


def _published_texts(text: Any) -> Texts:
    """Return what gives the texts of published points by their ids."""

    def texts(ids: Sequence[int]) -> dict[int, str]:
        rows = Point.objects.filter(pk__in=ids).annotate(text=text)
        return dict(rows.values_list("pk", "text"))

    return texts


def run_rows(run: Run) -> Iterator[str]:
    """Yield what a run measured, official or not."""
    points = Point.objects.filter(sweep__run=run, is_current=True).order_by("pk")
    yield from _texts(list(points.values_list("pk", flat=True)), unofficial_text())


def run_evals(run: Run) -> Iterator[str]:
    """Yield how a run scored; ids of configurations count from 1."""
    config_id = Window(DenseRank(), order_by=["config_key", "deployment"])
    found = EvalResult.objects.filter(run=run, is_current=True).order_by("pk")
    text = eval_text(eval_id=Value(-1), config_id=config_id, full=False)
    yield from found.annotate(text=text).values_list("text", flat=True).iterator()


def eval_rows() -> Iterator[str]:
    """Yield every official eval: published ones as they were, then measured ones."""
    yield from _published_evals().values_list("body", flat=True).iterator()
    yield from measured_evals()


def asked_run(run_id: int) -> Run | None:
    """Return a stored run that nobody hid."""
    found = Run.objects.filter(github_run_id=run_id)
    return found.exclude(publication=Run.Publication.HIDDEN).first()


def measuring_run(run: Run) -> Run:
    """Return the run whose measurements a run publishes, else the run itself."""
    if run.reuse_source_run_id is None:
        return run
    return asked_run(run.reuse_source_run_id) or run


def _published_evals() -> QuerySet[RawRecord]:
    """Return the records that no artifact's result took the place of.

    Two of them may be of one eval: the one that does not count is listed as skipped.
    """
    counted = EvalResult.objects.filter(raw_record=OuterRef("pk"), is_current=True)
    repeated = Skip.objects.filter(
        artifact=OuterRef("artifact"),
        member=OuterRef("member"),
        index=OuterRef("index"),
        reason="superseded_eval",
    )
    return RawRecord.objects.filter(
        Exists(counted) | Exists(repeated),
        artifact__name=provenance.EVALUATIONS,
        artifact__run__publication=Run.Publication.OFFICIAL,
    ).order_by("artifact__run__created_at", "pk")


def _in(moment: Moment) -> Q:
    asked = Q()
    if moment.day is not None:
        asked &= Q(at__lte=datetime.combine(moment.day, time.max, tzinfo=UTC))
        if moment.exact:
            asked &= Q(at__gte=datetime.combine(moment.day, time.min, tzinfo=UTC))
    if moment.run_id is not None:
        asked &= Q(run__github_run_id=moment.run_id) | Q(
            run__published_by__github_run_id=moment.run_id
        )
    return asked


def _texts(ids: Sequence[int], text: Any) -> Iterator[str]:
    """Yield the texts of points in the order of their ids, a few hundred at a time.

    The ids come first because sorting the texts would delay the first of them until
    the last one is made.
    """
    for start in range(0, len(ids), AT_ONCE):
        chunk = ids[start : start + AT_ONCE]
        rows = Point.objects.filter(pk__in=chunk).annotate(text=text)
        texts = dict(rows.values_list("pk", "text"))
        yield from (texts[pk] for pk in chunk if pk in texts)
