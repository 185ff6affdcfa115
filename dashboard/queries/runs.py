"""The run list: which runs there are, narrowed and sorted by what was asked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import NamedTuple

from django.db.models import (
    BooleanField,
    Exists,
    Expression,
    ExpressionWrapper,
    F,
    IntegerField,
    OuterRef,
    Q,
)
from django.db.models.expressions import OrderBy
from django.db.models.query import QuerySet

from dashboard.models import ConfigKey, EvalResult, Point, Run, Sweep
from dashboard.queries.search import number_in, text_matches

HELD = "held"
INCOMPLETE, SKIPS, FLAGS = "incomplete", "skips", "flags"
NEWEST = "-made"

_SORTS: Mapping[str, Expression | F] = {
    "run": F("github_run_id"),
    "title": F("title"),
    "conclusion": F("conclusion"),
    "publication": F("publication"),
    "points": F("received_count"),
    "missing": ExpressionWrapper(
        F("planned_count") - F("received_count"), output_field=IntegerField()
    ),
    "evals": F("eval_count"),
    "skips": F("skip_count"),
    "branch": F("branch"),
    "made": F("created_at"),
}
SORTS = tuple(_SORTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilters:
    """What a run list is narrowed to; what is empty or None does not narrow.

    ``publication`` is official, unofficial, hidden or held. ``has`` names what a run
    must have: held, incomplete, skips, flags. Dates are of UTC and inclusive. ``sort``
    is one of ``SORTS``, with a minus for the reverse.
    """

    publication: str = ""
    conclusion: str = ""
    event: str = ""
    models: tuple[str, ...] = ()
    hardware: str = ""
    key: str = ""
    has: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    text: str = ""
    sort: str = NEWEST


class Offered(NamedTuple):
    """The values that stored runs have, for the choices of a form."""

    events: list[str]
    conclusions: list[str]
    models: list[str]
    hardware: list[str]
    keys: list[str]


def offered() -> Offered:
    """Return the values to choose from, in two queries."""
    said = Run.objects.values_list("event", "conclusion").distinct()
    events, conclusions = zip(*said, strict=True) if said else ((), ())
    named = ConfigKey.objects.values_list("model", "hardware", "key")
    models, hardware, keys = zip(*named, strict=True) if named else ((), (), ())
    distinct = (
        sorted(filter(None, set(values)))
        for values in (events, conclusions, models, hardware, keys)
    )
    return Offered(*distinct)


def listed_runs(filters: RunFilters | None = None) -> QuerySet[Run]:
    """Return runs, newest first unless asked otherwise, each with ``has_held_sweep``.

    A text is looked for by its words in title and branch, and compared with run id,
    pull request (``501`` or ``#501``) and the start of the commit.
    """
    asked = filters or RunFilters()
    runs = Run.objects.select_related("repository", "published_by").annotate(
        has_held_sweep=ExpressionWrapper(_HELD, output_field=BooleanField())
    )
    runs = runs.filter(
        _plain(asked), _published(asked.publication), _measured(asked), _text(asked)
    )
    for name in asked.has:
        runs = runs.filter(_HAS[name])
    return runs.order_by(_order(asked.sort), "-created_at", "-pk")


_HELD = Exists(Sweep.objects.filter(run=OuterRef("pk"), state=Sweep.State.HELD))
_DOUBTED = Point.objects.filter(sweep__run=OuterRef("pk"), is_current=True)
_HAS: Mapping[str, Q] = {
    HELD: Q(has_held_sweep=True),
    INCOMPLETE: Q(received_count__lt=F("planned_count")),
    SKIPS: Q(skip_count__gt=0),
    FLAGS: Q(Exists(_DOUBTED.exclude(flags=[]))),
}


def _order(sort: str) -> OrderBy:
    # What is not known comes last either way.
    return OrderBy(
        _SORTS[sort.removeprefix("-")],
        descending=sort.startswith("-"),
        nulls_last=True,
    )


def _plain(asked: RunFilters) -> Q:
    condition = Q()
    if asked.conclusion:
        condition &= Q(conclusion=asked.conclusion)
    if asked.event:
        condition &= Q(event=asked.event)
    if asked.since is not None:
        condition &= Q(created_at__gte=datetime.combine(asked.since, time.min, UTC))
    if asked.until is not None:
        condition &= Q(created_at__lte=datetime.combine(asked.until, time.max, UTC))
    return condition


def _published(publication: str) -> Q:
    if publication == HELD:
        return Q(has_held_sweep=True) & ~Q(publication=Run.Publication.HIDDEN)
    return Q(publication=publication) if publication else Q()


def _measured(asked: RunFilters) -> Q:
    """Return the condition of runs with a sweep or an eval of the keys meant."""
    wanted: dict[str, object] = {}
    if asked.models:
        wanted["config_key__model__in"] = asked.models
    if asked.hardware:
        wanted["config_key__hardware"] = asked.hardware
    if asked.key:
        wanted["config_key__key"] = asked.key
    if not wanted:
        return Q()
    sweeps = Sweep.objects.filter(run=OuterRef("pk"), **wanted)
    evals = EvalResult.objects.filter(run=OuterRef("pk"), **wanted)
    return Q(Exists(sweeps)) | Q(Exists(evals))


def _text(asked: RunFilters) -> Q:
    words = asked.text.split()
    return text_matches(words, number_in(asked.text)) if words else Q()


def publication(run: Run, *, has_held_sweep: bool) -> str:
    """Return what a run counts as: held when any of its sweeps is held.

    A hidden run stays hidden: that a person hid it says more.
    """
    if has_held_sweep and run.publication != Run.Publication.HIDDEN:
        return HELD
    return str(run.publication)


def with_publication(runs: Iterable[Run]) -> list[tuple[Run, str]]:
    """Return listed runs, each with what it counts as."""
    return [
        (run, publication(run, has_held_sweep=getattr(run, "has_held_sweep", False)))
        for run in runs
    ]


def stored_run(github_run_id: int) -> Run | None:
    """Return a run by its forge id, None where it is not stored."""
    return Run.objects.filter(github_run_id=github_run_id).first()
