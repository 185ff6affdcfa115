"""Notices of staff: who may write them, where they show, what they do to histories."""

# mypy: allow-untyped-calls

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from dashboard.ingest_requests import history_scope
from dashboard.models import IngestRequest, Judgement, Notice, Sweep
from ingest.pipeline import derive_history, derive_run
from ingest.segments import derive_segments
from tests import factories
from tests.models.test_triage_group import member
from tests.pages.builders import curve

__all__ = ["member"]

pytestmark = pytest.mark.django_db

KEY = "qwen3.5-fp4-mi355x-sglang"
TEXT = "power limit of the cluster was raised"
DAY = timedelta(days=1)


@pytest.fixture
def sweeps():
    """Three like sweeps of one key, a day apart, and one of another key."""
    made = [
        factories.SweepFactory(
            official=True,
            state="former" if day < 2 else "current",
            official_at=factories.START + day * DAY,
        )
        for day in range(3)
    ]
    other = factories.ConfigKeyFactory(key="other", model="dsr1", framework="trt")
    made.append(factories.SweepFactory(official=True, config_key=other))
    derive_segments({(s.config_key_id, s.scenario) for s in made})
    return made


def posted(kind="break", at=None, **given):
    day = at or factories.START + DAY
    fields = {
        "kind": kind,
        "text": TEXT,
        "framework": "",
        "model": "",
        "at_0": f"{day:%Y-%m-%d}",
        "at_1": f"{day:%H:%M:%S}",
        "expires_at_0": "",
        "expires_at_1": "",
    }
    return fields | given


def carried_out():
    """Do what the worker does with the requests, and forget them."""
    for asked in IngestRequest.objects.order_by("pk"):
        assert asked.kind == "derive"
        derive_history(history_scope(asked.target))
    IngestRequest.objects.all().delete()


def placed():
    rows = Sweep.objects.order_by("config_key__key", "official_at")
    return [(s.segment, [b["kind"] for b in s.breaks]) for s in rows]


def test_a_break_by_staff_begins_a_segment_and_goes_with_it(client, member, sweeps):
    add = reverse("admin:dashboard_notice_add")
    assert client.post(add, posted(model="qwen3.5")).status_code == 302
    notice = Notice.objects.get()
    assert notice.author == "kim"
    assert IngestRequest.objects.get().target == "history?model=qwen3.5"
    before = placed()
    carried_out()
    assert placed() == [(1, []), (1, []), (2, ["notice"]), (2, [])]
    delete = reverse("admin:dashboard_notice_delete", args=[notice.pk])
    assert client.post(delete, {"post": "yes"}).status_code == 302
    carried_out()
    assert placed() == before


def test_a_changed_scope_derives_the_former_one_as_well(client, member, sweeps):
    client.post(reverse("admin:dashboard_notice_add"), posted(framework="sglang"))
    carried_out()
    change = reverse("admin:dashboard_notice_change", args=[Notice.objects.get().pk])
    client.post(change, posted(framework="trt", config_key=sweeps[3].config_key_id))
    targets = set(IngestRequest.objects.values_list("target", flat=True))
    assert targets == {
        "history?framework=sglang",
        "history?config_key=other&framework=trt",
    }
    carried_out()
    assert [breaks for _, breaks in placed()] == [[], [], [], []]


def test_a_marker_about_a_run_stands_at_its_sweep_alone(client, member, sweeps):
    fields = posted("marker", run=sweeps[1].run_id, at=factories.START + 9 * DAY)
    client.post(reverse("admin:dashboard_notice_add"), fields)
    carried_out()
    marked = [s.pk for s in Sweep.objects.all() if s.markers]
    assert marked == [sweeps[1].pk]


def test_what_was_judged_across_a_break_by_staff_is_judged_again(client, member):
    sweeps = [curve(KEY, state="former"), curve(KEY), curve("other")]
    for sweep in sweeps:
        derive_run(sweep.run)
    judged = Judgement.objects.filter(sweep=sweeps[1])
    assert judged.get().verdict != "not comparable"
    fields = posted(run=sweeps[1].run_id, at=factories.START - DAY)
    client.post(reverse("admin:dashboard_notice_add"), fields)
    carried_out()
    assert judged.get().verdict == "not comparable"
    assert TEXT in judged.get().reason
    Notice.objects.get().delete()
    derive_history({"run": str(sweeps[1].run.github_run_id)})
    assert judged.get().verdict != "not comparable"


def test_several_notices_deleted_at_once_ask_once_per_scope(admin_client, sweeps):
    for kind in ("break", "marker", "note"):
        factories.NoticeFactory(kind=kind, model="qwen3.5")
    rows = list(Notice.objects.values_list("pk", flat=True))
    action = {"action": "delete_selected", "_selected_action": rows, "post": "yes"}
    admin_client.post(reverse("admin:dashboard_notice_changelist"), action)
    assert not Notice.objects.exists()
    assert IngestRequest.objects.get().target == "history?model=qwen3.5"


