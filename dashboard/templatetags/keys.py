"""How the pages of keys write what changed."""

from django import template

from dashboard.analysis import changes
from dashboard.analysis.segments import Change

register = template.Library()


@register.filter
def change_title(change: Change) -> str:
    """Return what a break or marker of a sweep changed."""
    return changes.title(change)
