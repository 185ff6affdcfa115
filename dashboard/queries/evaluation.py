"""Eval scores as the evaluation page lists them: official ones, and those of runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce
from django.db.models.query import QuerySet

from dashboard.models import EvalResult, EvalSample, Run, Sweep
from dashboard.queries.run_parts import JudgedEval, judged
from dashboard.vocabulary.frameworks import canonical_framework, same_framework
from dashboard.vocabulary.hardware import hardware_order
from dashboard.vocabulary.models import model_group, models_of_group


@dataclass(frozen=True, slots=True)
class EvalFilters:
    """What the list is narrowed to; what is empty or None does not narrow."""

    model: str = ""
    task: str = ""
    moment: datetime | None = None
    hardware: str = ""
    framework: str = ""
    key: str = ""

    @property
    def day(self) -> date | None:
        """Return the day as of which scores are shown, None for today."""
        return None if self.moment is None else self.moment.date()


class Offered(NamedTuple):
    """What there is to choose from: everything that has a score."""

    model: list[str]
    task: list[str]
    hardware: list[str]
    framework: list[str]
    key: list[str]


def offered(asked: Iterable[int] = ()) -> Offered:
    """Return what the scores are of, in one query.

    Those of official runs, and of the runs asked for and what these publish.
    """
    ids = list(asked)
    sources = Run.objects.filter(github_run_id__in=ids).values("reuse_source_run_id")
    of_link = Q(run__github_run_id__in=ids) | Q(run__github_run_id__in=sources)
    shown = EvalResult.objects.filter(
        Q(run__publication=Run.Publication.OFFICIAL)
        | of_link & ~Q(run__publication=Run.Publication.HIDDEN)
    )
    names = ("model", "hardware", "framework", "key")
    fields = ("task", *(f"config_key__{name}" for name in names))
    rows = list(shown.values_list(*fields).distinct())
    tasks, models, hardware, frameworks, keys = map(
        set, zip(*rows, strict=True) if rows else [()] * len(fields)
    )
    return Offered(
        sorted({model_group(model) for model in models}, key=str.lower),
        sorted(tasks),
        sorted(hardware - {""}, key=hardware_order),
        sorted({canonical_framework(name) for name in frameworks} - {""}),
        sorted(keys),
    )


def official_evals(filters: EvalFilters) -> list[JudgedEval]:
    """Return of each place and task the score of the newest official run.

    A place is a config key, scenario, deployment and concurrency. With a moment those
    that were official by then. Scores of held sweeps do not count.
    """
    held = Sweep.objects.filter(
        run=OuterRef("run"),
        config_key=OuterRef("config_key"),
        scenario=OuterRef("scenario"),
        state=Sweep.State.HELD,
    )
    found = _narrowed(filters).filter(
        ~Exists(held), run__publication=Run.Publication.OFFICIAL, is_current=True
    )
    found = found.annotate(day=Coalesce("run__published_at", "run__created_at"))
    if filters.moment is not None:
        found = found.filter(day__lte=filters.moment)
    place = ("config_key", "scenario", "deployment", "concurrency", "task")
    newest = found.order_by(*place, "-day", "-run__github_run_id").distinct(*place)
    return _listed(EvalResult.objects.filter(pk__in=newest.values("pk")))


def evals_of(
    asked: Iterable[tuple[int, int | None]], filters: EvalFilters
) -> dict[tuple[int, int | None], list[JudgedEval]]:
    """Return the scores of each run, as a whole or of one attempt, in one query.

    A run that publishes another one's measurements has those. Hidden runs have none.
    """
    wanted = list(asked)
    ids = [run_id for run_id, _ in wanted]
    runs = Run.objects.filter(github_run_id__in=ids).values_list(
        "github_run_id", "reuse_source_run_id"
    )
    measured_in = {run_id: source or run_id for run_id, source in runs}
    shown = ~Q(run__publication=Run.Publication.HIDDEN)
    found = _narrowed(filters).filter(
        shown, run__github_run_id__in=measured_in.values()
    )
    rows = _listed(found)
    return {
        (run_id, attempt): [
            row
            for row in rows
            if row.result.run.github_run_id == measured_in.get(run_id)
            and _counts(row.result, attempt)
        ]
        for run_id, attempt in wanted
    }


def _counts(result: EvalResult, attempt: int | None) -> bool:
    return result.is_current if attempt is None else result.attempt == attempt


def _narrowed(filters: EvalFilters) -> QuerySet[EvalResult]:
    found = EvalResult.objects.all()
    if filters.model:
        names = models_of_group(filters.model) or [filters.model]
        found = found.filter(config_key__model__in=names)
    if filters.framework:
        found = found.filter(
            config_key__framework__in=same_framework(filters.framework)
        )
    exact = {
        "task": filters.task,
        "config_key__hardware": filters.hardware,
        "config_key__key": filters.key,
    }
    return found.filter(**{name: value for name, value in exact.items() if value})


_SAMPLES = EvalSample.objects.filter(eval=OuterRef("pk"))


def _listed(found: QuerySet[EvalResult]) -> list[JudgedEval]:
    related = found.select_related("config_key", "deployment", "run__repository")
    related = related.annotate(has_samples=Exists(_SAMPLES))
    ordered = related.order_by(
        "config_key__key",
        "scenario",
        "deployment__label",
        F("concurrency").asc(nulls_last=True),
        "task",
        "attempt",
        "pk",
    )
    return judged(ordered)
