"""The registry of metrics as JSON: names, units, and which way is better."""

from typing import Literal

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.api.errors import RequestFault
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.vocabulary.metrics import AXES, DERIVED, METRICS, Metric

router = Router(tags=["metrics"])

_BY_COLUMN = {metric.column: metric for metric in METRICS.values()}


class MetricBody(Schema):
    """One metric. Nothing about it is ever guessed from its name."""

    name: str = Field(description="how parameters name it, such as median_ttft")
    column: str = Field(
        description="how points and files name it, with its unit: median_ttft_s"
    )
    label: str
    unit: str = Field(description="empty for a plain fraction or a count")
    direction: Literal["higher", "lower", "none"] = Field(
        description="which way is better; none is a description, such as a duration"
    )
    formula: str
    family: str = Field(description="the group that pages offer it in")
    is_axis: bool = Field(description="whether a frontier can be drawn over it")
    is_derived: bool = Field(
        description="made of others when it is asked for, never stored"
    )


@router.get("", response={200: list[MetricBody], **NOT_CHANGED})
@of_data
def list_metrics(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
) -> list[MetricBody]:
    """Return every metric with unit, direction and formula."""
    return [_body(metric) for metric in METRICS.values()]


def _body(metric: Metric) -> MetricBody:
    return MetricBody(
        name=metric.name,
        column=metric.column,
        label=metric.label,
        unit=metric.unit,
        direction=metric.direction,
        formula=metric.formula,
        family=metric.family,
        is_axis=metric.name in AXES,
        is_derived=metric.name in DERIVED,
    )


def known_metric(parameter: str, name: str) -> Metric:
    """Return a metric by its name or column; raises RequestFault."""
    found = METRICS.get(name) or _BY_COLUMN.get(name)
    if found is None:
        raise RequestFault(
            parameter, f"{name[:80]!r} is no metric.", allowed=list(METRICS)
        )
    return found
