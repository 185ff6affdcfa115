"""How regressions are written: their state, how long they last, by how much."""

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.models import Regression
from dashboard.templatetags.site import MISSING

register = template.Library()
State = Regression.State
BADGES = {
    State.UNTRIAGED: "badge-bad",
    State.ACKNOWLEDGED: "badge-warn",
    State.INVESTIGATING: "badge-warn",
    State.FIXED: "badge-ok",
}
DAY = 86400
NOBODY_LOOKED = "nobody looked"


@register.filter
def state_badge(state: str) -> str:
    """Return the classes of a badge that says this state."""
    return f"badge {BADGES.get(State(state), '')}".strip()


@register.filter
def triage_badge(row: Regression) -> SafeString:
    """Write the state of a regression; nothing waits once it is over by itself."""
    if row.recovered_by_id is not None and row.state == State.UNTRIAGED:
        classes, words = "badge", NOBODY_LOOKED
    else:
        classes, words = state_badge(row.state), row.get_state_display()
    return format_html('<span class="{}">{}</span>', classes, words)


@register.filter
def lasting(since: datetime | None, until: datetime | None = None) -> SafeString | str:
    """Write ``for 25 days``, of what is over ``lasted 3 days``; times are on hover."""
    if since is None:
        return MISSING
    days = int(((until or timezone.now()) - since).total_seconds() // DAY)
    count = f"{days} day{'' if days == 1 else 's'}"
    if until is None:
        text = f"for {count}" if days > 0 else "since today"
    else:
        text = f"lasted {count}" if days > 0 else "lasted less than a day"
    return format_html(
        '<time datetime="{}" title="{} UTC{}">{}</time>',
        since.isoformat(),
        f"{since:%Y-%m-%d %H:%M}",
        f" to {until:%Y-%m-%d %H:%M} UTC" if until else "",
        text,
    )