def test_a_note_asks_for_nothing(client, member, sweeps):
    client.post(reverse("admin:dashboard_notice_add"), posted("note"))
    assert Notice.objects.get().kind == "note"
    assert not IngestRequest.objects.exists()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"model": "gpt-9"}, "No config key has this model: dsr1, qwen3.5."),
        ({"framework": "x"}, "No config key has this framework: sglang, trt."),
        ({"text": "  "}, "This field is required."),
        (
            {"expires_at_0": "2026-09-01", "expires_at_1": "10:00:00"},
            "Only a note expires; delete it instead.",
        ),
    ],
)
def test_a_notice_that_would_do_nothing_is_refused(client, member, sweeps, given, line):
    answer = client.post(reverse("admin:dashboard_notice_add"), posted(**given))
    assertContains(answer, line)
    assert not Notice.objects.exists()


def test_who_is_not_of_the_group_writes_none(client, django_user_model, sweeps):
    user = django_user_model.objects.create_user("sam", is_staff=True)
    assert not Group.objects.filter(user=user).exists()
    client.force_login(user)
    add = reverse("admin:dashboard_notice_add")
    assert client.post(add, posted()).status_code == 403
    assert not Notice.objects.exists()


SCOPES = [
    ({}, True),
    ({"model": "qwen3.5"}, True),
    ({"framework": "sglang"}, True),
    ({"model": "dsr1"}, False),
    ({"model": "qwen3.5", "framework": "trt"}, False),
]


@pytest.mark.parametrize(("scope", "is_shown"), SCOPES)
def test_a_note_shows_where_its_scope_is_shown(client, scope, is_shown):
    sweep = curve(KEY)
    factories.NoticeFactory(**scope)
    check = assertContains if is_shown else assertNotContains
    check(client.get("/inference"), TEXT)
    check(client.get(reverse("run", args=[sweep.run.github_run_id])), TEXT)


def test_a_note_about_a_key_or_run_shows_on_no_other(client):
    one, other = curve(KEY), curve("other", key_fields={"model": "dsr1"})
    factories.NoticeFactory(config_key=one.config_key, text="about the key")
    factories.NoticeFactory(run=one.run, text="about the run")
    for word in ("about the key", "about the run"):
        assertContains(client.get(f"/inference?key={KEY}"), word)
        assertNotContains(client.get("/inference?key=other"), word)
        assertContains(client.get(reverse("run", args=[one.run.github_run_id])), word)
        page = client.get(reverse("run", args=[other.run.github_run_id]))
        assertNotContains(page, word)


def test_a_note_shows_author_and_end_until_it_expires(client, time_machine):
    curve(KEY)
    factories.NoticeFactory(expires_at=factories.START + 3 * DAY)
    time_machine.move_to(factories.START + 2 * DAY, tick=False)
    answer = client.get("/inference")
    assertContains(answer, "maintainer, <time")
    assertContains(answer, "until 2026-08-04")
    time_machine.move_to(factories.START + 4 * DAY, tick=False)
    assertNotContains(client.get("/inference"), TEXT)


def test_a_note_is_shown_and_gone_at_once_on_pages_that_are_kept(
    client, admin_client, settings
):
    settings.FRONTIERBOARD_KEPT_SECONDS = 60
    curve(KEY)
    assertNotContains(client.get("/inference"), TEXT)
    admin_client.post(reverse("admin:dashboard_notice_add"), posted("note"))
    assertContains(client.get("/inference"), TEXT)
    delete = reverse("admin:dashboard_notice_delete", args=[Notice.objects.get().pk])
    admin_client.post(delete, {"post": "yes"})
    assertNotContains(client.get("/inference"), TEXT)


def test_what_does_not_hold_yet_or_belongs_to_histories_is_no_note(client):
    curve(KEY)
    factories.NoticeFactory(at=factories.START.replace(year=2099))
    factories.NoticeFactory(kind="break")
    assertNotContains(client.get("/inference"), TEXT)


def test_hostile_notes_stay_inert(client):
    curve(KEY)
    bad = "<script>alert(1)</script>\N{RIGHT-TO-LEFT OVERRIDE}"
    factories.NoticeFactory(text=bad, author=bad)
    answer = client.get("/inference")
    assertNotContains(answer, "<script>alert")
    assertNotContains(answer, "\N{RIGHT-TO-LEFT OVERRIDE}")
    assertContains(answer, "&lt;script&gt;alert(1)", count=2)
