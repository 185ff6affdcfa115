"""One point in full: what it is, its evals, and the same place before and after."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from django.db.models import Q

from dashboard.analysis.derived import with_derived
from dashboard.analysis.eval_places import EvalPlace, join_text, points_of_evals
from dashboard.analysis.request_errors import (
    RequestErrors,
    RequestGate,
    error_categories,
    request_errors,
    request_gate,
)
from dashboard.models import EvalResult, Point, Run, Sweep
from dashboard.queries.point_traces import PointRequests, point_requests
from dashboard.queries.prices import prices_at
from dashboard.queries.run_parts import JudgedEval, judged
from dashboard.vocabulary.deployments import Deployment
from dashboard.vocabulary.flags import flag_title, is_out
from dashboard.vocabulary.metrics import DERIVED, METRICS, inputs
from dashboard.vocabulary.provenance import ARTIFACTS
from dashboard.vocabulary.scenarios import AGENTIC

MOST_NEIGHBOURS = 200
_RELATED = (
    *("sweep__run__repository", "sweep__run__published_by", "sweep__config_key"),
    *("sweep__checkpoint", "deployment", "raw_record__artifact"),
)


class Flag(NamedTuple):
    """A doubt about the point; one that ``is_out`` keeps it off the frontier."""

    code: str
    title: str
    text: str
    is_out: bool


class Derived(NamedTuple):
    """A metric made of others: its value, None where it cannot be made, and of what."""

    value: float | None
    terms: str


class PointEval(NamedTuple):
    """A score of the deployment; ``join`` says where it names another one."""

    judged: JudgedEval
    join: str


class Neighbour(NamedTuple):
    """The same place in another sweep, or in this one. Metrics are None if missing."""

    point_id: int
    run_id: int
    at: datetime
    state: str | None
    segment: int | None
    is_swap: bool
    checkpoint: str | None
    image: str
    attempt: int
    tput_per_gpu: float | None
    median_intvty: float | None
    p90_intvty: float | None
    is_out: bool


_NEIGHBOUR = (
    *("pk", "sweep__run__github_run_id", "sweep__official_at", "sweep__state"),
    *("sweep__segment", "sweep__is_swap", "sweep__checkpoint__name", "image"),
    *("attempt", "tput_per_gpu", "median_intvty", "p90_intvty", "is_out"),
)


@dataclass(frozen=True)
class PointReport:
    """A stored point; each part is read once, in a query that knows no run's size."""

    point: Point

    @property
    def sweep(self) -> Sweep:
        """The sweep that it is of."""
        return self.point.sweep

    @property
    def run(self) -> Run:
        """The run that measured it."""
        return self.sweep.run

    @property
    def is_agentic(self) -> bool:
        """Whether traces were replayed."""
        return self.sweep.scenario == AGENTIC

    @property
    def is_speculative(self) -> bool:
        """Whether it decoded speculatively, so that an acceptance length matters."""
        return self.point.deployment.spec_method != "none"

    @property
    def acceptance_label(self) -> str:
        """Where its acceptance length comes from, empty without one."""
        return self.sweep.acceptance_label if self.is_speculative else ""

    @property
    def is_configured(self) -> bool:
        """Whether that length was set, so that nothing of it was measured."""
        return self.is_speculative and self.sweep.is_configured

    @property
    def standing(self) -> str:
        """Whether it counts: current, superseded, or taken out by a person."""
        if self.point.is_excluded:
            return "excluded"
        return "current" if self.point.is_current else "superseded"

    @property
    def provenance(self) -> str:
        """Where its record comes from: an artifact, or what was published."""
        return str(self.point.facts.get("provenance", ARTIFACTS))

    @property
    def topology(self) -> dict[str, object]:
        """The parts of the deployment that are known, by their column."""
        deployment = self.point.deployment
        parts = {name: getattr(deployment, name) for name in Deployment._fields}
        return {name: value for name, value in parts.items() if value not in (None, "")}

    @property
    def flags(self) -> list[Flag]:
        """Every doubt about it."""
        return [
            Flag(code, flag_title(code), text, is_out(code))
            for code, text in self.point.flags
        ]

    @property
    def accounting(self) -> Mapping[str, object]:
        """How the records of its requests were kept, empty where it does not say."""
        found = self.point.facts.get("request_accounting")
        return found if isinstance(found, dict) else {}

    @property
    def errors(self) -> RequestErrors:
        """The requests that failed, and their share."""
        return request_errors(self.accounting or None)

    @property
    def error_categories(self) -> dict[str, int]:
        """How many failed of each kind."""
        return error_categories(self.accounting)

    @property
    def gate(self) -> RequestGate:
        """Whether too many requests failed for it to be believed."""
        return request_gate(self.accounting or None)

    @cached_property
    def evals(self) -> list[PointEval]:
        """The current scores of its deployment, at every concurrency."""
        return _evals(self.point)

    @cached_property
    def neighbours(self) -> list[Neighbour]:
        """The newest official points of the same place, this one among them."""
        return _neighbours(self.point)

    @cached_property
    def requests(self) -> PointRequests:
        """How far its single requests are known."""
        return point_requests(self.point)

    @cached_property
    def derived(self) -> dict[str, Derived]:
        """What is made of its metrics, by name: cost, energy, rates per MW."""
        return _derived(self.point)


