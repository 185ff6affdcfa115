"""The group that the migrations make: what its members may do."""

# mypy: allow-untyped-calls

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.urls import reverse

from tests import factories

pytestmark = pytest.mark.django_db
migration = import_module("dashboard.migrations.0004_triage_group")
notices = import_module("dashboard.migrations.0013_triage_notices")
# What members write: corrections and notices, and what they made of a regression.
WRITTEN = {
    "add_correction",
    "add_notice",
    "change_notice",
    "delete_notice",
    "change_regression",
}


@pytest.fixture
def member(client, django_user_model):
    # Tests that empty the tables leave no group behind.
    migration.make_group(apps, None)
    notices.grant(apps, None)
    user = django_user_model.objects.create_user("kim", is_staff=True)
    user.groups.add(Group.objects.get(name="triage"))
    client.force_login(user)
    return user


def test_members_see_every_table_and_write_what_is_theirs(member):
    granted = {name.removeprefix("dashboard.") for name in member.get_all_permissions()}
    assert {"add_correction", "view_sweep", "view_run", "view_correction"} <= granted
    assert {n for n in granted if not n.startswith("view_")} == WRITTEN


def test_members_correct_through_the_staff_pages(client, member):
    sweep = factories.SweepFactory(official=True)
    assert client.get(reverse("admin:dashboard_sweep_changelist")).status_code == 200
    form = {"action": "hide", "run": sweep.run_id, "reason": "bad node"}
    client.post(reverse("admin:dashboard_correction_add"), form)
    assert sweep.run.corrections.get().author == "kim"


def test_making_the_group_twice_changes_nothing(member):
    before = set(member.groups.get().permissions.all())
    migration.make_group(apps, None)
    notices.grant(apps, None)
    assert set(Group.objects.get(name="triage").permissions.all()) == before
