"""How requests for work are written: what they stored, whether one still goes on."""

from collections.abc import Iterable, Mapping

from django import template

from dashboard.models import IngestRequest

register = template.Library()

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
