"""How verdicts and changes are written: the word says it, a colour only helps."""

from typing import Any

from django import template

from dashboard.analysis.verdict_report import behind_text
from dashboard.analysis.verdicts import Verdict
from dashboard.templatetags.site import MISSING
from dashboard.vocabulary.changes import places_text
from dashboard.vocabulary.metrics import METRICS

register = template.Library()

_BADGES = {
    Verdict.REGRESSION: "badge-bad",
    Verdict.FAILED_EVALS: "badge-bad",
    Verdict.MIXED: "badge-warn",
    Verdict.INCONCLUSIVE: "badge-warn",
    Verdict.IMPROVEMENT: "badge-ok",
    Verdict.WITHIN_NOISE: "badge-info",
}
NOT_DEFINED = "n/a"
DAY_LENGTH = len("2026-08-21")


@register.filter
def verdict_badge(verdict: str) -> str:
    """Return the classes of a badge; what judges nothing has no colour."""
    return f"badge {_BADGES.get(Verdict(verdict), '')}".strip()


@register.filter
def signed(change: float | None) -> str:
    """Write a fraction as percent with its sign; of a zero base there is none."""
    return NOT_DEFINED if change is None else f"{100 * change:+.1f} %"


@register.filter
def points_of_score(change: float | None) -> str:
    """Write the difference of two scores in percentage points."""
    return MISSING if change is None else f"{100 * change:+.2f} pp"


@register.filter
def as_percent(share: float | None) -> str:
    """Write a fraction as percent without a sign."""
    return MISSING if share is None else f"{100 * share:.2f} %"


@register.filter
def behind(loss: float) -> str:
    """Write a local loss: by how much the head lies behind there, if at all."""
    return behind_text(loss)


@register.filter
def z_score(z: float | None) -> str:
    """Write a distance in standard errors."""
    return MISSING if z is None else f"{z:+.1f}"


@register.filter
def in_place(places: Any) -> str:
    """Write [deployment, [concurrencies]] as ``TP2 c4, c8; TP4 c16``."""
    return places_text(places)


@register.filter
def day(moment: str) -> str:
    """Return the day of a moment in ISO 8601."""
    return moment[:DAY_LENGTH]


@register.filter
def days_apart(age: int) -> str:
    """Write by how many days a baseline is older than what is held against it."""
    if age == 0:
        return "less than a day older"
    count = abs(age)
    unit = "day" if count == 1 else "days"
    return f"{count} {unit} {'older' if age > 0 else 'later'}"


@register.filter
def metric_title(name: str) -> str:
    """Return a metric's label with its unit; an unknown one as it is."""
    metric = METRICS.get(name)
    return metric.title if metric else name
