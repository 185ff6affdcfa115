"""How the counts on the page of a point are written."""

from collections.abc import Iterator, Mapping

from django import template

from dashboard.templatetags.site import MISSING

register = template.Library()

_SOURCES = {
    "gpu_cache_hit": "Found in GPU memory",
    "cpu_or_external_cache_hit": "Found in host memory or elsewhere",
    "computed": "Computed",
}


@register.filter
def whole(value: object) -> str:
    """Write a count with thousands apart; missing is missing."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:,.0f}" if is_number else MISSING


@register.filter
def accounted(
    accounting: Mapping[str, object], shown: object
) -> Iterator[tuple[str, object, str]]:
    """Yield (label, count, note) of the requests of an aggregate, missing as None.

    The aggregate does not tell which requests were cancelled; a reading of them does.
    """
    counts = getattr(getattr(shown, "trace", None), "counts", {})
    yield "Total", accounting.get("records_total"), "every record, warm-up included"
    yield "Successful", accounting.get("records_profiled"), "what the metrics are over"
    yield "Errors", accounting.get("records_error_dropped"), "dropped for an error"
    yield "Warm-up", accounting.get("records_warmup_dropped"), "dropped as warm-up"
    note = "by the single requests" if counts else "told by single requests only"
    yield "Cancelled", counts.get("cancelled"), note


@register.filter
def sources(by_source: object) -> list[tuple[str, object]]:
    """Return where prompt tokens came from and how many, of the sources that tell."""
    found = by_source if isinstance(by_source, Mapping) else {}
    named = [(label, found.get(name)) for name, label in _SOURCES.items()]
    return [(label, count) for label, count in named if count is not None]
