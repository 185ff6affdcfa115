"""Corrections from the page of a run: who may, what is stored, what is refused."""

# mypy: allow-untyped-calls

import re

import pytest
from django.contrib.auth.models import AnonymousUser, Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from dashboard.models import Correction, IngestRequest, Point
from dashboard.permissions import may_correct
from ingest.pipeline import derive_run
from tests import factories
from tests.ingest import golden
from tests.pages.builders import add_points
from tests.pages.test_hostile_texts import HOSTILE, assert_inert

pytestmark = pytest.mark.django_db

HIDE = {"action": "hide", "reason": "a broken node"}


@pytest.fixture
def member(client, django_user_model):
    """Return a member of the group without any other right, logged in."""
    user = django_user_model.objects.create_user("kim")
    user.groups.add(Group.objects.get_or_create(name="triage")[0])
    client.force_login(user)
    return user


@pytest.fixture
def other(django_user_model):
    """Return a browser of somebody who is logged in and may not correct."""
    client = Client()
    client.force_login(django_user_model.objects.create_user("lee"))
    return client


@pytest.fixture
def sweep():
    """Return the newer of a key's two official sweeps, which is held."""
    former = factories.SweepFactory(official=True)
    add_points(former)
    newer = factories.SweepFactory(
        config_key=former.config_key,
        checkpoint=former.checkpoint,
        run=factories.RunFactory(official=True, repository=former.run.repository),
        planned_count=5,
    )
    add_points(newer)
    derive_run(newer.run)
    newer.refresh_from_db()
    assert newer.state == "held"
    return newer


def page_of(client, run):
    return client.get(reverse("run", args=[run.github_run_id]))


def correct(client, run, **fields):
    return client.post(reverse("run_corrections", args=[run.github_run_id]), fields)


def undo(client, correction, **fields):
    return client.post(reverse("undo_correction", args=[correction.pk]), fields)


def decision(action, sweep, reason="planned too much"):
    key, scenario = sweep.config_key.key, sweep.scenario
    return {
        "action": action,
        "config_key": key,
        "scenario": scenario,
        "reason": reason,
    }


def test_publishing_a_held_sweep_makes_it_current(client, member, sweep):
    answer = correct(client, sweep.run, **decision("publish", sweep))
    assert (answer.status_code, answer["Location"]) == (
        302,
        f"/runs/{sweep.run.github_run_id}",
    )
    made = Correction.objects.get()
    assert (made.author, made.reason) == ("kim", "planned too much")
    assert IngestRequest.objects.get().requested_by == "kim"
    assertContains(client.get(answer["Location"]), "The worker is deriving")
    derive_run(sweep.run)
    sweep.refresh_from_db()
    assert sweep.state == "current"


def test_holding_undoes_the_publishing(client, member, sweep):
    correct(client, sweep.run, **decision("publish", sweep))
    correct(client, sweep.run, **decision("hold", sweep, "it was not"))
    hold = Correction.objects.get(undone_at=None)
    assert (hold.action, hold.reason) == ("hold", "it was not")


def test_c23_excluding_twice_and_undoing_restores_every_byte(client, member, sweep):
    run = sweep.config_key.sweeps.get(state="current").run
    derive_run(run)
    before = golden.state()
    refused = correct(client, run, action="exclude", reason=" ")
    assertContains(refused, "A correction needs a reason.", status_code=400)
    correct(client, run, action="exclude", reason="wrong weights")
    derive_run(run)
    excluded = golden.state()
    assert {p.is_excluded for p in Point.objects.filter(sweep__run=run)} == {True}
    again = correct(client, run, action="exclude", reason="other words")
    assertContains(
        client.get(again["Location"]), "corrected so already, by kim: wrong weights"
    )
    derive_run(run)
    assert golden.state() == excluded != before
    made = Correction.objects.get()
    assert (made.author, made.made_at is None) == ("kim", False)
    undo(client, made, reason="they were right")
    derive_run(run)
    assert golden.state() == before


