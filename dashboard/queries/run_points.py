"""Every point of a run in full, for the download."""

from collections.abc import Iterator
from typing import Any

from dashboard.analysis.request_errors import request_errors
from dashboard.models import Point, Run
from dashboard.vocabulary.metrics import METRICS, Metric
from dashboard.vocabulary.provenance import ARTIFACTS

PLACE = ("config_key", "scenario", "deployment", "concurrency", "attempt", "standing")
# Of replayed traces; interactivity is recomputed from latency, the stored one is here.
REPLAYED = ("request_errors", "request_error_rate", "stored_median_intvty")
SOURCE = (
    *("flags", "acceptance", "acceptance_length"),
    *("checkpoint", "image", "runner", "run_id", "run_url", "measured_at"),
    *("provenance", "repository", "publication", "sweep_state", "official_at"),
)


def run_points(run: Run) -> list[Point]:
    """Return the points of a run, those replaced too, with what they belong to."""
    found = Point.objects.filter(sweep__run=run).select_related(
        "deployment", "sweep__config_key", "sweep__checkpoint"
    )
    place = ("deployment__label", "concurrency", "attempt", "pk")
    return list(found.order_by("sweep__config_key__key", "sweep__scenario", *place))


def measured_metrics(points: list[Point]) -> list[Metric]:
    """Return the metrics that any of the points has, in the order of the registry."""
    names = {name for point in points for name in point.metrics}
    return [metric for metric in METRICS.values() if metric.name in names]


def point_rows(
    run: Run, points: list[Point], metrics: list[Metric]
) -> Iterator[list[Any]]:
    """Yield a row per point: its place, its metrics, where it comes from."""
    for point in points:
        sweep = point.sweep
        yield [
            sweep.config_key.key,
            sweep.scenario,
            point.deployment.label,
            point.concurrency,
            point.attempt,
            _standing(point),
            *(point.metrics.get(metric.name) for metric in metrics),
            *_replayed(point),
            [text for _, text in point.flags],
            *_acceptance(point),
            sweep.checkpoint.name if sweep.checkpoint else None,
            point.image,
            point.runner,
            run.github_run_id,
            run.url,
            sweep.measured_at,
            point.facts.get("provenance", ARTIFACTS),
            *(
                run.repository.full_name,
                run.publication,
                sweep.state,
                sweep.official_at,
            ),
        ]


def _replayed(point: Point) -> tuple[object, ...]:
    stored = point.facts.get("stored_interactivity", {})
    errors = request_errors(point.facts.get("request_accounting"))
    return (*errors, stored.get("median_intvty"))


def _acceptance(point: Point) -> tuple[object, ...]:
    """Return source and length; blank for a point without speculative decoding."""
    if point.deployment.spec_method == "none":
        return None, None
    return point.sweep.acceptance_source or None, point.sweep.acceptance_length


def _standing(point: Point) -> str:
    if point.is_excluded:
        return "excluded"
    return "current" if point.is_current else "superseded"
