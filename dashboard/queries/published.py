"""Points and evals as the official dashboard answers with them: which, and their texts.

Official runs count, whether published or measured from artifacts. A person's decision
(hide, hold, exclude) keeps rows back; a doubt keeps measured rows back and never
published ones, which are given back as they were published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import (
    BigIntegerField,
    Exists,
    OuterRef,
    Q,
    TextField,
    Value,
    Window,
)
from django.db.models.functions import Cast, Concat, DenseRank
from django.db.models.query import QuerySet

from dashboard.models import (
    Correction,
    EvalResult,
    Point,
    RawRecord,
    Run,
    Skip,
)
from dashboard.queries.published_shapes import (
    eval_text,
    history_text,
    newest_text,
    official_at,
    unofficial_text,
)
from dashboard.vocabulary import provenance
from dashboard.vocabulary.frameworks import canonical_framework

AT_ONCE = 500
IDENTITY = (
    *("sweep__config_key__framework", "sweep__config_key__model"),
    *("sweep__config_key__hardware", "sweep__config_key__precision"),
    *("sweep__scenario", "deployment", "concurrency"),
)
# By numbers where there are some: sorting names takes three times as long.
PLACE = ("sweep__config_key_id", "sweep__scenario", "deployment_id", "concurrency")
AGE = ("at", "sweep__run__github_run_id", "attempt", "pk")


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
    points = _official(models).filter(_in(moment))
    if moment.is_now:
        points = points.exclude(raw_record__artifact__name=provenance.HISTORY)
    newest_first = [f"-{name}" for name in AGE]
    found = points.order_by(*PLACE, *newest_first).distinct(*PLACE)
    yield from _texts(_newest_ids(found), newest_text())


def _newest_ids(points: QuerySet[Point]) -> list[int]:
    """Return one point per identity: keys may share one, a framework have two names."""
    newest: dict[tuple[object, ...], tuple[Any, ...]] = {}
    for framework, *rest in points.values_list(*IDENTITY, *AGE):
        place = (canonical_framework(framework), *rest[: -len(AGE)])
        age = tuple(rest[-len(AGE) :])
        newest[place] = max(age, newest.get(place, age))
    return [pk for *_, pk in newest.values()]


def history_rows(models: Sequence[str], scenario: str | None) -> Iterator[str]:
    """Yield every row, oldest first, of one pair of lengths or of all."""
    points = _official(models)
    if scenario is not None:
        points = points.filter(sweep__scenario=scenario)
    ordered = points.order_by("at", "sweep__run__github_run_id", "pk")
    yield from _texts(list(ordered.values_list("pk", flat=True)), history_text())


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
    """Yield every official eval: published ones as they were, then measured ones.

    Ids of measured ones are below zero: the official dashboard never gave them any.
    """
    yield from _published_evals().values_list("body", flat=True).iterator()
    config_id = Window(DenseRank(), order_by=["config_key", "deployment"])
    eval_id = Concat(Value("-"), Cast("pk", TextField()), output_field=TextField())
    text = eval_text(
        eval_id=eval_id,
        config_id=Value(0, BigIntegerField()) - config_id,
        full=True,
    )
    measured = EvalResult.objects.filter(
        ~Q(raw_record__artifact__kind=provenance.PUBLISHED)
        | Q(raw_record__isnull=True),
        is_current=True,
        run__publication=Run.Publication.OFFICIAL,
    )
    rows = measured.order_by("run__created_at", "pk").annotate(text=text)
    yield from rows.values_list("text", flat=True).iterator()


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


def _official(models: Sequence[str]) -> Any:
    is_published = Q(facts__provenance=provenance.PUBLISHED)
    points = Point.objects.filter(
        Q(is_out=False) | is_published,
        is_current=True,
        sweep__run__publication=Run.Publication.OFFICIAL,
        sweep__config_key__model__in=models,
    )
    return points.exclude(Exists(_holds())).annotate(at=official_at("sweep__run"))


def _holds() -> QuerySet[Correction]:
    """Return the active holds of a point's sweep."""
    return Correction.objects.filter(
        Q(config_key__isnull=True) | Q(config_key=OuterRef("sweep__config_key")),
        Q(scenario="") | Q(scenario=OuterRef("sweep__scenario")),
        run=OuterRef("sweep__run"),
        action=Correction.Action.HOLD,
        undone_at__isnull=True,
    )


def _in(moment: Moment) -> Q:
    asked = Q()
    if moment.day is not None:
        begin = datetime.combine(moment.day, time.min, tzinfo=UTC)
        asked &= Q(at__lt=begin + timedelta(days=1))
        if moment.exact:
            asked &= Q(at__gte=begin)
    if moment.run_id is not None:
        asked &= Q(sweep__run__github_run_id=moment.run_id) | Q(
            sweep__run__published_by__github_run_id=moment.run_id
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
