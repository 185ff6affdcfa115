"""What replayed traces say beside speed: failed requests, caches, KV memory."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.db.models.query import QuerySet

from dashboard.analysis.request_errors import (
    RequestErrors,
    RequestGate,
    error_categories,
    request_errors,
    request_gate,
)
from dashboard.models import Point, Run
from dashboard.vocabulary.scenarios import AGENTIC

# Shares of prompt tokens, and of KV blocks.
CACHE_METRICS = (
    "theoretical_cache_hit_rate",
    "server_overall_cache_hit_rate",
    "server_gpu_cache_hit_rate",
    "server_cpu_cache_hit_rate",
    "server_external_cache_hit_rate",
)
KV_METRICS = ("gpu_kv_cache_usage_pct", "cpu_kv_cache_usage_pct")


class AgenticQuality(NamedTuple):
    """One point of a replay. ``shares`` are fractions by metric, where measured."""

    config_key: str
    deployment: str
    concurrency: int
    attempt: int
    errors: RequestErrors
    categories: Mapping[str, int]
    gate: RequestGate
    shares: Mapping[str, float]


def run_quality(run: Run, attempt: int | None = None) -> list[AgenticQuality]:
    """Return the current replayed points of a run, or those of one attempt."""
    wanted = {"is_current": True} if attempt is None else {"attempt": attempt}
    return _quality(Point.objects.filter(sweep__run=run, **wanted))


def sweep_quality(sweep_ids: Iterable[int]) -> list[AgenticQuality]:
    """Return the current replayed points of sweeps, in one query."""
    return _quality(Point.objects.filter(sweep__in=list(sweep_ids), is_current=True))


def _quality(points: QuerySet[Point]) -> list[AgenticQuality]:
    names = (*CACHE_METRICS, *KV_METRICS)
    found = points.filter(sweep__scenario=AGENTIC).order_by(
        "sweep__config_key__key", "deployment__label", "concurrency", "attempt"
    )
    rows = found.values_list(
        "sweep__config_key__key",
        "deployment__label",
        "concurrency",
        "attempt",
        "facts__request_accounting",
        *(f"metrics__{name}" for name in names),
    )
    return [
        AgenticQuality(
            key,
            deployment,
            concurrency,
            attempt,
            request_errors(accounting),
            error_categories(accounting),
            request_gate(accounting),
            {n: v for n, v in zip(names, values, strict=True) if v is not None},
        )
        for key, deployment, concurrency, attempt, accounting, *values in rows
    ]
