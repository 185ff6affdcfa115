"""How texts that strangers wrote are shown: inert, and no longer than a page bears."""

from django import template

from dashboard.vocabulary import texts

register = template.Library()


@register.filter
def one_line(text: object) -> str:
    """Return text as one line that turns no direction and has an end."""
    return texts.one_line(str(text))
