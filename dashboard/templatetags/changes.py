"""How changes are written on pages."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from dashboard.analysis.swap_effects import Effect
from dashboard.models import ChangelogEntry
from dashboard.templatetags.markup import joined, written
from dashboard.templatetags.site import MISSING
from dashboard.templatetags.verdicts import as_percent
from dashboard.vocabulary import changes
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.texts import one_line

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


_EFFECT = (
    '<span class="changes-effect">{}: {} <span class="muted">({} to {}, {} {})</span>'
    "</span>"
)
_NOTHING = '<span class="muted">no matched point</span>'
_NO_EFFECT = f'<span class="changes-effect">{{}}: {_NOTHING}</span>'


@register.filter
def swap_effects(effects: Iterable[Effect]) -> SafeString:
    """Write how each metric differs over the points that both sides measured."""
    return joined(
        written(
            _EFFECT,
            METRICS[effect.metric].label,
            *map(signed_percent, (effect.change, effect.low, effect.high)),
            effect.count,
            "pair" if effect.count == 1 else "pairs",
        )
        if effect.count
        else written(_NO_EFFECT, METRICS[effect.metric].label)
        for effect in effects
    )


_SCORE = '{} <span class="muted">({} to {}, n {})</span>'
_TASK = '<span class="changes-effect">{} {}: {} \u2192 {}{}</span>'
_NO_SCORE = SafeString('<span class="muted">not measured</span>')


@register.filter
def swap_evals(evals: Iterable[Any]) -> SafeString:
    """Write the scores of each task before and after a swap."""
    found = joined(
        written(
            _TASK,
            *(one_line(change.task), change.filter),
            *(_score(change.before), _score(change.after)),
            written(_RECOVERY, as_percent(change.recovery))
            if change.recovery is not None
            else "",
        )
        for change in evals
    )
    return found or _NO_SCORE


_RECOVERY = ' <span class="muted">recovery {}</span>'


def _score(score: Any) -> SafeString:
    if score is None:
        return _NO_SCORE
    numbers = map(as_percent, (score.share, score.low, score.high))
    return written(_SCORE, *numbers, score.n)


@register.filter
def signed_percent(change: float | None) -> str:
    """Write a fraction as percent with its sign, without a judgement."""
    return MISSING if change is None else f"{change * 100:+.1f} %"
