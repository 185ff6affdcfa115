"""What every page carries: links of the top bar, freshness of the data, numbers."""

import math
from datetime import datetime

from django import template
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.models import Regression, Run
from dashboard.vocabulary.version import VERSION

register = template.Library()

MISSING = "\u2013"
SMALLEST, LARGEST = 1e-6, 1e12  # written without exponent
MINUTE, HOUR, DAY = 60, 3600, 86400


@register.simple_tag(takes_context=True)
def nav_link(context: Context, name: str, label: str) -> SafeString:
    """Write a link of the top bar, marked when it is the page shown."""
    path = reverse(name)
    request = context.get("request")
    shown = request is not None and (request.path + "/").startswith(path + "/")
    if shown:
        return format_html('<a href="{}" aria-current="page">{}</a>', path, label)
    return format_html('<a href="{}">{}</a>', path, label)


@register.simple_tag(takes_context=True)
def regressions_link(context: Context) -> SafeString:
    """Write the link to the regressions with how many are open, in one query."""
    count = Regression.objects.filter(
        state__in=Regression.OPEN, is_active=True, recovered_by__isnull=True
    ).exclude(run__publication=Run.Publication.HIDDEN)
    number = count.count()
    said = '<span class="nav-count">{}<span class="visually-hidden"> open</span></span>'
    label = format_html("Regressions {}", format_html(said, number) if number else "")
    return nav_link(context, "regressions", label)


@register.simple_tag
def app_version() -> str:
    """Return the version of this software."""
    return VERSION


@register.simple_tag
def data_freshness() -> SafeString | str:
    """Say when the newest run was made, in one query."""
    newest = Run.objects.order_by("-created_at").values_list("created_at").first()
    if newest is None:
        return "No run is stored yet."
    return format_html("Newest run {}", ago(newest[0]))


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """Write a time relative to now; the UTC time is on hover."""
    if moment is None:
        return MISSING
    text = _relative((timezone.now() - moment).total_seconds())
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>',
        moment.isoformat(),
        f"{moment:%Y-%m-%d %H:%M}",
        text,
    )


def _relative(seconds: float) -> str:
    if seconds < MINUTE:
        return "just now" if seconds > -MINUTE else "in the future"
    for size, name in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")):
        count = int(seconds // size)
        if count:
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    raise AssertionError(seconds)


@register.filter
def sig4(value: float | None) -> str:
    """Write a number with four significant digits; integers keep all of theirs.

    What is too small or too large to be read as digits is written with an exponent.
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    if not SMALLEST <= abs(value) <= LARGEST:
        return f"{value:.4g}"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"
