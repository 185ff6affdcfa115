"""Which measurements a list holds: one meaning of the filters for points and evals.

Official and unofficial measurements are never in one list, and hidden ones in none.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.db.models.query import QuerySet

from dashboard.models import ConfigKey, EvalResult, Point, Run, Sweep
from dashboard.queries.currency import sweeps_as_of
from dashboard.vocabulary.frameworks import canonical_framework, same_framework
from dashboard.vocabulary.models import model_group, models_of_group
from dashboard.vocabulary.scenarios import scenario_order

COUNTED = (Sweep.State.CURRENT, Sweep.State.FORMER)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFilters:
    """What a list is narrowed to; what is empty or None does not narrow.

    ``run_pk`` is the run that measured, with ``attempt`` one execution of it; without
    a run ``is_official`` says which record is meant. ``states`` are of sweeps,
    ``moment`` asks for what was current then. Days are of UTC and inclusive, and the
    official ones where there are some.
    """

    key: str = ""
    scenario: str = ""
    model: str = ""
    hardware: str = ""
    framework: str = ""
    precision: str = ""
    run_pk: int | None = None
    attempt: int | None = None
    is_official: bool = True
    states: tuple[str, ...] = ()
    moment: datetime | None = None
    since: date | None = None
    until: date | None = None

    @property
    def counted_states(self) -> tuple[str, ...]:
        """Return the states that count: of an official list, unless some are asked."""
        if self.run_pk is not None or not self.is_official:
            return ()
        return self.states or COUNTED


def points_meant(filters: MeasuredFilters) -> QuerySet[Point]:
    """Return the points of a list, in no order.

    Of a run as a whole the newest usable ones; of an attempt all that it measured.
    """
    found = Point.objects.filter(_named(filters, "sweep__"))
    if filters.attempt is None:
        found = found.filter(is_current=True)
    else:
        found = found.filter(attempt=filters.attempt)
    if filters.moment is not None:
        found = found.filter(sweep__in=sweeps_as_of(filters.moment).values("pk"))
    elif filters.counted_states:
        found = found.filter(sweep__state__in=filters.counted_states)
    if filters.since or filters.until:
        at = Coalesce("sweep__official_at", "sweep__measured_at")
        found = found.alias(at=at).filter(_days(filters))
    return found


def evals_meant(filters: MeasuredFilters) -> QuerySet[EvalResult]:
    """Return the scores of a list, in no order; attempts as those of points."""
    found = EvalResult.objects.filter(_named(filters, ""))
    if filters.attempt is None:
        found = found.filter(is_current=True)
    else:
        found = found.filter(attempt=filters.attempt)
    if filters.moment is not None:
        found = found.filter(Exists(_beside(sweeps_as_of(filters.moment))))
    elif filters.states:
        of_state = Sweep.objects.filter(state__in=filters.states)
        found = found.filter(Exists(_beside(of_state)))
    elif filters.counted_states:
        # An eval may have no sweep; only a held one keeps it out.
        held = Sweep.objects.filter(state=Sweep.State.HELD)
        found = found.exclude(Exists(_beside(held)))
    if filters.since or filters.until:
        at = Coalesce("run__published_at", "run__created_at")
        found = found.alias(at=at).filter(_days(filters))
    return found


def _beside(sweeps: QuerySet[Sweep]) -> QuerySet[Sweep]:
    """Return the sweeps of the same run, key and scenario as an eval."""
    return sweeps.filter(
        run=OuterRef("run"),
        config_key=OuterRef("config_key"),
        scenario=OuterRef("scenario"),
    )


def _named(filters: MeasuredFilters, prefix: str) -> Q:
    """Return the condition on run, key and scenario of a row."""
    if filters.run_pk is not None:
        condition = Q(**{f"{prefix}run": filters.run_pk})
    else:
        kind = "OFFICIAL" if filters.is_official else "UNOFFICIAL"
        condition = Q(**{f"{prefix}run__publication": Run.Publication[kind]})
    plain = {
        "config_key__key": filters.key,
        "scenario": filters.scenario,
        "config_key__hardware": filters.hardware,
        "config_key__precision": filters.precision,
    }
    for name, value in plain.items():
        if value:
            condition &= Q(**{f"{prefix}{name}": value})
    if filters.model:
        families = models_of_group(filters.model) or [filters.model]
        condition &= Q(**{f"{prefix}config_key__model__in": families})
    if filters.framework:
        names = same_framework(filters.framework)
        condition &= Q(**{f"{prefix}config_key__framework__in": names})
    return condition


def _days(filters: MeasuredFilters) -> Q:
    condition = Q()
    if filters.since is not None:
        condition &= Q(at__gte=datetime.combine(filters.since, time.min, UTC))
    if filters.until is not None:
        condition &= Q(at__lte=datetime.combine(filters.until, time.max, UTC))
    return condition


def shown_run(github_run_id: int) -> Run | None:
    """Return the run that measured what a run shows, None where none may be shown.

    A run that publishes another's measurements shows those.
    """
    shown = Run.objects.exclude(publication=Run.Publication.HIDDEN)
    run = shown.filter(github_run_id=github_run_id).first()
    if run is None or run.reuse_source_run_id is None:
        return run
    return shown.filter(github_run_id=run.reuse_source_run_id).first() or run


def is_key(text: str) -> bool:
    """Tell whether a text is a config key."""
    # Postgres refuses NUL in text; no key holds one.
    return "\0" not in text and ConfigKey.objects.filter(key=text).exists()


def stored_values(name: str) -> list[str]:
    """Return what stored keys say of a filter: model, hardware, precision, ..."""
    if name == "scenario":
        scenarios = Sweep.objects.values_list("scenario", flat=True).distinct()
        return sorted(set(scenarios), key=scenario_order)
    found = set(ConfigKey.objects.values_list(name, flat=True).distinct())
    if name == "model":
        found |= {model_group(model) for model in found}
    if name == "framework":
        found |= {canonical_framework(framework) for framework in found}
    return sorted(found - {""}, key=str.lower)
