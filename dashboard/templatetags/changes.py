"""How changes are written on pages."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.template import Context

from dashboard.models import ChangelogEntry
from dashboard.templatetags.site import MISSING
from dashboard.vocabulary import changes
from dashboard.vocabulary.metrics import METRICS

register = template.Library()


@register.simple_tag(takes_context=True)
def query_with(context: Context, changed: Mapping[str, object] | None = None) -> str:
    """Return the query of this page with some parameters changed."""
    query = context["request"].GET.copy()
    for name, value in (changed or {}).items():
        query[name] = str(value)
    return f"?{query.urlencode()}"


@register.filter
def kind_label(kind: str) -> str:
    """Return how a kind of change is written."""
    return changes.kind_label(kind)


@register.filter
def change_text(change: Mapping[str, Any]) -> str:
    """Say what a break or a marker is about."""
    return changes.change_text(change)


@register.filter
def bands(places: object) -> list[str]:
    """Write deployments with their concurrencies, one text each."""
    return changes.bands(places)


@register.filter
def has_wildcard(entry: ChangelogEntry) -> bool:
    """Tell whether an entry names keys by a pattern."""
    return any("*" in key for key in entry.raw_keys)


@register.filter
def metric_label(name: str) -> str:
    """Return the label of a metric."""
    return METRICS[name].label


@register.filter
def signed_percent(change: float | None) -> str:
    """Write a fraction as percent with its sign, without a judgement."""
    return MISSING if change is None else f"{change * 100:+.1f} %"
