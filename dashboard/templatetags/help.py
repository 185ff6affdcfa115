"""Links to the help page, where every word, metric, flag and skip is explained."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.vocabulary.metrics import METRICS, Metric
from dashboard.vocabulary.words import WORDS

register = template.Library()


@register.filter
def help_address(subject: Metric | str) -> str:
    """Return where a metric or a word is explained: ``/help#metric-median_ttft``.

    ``subject`` is a metric, its name, or a word; anything else leads to the page's top.
    """
    return f"{reverse('help')}{_fragment(subject)}"


def _fragment(subject: Metric | str) -> str:
    if isinstance(subject, Metric):
        return f"#metric-{subject.name}"
    if subject in METRICS:
        return f"#metric-{subject}"
    return f"#{WORDS[subject].anchor}" if subject in WORDS else ""


@register.simple_tag
def help_link(subject: Metric | str, text: str = "") -> SafeString:
    """Write a link to the explanation of a metric or a word, for headers and charts.

    ``text`` is the metric's label, or the word itself, unless given.
    """
    metric = subject if isinstance(subject, Metric) else METRICS.get(subject)
    shown = text or (metric.label if metric else str(subject))
    return format_html(
        '<a class="help-link" href="{}">{}</a>', help_address(subject), shown
    )