def test_a_single_point_is_excluded_by_its_names(client, member, sweep):
    point = sweep.points.first()
    correct(
        client,
        sweep.run,
        **decision("exclude", sweep),
        deployment=point.deployment.label,
        concurrency=point.concurrency,
        attempt=point.attempt,
    )
    derive_run(sweep.run)
    assert list(Point.objects.filter(is_excluded=True)) == [point]
    shown = " ".join(page_of(client, sweep.run).content.decode().split())
    place = f"{point.deployment.label} c{point.concurrency} of attempt {point.attempt}"
    assert f"{sweep.config_key.key} {sweep.scenario} {place}" in shown


def test_deployments_of_one_label_are_all_meant(client, member, sweep):
    labels = [factories.DeploymentFactory(label="TP8", tp=n) for n in (8, 9)]
    for deployment in labels:
        factories.PointFactory(sweep=sweep, deployment=deployment)
    correct(client, sweep.run, action="exclude", deployment="TP8", reason="odd")
    found = Correction.objects.order_by("pk").values_list("deployment", flat=True)
    assert list(found) == [deployment.pk for deployment in labels]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"action": "exclude", "concurrency": "77"}, "This names no point of the run."),
        ({"action": "exclude", "config_key": "x"}, "No config key is called x."),
        ({"action": "exclude", "deployment": "x"}, "The run has no deployment x."),
        ({"action": "exclude", "concurrency": "x"}, "Enter a whole number."),
        ({"action": "exclude", "concurrency": "9" * 30}, "less than or equal to"),
        ({"action": "exclude", "attempt": "-1"}, "greater than or equal to 0"),
        ({"action": "exclude", "deployment": "a\0b"}, "Null characters"),
        ({"action": "publish"}, "give its config key and scenario only"),
        ({"action": "hide", "attempt": "1"}, "Hiding takes a whole run"),
        ({"action": "erase"}, "What can be done is hide, hold, publish or exclude."),
        ({}, "Say what to do"),
        ({"action": "hide", "reason": ""}, "A correction needs a reason."),
        ({"action": "hide", "reason": "x" * 2001}, "at most 2000 characters"),
    ],
)
def test_a_refused_correction_says_why_once(client, member, sweep, asked, said):
    page = correct(client, sweep.run, **{"reason": "why", **asked})
    assertContains(page, said, count=1, status_code=400)
    assert not Correction.objects.exists()


def test_a_refused_exclusion_keeps_what_was_typed(client, member, sweep):
    fields = {**decision("exclude", sweep, "half a thought"), "concurrency": "16"}
    page = correct(client, sweep.run, **fields, attempt="9").content.decode()
    assert '<option value="16" selected>' in page
    assert 'value="half a thought"' in page


def test_undo_needs_a_reason_and_is_said_to_be_done_already(client, member, sweep):
    made = factories.CorrectionFactory(run=sweep.run)
    assertContains(
        undo(client, made, reason=""), "A correction needs a reason.", status_code=400
    )
    undo(client, made, reason="was fine")
    page_of(client, sweep.run)
    again = undo(client, made, reason="once more")
    assertContains(
        client.get(again["Location"]), "undone already, by kim: was fine", count=1
    )
    made.refresh_from_db()
    assert (made.undone_by, made.undo_reason) == ("kim", "was fine")


def test_everybody_sees_who_corrected_when_and_why(client, other, sweep):
    factories.CorrectionFactory(run=sweep.run, author="jo", reason="measured twice")
    for reader in (client, other):
        page = page_of(reader, sweep.run)
        assertContains(page, "by jo")
        assertContains(page, "measured twice")
        assertContains(page, "<time")
        assertNotContains(page, "Correct this run")
        assertNotContains(page, "Hold or publish")
        assertNotContains(page, "/undo")


