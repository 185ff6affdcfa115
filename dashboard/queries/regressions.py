"""The list of regressions and of improvements, narrowed; how many wait for somebody."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    TextField,
    Value,
    When,
)
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from dashboard.analysis.siblings import CommonMovement, Movement, common_movements
from dashboard.models import ConfigKey, Judgement, Regression, Run, Sweep
from dashboard.vocabulary.inputs import NOBODY

State = Regression.State

# What the page lists first: what nobody looked at, then what somebody is at.
_RANK = Case(
    When(state=State.UNTRIAGED, then=Value(0)),
    When(state__in=[State.ACKNOWLEDGED, State.INVESTIGATING], then=Value(1)),
    default=Value(2),
    output_field=IntegerField(),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionFilters:
    """What the list is narrowed to; what is empty or None does not narrow.

    ``key`` is a whole key, else a part of some. ``models`` are families. ``owner`` is
    a user's name, or ``nobody``. ``is_active`` is true for what the data still shows.
    """

    states: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    key: str = ""
    models: tuple[str, ...] = ()
    hardware: str = ""
    framework: str = ""
    owner: str = ""
    recovered: bool | None = None
    is_active: bool | None = True
    run_id: int | None = None


class Offered(NamedTuple):
    """What can be filtered for: what some regression or judgement is about."""

    models: list[str]
    hardware: list[str]
    frameworks: list[str]
    owners: list[str]


def offered() -> Offered:
    """Return the models, hardware, frameworks and owners that are stored."""
    keys = list(ConfigKey.objects.values_list("model", "hardware", "framework"))
    owned = Regression.objects.filter(owner__isnull=False)
    names = owned.values_list("owner__username", flat=True).distinct()
    return Offered(
        sorted({model for model, _, _ in keys} - {""}),
        sorted({hardware for _, hardware, _ in keys} - {""}),
        sorted({framework for _, _, framework in keys} - {""}),
        sorted(names),
    )


_OF_SWEEPS = (
    *("images", "fingerprints", "spec_methods", "planned", "pools", "grid"),
    *("mapping_candidates", "mapping_flags", "breaks", "markers"),
)
_OF_RUNS = ("snapshot", "recipes", "eval_plan")
# What is long and no list shows.
_UNLISTED = (
    *("numbers", "checks"),
    *(f"{side}__{name}" for side in ("sweep", "baseline") for name in _OF_SWEEPS),
    *(
        f"{run}__{name}"
        for run in ("run", "baseline__run", "recovered_by", "first_bad")
        for name in _OF_RUNS
    ),
)


def listed(filters: RegressionFilters) -> QuerySet[Regression]:
    """Return regressions: untriaged first, then those at work, then the rest.

    Within each what has not recovered first, newest run first, siblings together.
    Each has ``rank``, ``is_over`` and ``since``, the official date of its run.
    """
    found = _narrowed(filters).annotate(
        rank=_RANK, is_over=_IS_OVER, since=_official("run__")
    )
    related = found.select_related(
        *("run__repository", "config_key", "owner", "sweep", "baseline__run"),
        *("recovered_by", "first_bad"),
    )
    return related.defer(*_UNLISTED).order_by(
        *("rank", "is_over", "-since", "-run_id"),
        *("config_key__framework", "config_key__hardware"),
        *("config_key__key", "scenario", "kind", "pk"),
    )


_IS_OVER = Case(
    When(recovered_by__isnull=False, then=Value(1)),
    default=Value(0),
    output_field=IntegerField(),
)


def _official(run: str) -> Coalesce:
    return Coalesce(f"{run}published_at", f"{run}created_at")


def _narrowed(filters: RegressionFilters) -> QuerySet[Regression]:
    found = Regression.objects.filter(_of_key(filters, "config_key__"), SHOWN)
    if filters.states:
        found = found.filter(state__in=filters.states)
    if filters.kinds:
        found = found.filter(kind__in=filters.kinds)
    if filters.owner == NOBODY:
        found = found.filter(owner__isnull=True)
    elif filters.owner:
        found = found.filter(owner__username=filters.owner)
    if filters.recovered is not None:
        found = found.filter(recovered_by__isnull=not filters.recovered)
    if filters.is_active is not None:
        found = found.filter(is_active=filters.is_active)
    if filters.run_id is not None:
        found = found.filter(run__github_run_id=filters.run_id)
    return found


SHOWN = ~Q(run__publication=Run.Publication.HIDDEN)


def _of_key(filters: RegressionFilters, key: str) -> Q:
    wanted = Q()
    if filters.key:
        is_whole = ConfigKey.objects.filter(key=filters.key).exists()
        wanted &= Q(
            **{f"{key}key": filters.key}
            if is_whole
            else {f"{key}key__icontains": filters.key}
        )
    if filters.models:
        wanted &= Q(**{f"{key}model__in": filters.models})
    if filters.hardware:
        wanted &= Q(**{f"{key}hardware": filters.hardware})
    if filters.framework:
        wanted &= Q(**{f"{key}framework": filters.framework})
    return wanted


def improvements(filters: RegressionFilters) -> QuerySet[Judgement]:
    """Return the verdicts "improvement" on official sweeps, newest first.

    Neither what is held, since it is not in the record, nor what ended a regression:
    a fall and its return are no gain. Only the filters of keys and runs narrow them;
    each has ``since``.
    """
    recoveries = Regression.objects.filter(
        SHOWN,
        recovered_by=OuterRef("sweep__run"),
        config_key=OuterRef("sweep__config_key"),
        scenario=OuterRef("sweep__scenario"),
        kind=Regression.Kind.PERFORMANCE,
        is_active=True,
    )
    found = Judgement.objects.filter(
        _of_key(filters, "sweep__config_key__"),
        ~Q(sweep__run__publication=Run.Publication.HIDDEN),
        ~Exists(recoveries),
        verdict=Judgement.Verdict.IMPROVEMENT,
        sweep__state__in=[Sweep.State.CURRENT, Sweep.State.FORMER],
    )
    if filters.run_id is not None:
        found = found.filter(sweep__run__github_run_id=filters.run_id)
    related = found.select_related("sweep__run", "sweep__config_key", "baseline__run")
    lean = related.defer("numbers", "sweep__planned", "baseline__planned")
    dated = lean.annotate(since=F("sweep__official_at"))
    return dated.order_by("-since", "sweep__config_key__key", "pk")


class Counts(NamedTuple):
    """How many regressions wait; ``open`` includes those that nobody looked at.

    ``unseen_over`` recovered before anybody had looked at them.
    """

    untriaged: int
    open: int
    unseen_over: int


def counts() -> Counts:
    """Return how many active regressions wait for somebody, in one query."""
    is_open = Q(state__in=Regression.OPEN, recovered_by__isnull=True)
    untriaged = Q(state=State.UNTRIAGED)
    found = Regression.objects.filter(SHOWN, is_active=True).aggregate(
        untriaged=Count("pk", filter=untriaged & is_open),
        open=Count("pk", filter=is_open),
        unseen_over=Count("pk", filter=untriaged & Q(recovered_by__isnull=False)),
    )
    return Counts(**found)


def newest(limit: int, filters: RegressionFilters | None = None) -> list[Regression]:
    """Return the newest regressions, whatever their state; active ones by default."""
    newest_first = (_official("run__").desc(), "-run_id", "config_key__key", "pk")
    found = listed(filters or RegressionFilters())
    return list(found.order_by(*newest_first)[:limit])


def of_run(run: Run) -> list[Regression]:
    """Return what got worse with a run, or with the one whose measurements it has."""
    measured = run.reuse_source_run_id or run.github_run_id
    found = Regression.objects.filter(run__github_run_id=measured, is_active=True)
    related = found.select_related("config_key", "recovered_by", "owner")
    ordered = related.order_by("config_key__key", "scenario", "kind")
    return list(ordered.defer("numbers"))


def movements(run_ids: Iterable[int]) -> dict[int, list[Movement]]:
    """Return how each judged sweep of these runs moved, by the run's row id.

    As its points say: evals that fail do not hide that it moved with its siblings.
    """
    said = Coalesce(KT("numbers__performance"), "verdict", output_field=TextField())
    rows = Judgement.objects.filter(sweep__run_id__in=set(run_ids)).values_list(
        "sweep__run_id",
        *("sweep__config_key__key", "sweep__scenario"),
        *("sweep__config_key__framework", "sweep__config_key__hardware"),
        *(said, "change"),
    )
    found: dict[int, list[Movement]] = {}
    for run_id, *values in rows.order_by("sweep__config_key__key", "sweep__scenario"):
        found.setdefault(run_id, []).append(Movement._make(values))
    return found


@dataclass(frozen=True, slots=True)
class Group:
    """Regressions of one run that follow each other in the list.

    ``common`` says what all its keys share where they moved alike, else it is None.
    """

    run: Run
    rank: int
    since: datetime
    common: CommonMovement | None
    rows: list[Regression]


def grouped(rows: Iterable[Regression]) -> list[Group]:
    """Group the rows of :func:`listed` by run, and within it by sibling movement."""
    rows = list(rows)
    common = {
        run_id: common_movements(found)
        for run_id, found in movements(row.run_id for row in rows).items()
    }
    groups: dict[tuple[int, int, int, int], Group] = {}
    for row in rows:
        number, shared = _shared(row, common.get(row.run_id, []))
        rank, is_over = row.rank, row.is_over  # type: ignore[attr-defined]  # annotated
        since: datetime = row.since  # type: ignore[attr-defined]  # annotated
        group = groups.setdefault(
            (rank, is_over, row.run_id, number), Group(row.run, rank, since, shared, [])
        )
        group.rows.append(row)
    return list(groups.values())


def _shared(
    row: Regression, common: Sequence[CommonMovement]
) -> tuple[int, CommonMovement | None]:
    place = (row.config_key.key, row.scenario)
    for number, shared in enumerate(common):
        if row.kind == Regression.Kind.PERFORMANCE and any(
            one.place == place for one in shared.movements
        ):
            return number, shared
    return len(common), None
