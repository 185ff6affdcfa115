"""What every page carries: links of the top bar, freshness of the data, numbers."""

import math
from datetime import datetime
from typing import NamedTuple

from django import template
from django.conf import settings
from django.db.models import Count, Subquery, Value
from django.db.models.functions import Coalesce
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.models import Regression, Run
from dashboard.templatetags import markup
from dashboard.vocabulary.version import VERSION

register = template.Library()

SITE_FACTS = "site facts"
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
    """Write the link to the regressions with how many are open."""
    count = _site_facts(context).open_regressions if _may_know(context) else 0
    said = '<span class="nav-count">{}<span class="visually-hidden"> open</span></span>'
    label = format_html("Regressions {}", format_html(said, count) if count else "")
    return nav_link(context, "regressions", label)


@register.filter
def run_path(run_id: int) -> str:
    """Return the address of a run's page."""
    return markup.run_path(run_id)


@register.simple_tag
def app_version() -> str:
    """Return the version of this software."""
    return VERSION


@register.simple_tag(takes_context=True)
def data_freshness(context: Context) -> SafeString | str:
    """Say when the newest run was made, to whoever may know."""
    if not _may_know(context):
        return ""
    newest = _site_facts(context).newest_run_at
    if newest is None:
        return "No run is stored yet."
    return format_html("Newest run {}", ago(newest))


def _may_know(context: Context) -> bool:
    """Tell whether the reader may see data: a private site has pages for strangers.

    Its login, and what it answers where no page is.
    """
    user = getattr(context.get("request"), "user", None)
    is_private: bool = settings.FRONTIERBOARD_LOGIN_REQUIRED
    return not is_private or (user is not None and user.is_authenticated)


class _SiteFacts(NamedTuple):
    newest_run_at: datetime | None
    open_regressions: int


def _site_facts(context: Context) -> _SiteFacts:
    """Return what top bar and footer say of the data, in one query for both."""
    known: _SiteFacts | None = context.render_context.get(SITE_FACTS)
    if known is None:
        newest = Run.objects.order_by("-created_at").annotate(count=_open_count())
        found = newest.values_list("created_at", "count").first()
        known = _SiteFacts(*found) if found else _SiteFacts(None, 0)
        context.render_context[SITE_FACTS] = known
    return known


def _open_count() -> Coalesce:
    waiting = Regression.objects.filter(
        state__in=Regression.OPEN, is_active=True, recovered_by__isnull=True
    ).exclude(run__publication=Run.Publication.HIDDEN)
    counted = waiting.order_by().values(one=Value(1)).annotate(n=Count("pk"))
    return Coalesce(Subquery(counted.values("n")), Value(0))


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