def test_those_who_may_see_the_forms(client, member, sweep):
    factories.CorrectionFactory(run=sweep.run, action="exclude")
    page = page_of(client, sweep.run).content.decode()
    for title in ("Hide the run", "Exclude points", "Hold or publish", ">Undo<"):
        assert title in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_a_hidden_run_offers_to_undo_and_not_to_hide(client, member, sweep):
    correct(client, sweep.run, **HIDE)
    derive_run(sweep.run)
    page = page_of(client, sweep.run)
    assertContains(page, "The run is hidden.")
    assertNotContains(page, 'value="hide"')


def test_who_is_not_logged_in_is_sent_to_the_login(client, sweep):
    made = factories.CorrectionFactory(run=sweep.run)
    to_login = f"/login?next=/runs/{sweep.run.github_run_id}"
    assert correct(client, sweep.run, **HIDE)["Location"] == to_login
    assert undo(client, made, reason="x")["Location"] == to_login
    assert Correction.objects.get().undone_at is None


def test_who_may_not_is_refused_with_the_reason(other, sweep):
    made = factories.CorrectionFactory(run=sweep.run)
    for answer in (correct(other, sweep.run, **HIDE), undo(other, made, reason="x")):
        assertContains(answer, "members of the group triage", status_code=403)
    assert Correction.objects.get().undone_at is None


def test_members_and_superusers_may_while_they_are_active(member, django_user_model):
    root = django_user_model.objects.create_superuser("root")
    staff = django_user_model.objects.create_user("staff", is_staff=True)
    gone = django_user_model.objects.create_superuser("gone", is_active=False)
    users = (member, root, staff, gone, AnonymousUser())
    assert [may_correct(user) for user in users] == [True, True, False, False, False]


def test_nothing_is_corrected_by_a_link(client, member, sweep):
    made = factories.CorrectionFactory(run=sweep.run)
    paths = (
        reverse("run_corrections", args=[sweep.run.github_run_id]),
        reverse("undo_correction", args=[made.pk]),
    )
    for path in paths:
        assert client.get(path, {"reason": "x", "action": "hide"}).status_code == 405
    assert Correction.objects.get().undone_at is None


def test_a_form_of_another_site_is_refused(member, sweep):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member)
    refused = correct(strict, sweep.run, **HIDE)
    assertContains(refused, "This form was opened too long ago", status_code=403)
    assert not Correction.objects.exists()


@pytest.mark.parametrize("name", ["run_corrections", "undo_correction"])
@pytest.mark.parametrize("number", [5, 10**30])
def test_what_is_not_there_cannot_be_corrected(client, member, name, number):
    path = reverse(name, args=[number])
    assert client.post(path, HIDE).status_code == 404


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_people_typed_is_shown_inert(client, member, sweep, text):
    reason = text[:2000]
    answer = correct(client, sweep.run, action="exclude", reason=reason)
    made = Correction.objects.get()
    Correction.objects.update(author=text)
    assert made.reason == reason.strip()
    shown = client.get(answer["Location"])
    again = client.get(correct(client, sweep.run, **HIDE)["Location"])
    undo(client, made, reason=reason)
    for page in (shown, again, page_of(Client(), sweep.run)):
        body = page.content.decode()
        assert page.status_code == 200
        assert_inert(body.replace("x" * 2000, ""))


def test_queries_do_not_grow_with_corrections(client, member, sweep):
    factories.CorrectionFactory(run=sweep.run)
    page_of(client, sweep.run)  # its verdicts are kept from now on
    counts = []
    for attempt in range(2):
        with CaptureQueriesContext(connection) as queries:
            page_of(client, sweep.run)
        counts.append(len(queries))
        for n in range(5):
            factories.CorrectionFactory(
                run=sweep.run, action="exclude", concurrency=n, attempt=attempt
            )
    assert counts[0] == counts[1]


def test_a_page_that_nobody_is_logged_in_for_sets_no_cookie(client, sweep):
    page = page_of(client, sweep.run)
    assert not page.cookies
    assert page.get("Cache-Control") is None