def point_report(pk: int) -> PointReport | None:
    """Return a point, None where none is stored or its run is hidden."""
    found = Point.objects.select_related(*_RELATED).filter(pk=pk).first()
    if found is None or found.sweep.run.publication == Run.Publication.HIDDEN:
        return None
    return PointReport(found)


def point_of_place(
    *, run: int, key: str, scenario: str, deployment: str, concurrency: int
) -> int | None:
    """Return the number of the point that counts at a place of a run, if any.

    Where none counts, that of the newest attempt.
    """
    found = Point.objects.filter(
        sweep__run__github_run_id=run,
        sweep__config_key__key=key.replace("\0", ""),
        sweep__scenario=scenario,
        deployment__label=deployment,
        concurrency=concurrency,
    ).exclude(sweep__run__publication=Run.Publication.HIDDEN)
    newest = found.order_by("-is_current", "-attempt", "-pk")
    return newest.values_list("pk", flat=True).first()


def _evals(point: Point) -> list[PointEval]:
    """Return the scores of the point's deployment, and those that can mean no other."""
    sweep = point.sweep
    stored = EvalResult.objects.filter(
        is_current=True,
        run=sweep.run_id,
        config_key=sweep.config_key_id,
        scenario=sweep.scenario,
    )
    related = stored.select_related("config_key", "deployment", "run")
    found = list(related.order_by("concurrency", "task", "pk"))
    if not found:
        return []
    own = _place(point)
    measured = Point.objects.filter(sweep=point.sweep_id).select_related("deployment")
    belongs = points_of_evals(map(_place, measured), map(_place, found))
    meant = {eval_ for eval_, of in belongs.items() if of == own}
    kept = [r for r in found if _place(r) in meant or _is_of(r, point)]
    return [PointEval(i, join_text(_place(i.result), own)) for i in judged(kept)]


def _is_of(result: EvalResult, point: Point) -> bool:
    return result.deployment_id == point.deployment_id


def _place(of: Point | EvalResult) -> EvalPlace:
    deployment = of.deployment
    return EvalPlace(
        None, deployment.pk, deployment.label, deployment.tp, of.concurrency
    )


def _neighbours(point: Point) -> list[Neighbour]:
    """Return the newest first; a point outside of the history is no row of it."""
    sweep = point.sweep
    at_place = Point.objects.filter(
        sweep__config_key=sweep.config_key_id,
        sweep__scenario=sweep.scenario,
        deployment=point.deployment_id,
        concurrency=point.concurrency,
        sweep__state__isnull=False,
    ).exclude(sweep__run__publication=Run.Publication.HIDDEN)
    found = at_place.filter(Q(is_current=True) | Q(pk=point.pk))
    newest = found.order_by("-sweep__official_at", "-pk").values_list(*_NEIGHBOUR)
    return [Neighbour(*row) for row in newest[:MOST_NEIGHBOURS]]


def _derived(point: Point) -> dict[str, Derived]:
    key, deployment = point.sweep.config_key, point.deployment
    stored = {name: point.metrics.get(name) for name in inputs(DERIVED)}
    row = {
        **stored,
        "hardware": key.hardware,
        "prefill_hardware": deployment.prefill_hardware,
        "decode_hardware": deployment.decode_hardware,
        "disagg": deployment.disagg,
        "scenario": point.sweep.scenario,
        "gpus": point.gpus,
        "prefill_gpus": point.prefill_gpus,
        "decode_gpus": point.decode_gpus,
    }
    frame = pd.DataFrame([row]).astype(dict.fromkeys(stored, "float64"))
    names = [name for name in METRICS if name in DERIVED]
    made = with_derived(frame, names, prices_at(None)).iloc[0]
    return {name: _made(made, name) for name in names}


def _made(row: "pd.Series[float]", name: str) -> Derived:
    value = float(row[name])
    terms = str(row.get(f"{name}_terms", ""))
    return Derived(value if np.isfinite(value) else None, terms)
