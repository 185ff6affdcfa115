"""How changes of eval scores are written: words and numbers, a colour only helps."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.analysis.eval_changes import ScoreChange
from dashboard.analysis.eval_history import Former
from dashboard.analysis.eval_verdicts import EvalVerdict
from dashboard.templatetags.site import MISSING
from dashboard.vocabulary.texts import log_text

register = template.Library()

# Of a long text a list shows so many characters.
BEGINNING = 4000

_LEVELS = {"red": "badge-bad", "amber": "badge-warn"}


@register.filter
def eval_change(found: EvalVerdict, former: Former) -> SafeString:
    """Write how a score changed, how sure that is, and against what; or why not."""
    base = former.moment
    if base is None:
        return format_html('<span class="muted">{}</span>', former.reason)
    told = verdict_change(found)
    return format_html(
        '{} <span class="eval-note muted">against <a href="{}">{}</a> of {}</span>',
        told,
        reverse("run", args=[base.run]),
        base.run,
        f"{base.at:%Y-%m-%d}",
    )


@register.filter
def verdict_change(found: EvalVerdict) -> SafeString:
    """Write a change with its interval, z, p and words; a fall has a coloured level."""
    change = found.change
    if change is None:
        return format_html('<span class="muted">{}</span>', MISSING)
    level = found.level
    badge = (
        format_html('<span class="badge {}">{}</span> ', _LEVELS[level], level)
        if level
        else ""
    )
    return format_html(
        '{}{} <span class="muted">[{}, {}]</span>'
        '<span class="eval-note muted">{}</span>',
        badge,
        f"{100 * change.difference:+.2f} pp",
        f"{100 * change.low:+.2f}",
        f"{100 * change.high:+.2f}",
        f"{tested(change)}: {found.words}",
    )


@register.filter
def sample_text(text: str, is_whole: bool = False) -> str:  # noqa: FBT001, FBT002  # a template's
    """Return a stranger's text with what steers drawn; in a list its beginning."""
    if is_whole or len(text) <= BEGINNING:
        return log_text(text)
    left = len(text) - BEGINNING
    return f"{log_text(text[:BEGINNING])}\n[{left} more characters: open the document]"


def tested(change: ScoreChange) -> str:
    """Write the numbers of a test: ``z -0.67, p 0.51``."""
    z = "" if change.z is None else f"z {change.z:.2f}, "
    return f"{z}p {change.p:.2g}"
