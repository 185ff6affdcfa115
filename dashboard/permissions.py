"""Who may decide: correct, publish and triage."""

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, QuerySet

TRIAGE = "triage"


def may_correct(user: User | AnonymousUser) -> bool:
    """Tell whether a user may hide, hold, publish, exclude, undo and triage.

    Members of the group ``triage`` and superusers may. It costs no query for those who
    are not logged in.
    """
    if not user.is_active:
        return False
    return user.is_superuser or user.groups.filter(name=TRIAGE).exists()


def triagers() -> QuerySet[User]:
    """Return the users who may triage, by name: a regression's owner is one of them."""
    may = Q(is_superuser=True) | Q(groups__name=TRIAGE)
    found = User.objects.filter(may, is_active=True)
    return found.order_by("username").distinct()
