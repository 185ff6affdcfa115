"""How requests for work are written: what they stored, whether one still goes on."""

from collections.abc import Iterable, Mapping

from django import template

from dashboard.models import IngestRequest

register = template.Library()

_OF_ARTIFACTS = frozenset({"keeping artifacts", "parsing", "reading"})
_COUNTED = {
    "points": "points",
    "evals": "evals",
    "skips": "skips",
    "rejected": "rejected artifacts",
    "new": "rows new",
    "changed": "changed",
    "same": "the same",
    "removed": "removed",
}


@register.filter
def any_active(requests: Iterable[IngestRequest]) -> bool:
    """Tell whether any of the requests is still to be done or going on."""
    return any(request.is_active for request in requests)


@register.filter
def progress_text(request: IngestRequest) -> str:
    """Write how far a step came: ``12 of 41 artifacts``, ``mapping again, 2 of 5``.

    Empty before there is something to count.
    """
    if not request.progress_total:
        return ""
    counted = f"{request.progress_done} of {request.progress_total}"
    if request.step == "artifacts":
        return f"{counted} artifacts"
    unit = " artifacts" if request.step in _OF_ARTIFACTS else ""
    return f"{request.step}, {counted}{unit}"


@register.filter
def counts_text(request: IngestRequest) -> str:
    """Write what a finished request counted: ``13 points, 4 evals, 20 rows new``.

    Skips may come as counts by reason. What is zero or not known is left out.
    """
    totals = {name: _total(request.counts.get(name)) for name in _COUNTED}
    return ", ".join(
        f"{totals[n]:,} {label}" for n, label in _COUNTED.items() if totals[n]
    )


def _total(value: object) -> int:
    if isinstance(value, Mapping):
        return sum(n for n in value.values() if isinstance(n, int))
    return value if isinstance(value, int) else 0
