"""Accounts and groups: Django's own pages, which answer forged rows as ours do."""

from django.contrib.auth.admin import GroupAdmin, UserAdmin

from dashboard.admin_derived import BaseAdmin


class AccountAdmin(BaseAdmin, UserAdmin):  # type: ignore[type-arg]  # in its stubs only
    """Who may log in."""


class AccountGroupAdmin(BaseAdmin, GroupAdmin):
    """Who may triage and correct."""
