"""How texts that strangers wrote are shown: inert, and no longer than a page bears."""

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

from dashboard.vocabulary import texts

register = template.Library()


@register.filter
def one_line(text: object, longest: int = texts.LONGEST) -> str:
    """Return text as one line that turns no direction and has an end."""
    return texts.one_line(str(text), longest)


@register.filter
def exact(text: str) -> SafeString:
    """Return text for an attribute that is sent back, or a field of a form.

    Every character is kept, those that steer as references.
    """
    return SafeString(texts.as_references(conditional_escape(text)))
