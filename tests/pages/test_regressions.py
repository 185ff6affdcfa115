"""The list of regressions, the page of one, and the decisions sent from both."""

# mypy: allow-untyped-calls

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects

from dashboard.models import Run
from tests import factories
from tests.pages.builders import add_points

pytestmark = pytest.mark.django_db
HOSTILE = '<script>alert(1)</script>"\'=HYPERLINK("x")\u202e' + "x" * 500


@pytest.fixture
def kim() -> User:
    user = User.objects.create_user("kim")
    user.groups.add(Group.objects.get_or_create(name="triage")[0])
    return user


@pytest.fixture
def member(client, kim):
    client.force_login(kim)
    return client


def show(client, **query):
    return client.get(reverse("regressions"), query)


def keys_of(page):
    return [
        row.config_key.key for group in page.context["groups"] for row in group.rows
    ]


def text_of(response):
    return " ".join(response.content.decode().split())


def worse(key, **given):
    """Make a regression of a key with a baseline, both with points."""
    config_key = factories.ConfigKeyFactory(key=key, **given.pop("key_fields", {}))
    at = datetime(2026, 8, 1, tzinfo=UTC)
    runs = [
        factories.RunFactory(official=True, created_at=at + timedelta(days=day))
        for day in (0, 1)
    ]
    run = given.pop("run", runs[1])
    base, head = (
        factories.SweepFactory(
            run=of_run,
            config_key=config_key,
            state=state,
            official_at=of_run.created_at,
            segment=1,
            grid=[["TP2", [4, 16, 64]]],
        )
        for of_run, state in ((runs[0], "former"), (run, "current"))
    )
    add_points(base)
    add_points(head, [(4, 180.0, 300.0), (16, 120.0, 850.0), (64, 60.0, 1600.0)])
    return factories.RegressionFactory(sweep=head, baseline=base, **given)


def judged(row, change, verdict="regression"):
    return factories.JudgementFactory(sweep=row.sweep, verdict=verdict, change=change)


# The list


def test_untriaged_come_first_then_those_at_work_then_the_rest(client):
    worse("fixed", state="fixed")
    worse("at-work", state="investigating")
    worse("new")
    over = factories.RunFactory(official=True)
    worse("over", recovered_by=over, recovered_at=over.created_at)
    assert keys_of(show(client)) == ["new", "over", "at-work", "fixed"]


def test_a_row_says_since_when_how_much_and_whom_to_suspect(client):
    row = worse("key-a")
    row.run.pr_number = None
    row.run.save()
    factories.ChangelogEntryFactory(
        run=row.run,
        raw_keys=["key-a"],
        pr_number=77,
        pr_link="https://github.com/example/bench/pull/77",
    )
    text = text_of(show(client))
    assert '<a href="https://github.com/example/bench/pull/77"' in text
    assert "PR #77" in text
    assert "-9.0 %" in text
    days = (datetime.now(tz=UTC) - row.run.created_at).days
    assert f"for {days} days</time>" in text


def test_what_is_over_says_how_long_it_lasted(client):
    over = factories.RunFactory(official=True)
    row = worse("key-a")
    at = row.run.created_at + timedelta(days=3, hours=2)
    type(row).objects.update(recovered_by=over, recovered_at=at)
    for page in (show(client), one(client, row)):
        assertContains(page, "lasted 3 days</time>")
    type(row).objects.update(recovered_at=row.run.created_at + timedelta(hours=2))
    assertContains(show(client), "lasted less than a day</time>")
    assertContains(one(client, row), "is no longer worse than the baseline")


def test_only_entries_after_the_baseline_that_name_the_key_are_suspects(client):
    row = worse("key-a")
    row.run.pr_number = None
    row.run.save()
    others = {
        "before": row.baseline.run,
        "other key": row.run,
        "unofficial": factories.RunFactory(
            created_at=row.run.created_at - timedelta(hours=1)
        ),
    }
    for name, run in others.items():
        keys = ["key-b"] if name == "other key" else ["key-a"]
        factories.ChangelogEntryFactory(run=run, raw_keys=keys)
    assertContains(show(client), "none known")


def test_keys_of_a_framework_that_moved_alike_stand_together(client):
    first = worse("a", key_fields={"framework": "sglang"})
    second = worse("b", run=first.run, key_fields={"framework": "sglang"})
    third = worse("c", run=first.run, key_fields={"framework": "vllm"})
    for row, change in ((first, -0.08), (second, -0.082), (third, -0.3)):
        judged(row, change)
    page = show(client)
    groups = [
        (group.common.name if group.common else "", len(group.rows))
        for group in page.context["groups"]
    ]
    assert groups == [("sglang", 2), ("", 1)]
    assertContains(
        page, "All 2 keys of sglang moved alike (-8.1 %): check harness or image."
    )


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ({"state": "noise"}, ["b"]),
        ({"state": ["noise", "untriaged"]}, ["a", "c", "b"]),
        ({"kind": "coverage"}, ["c"]),
        ({"key": "a"}, ["a"]),
        ({"key": "nothing"}, []),
        ({"hardware": "b200"}, ["b"]),
        ({"framework": "vllm"}, ["c"]),
        ({"model": "dsr1"}, ["c"]),
        ({"owner": "kim"}, ["b"]),
        ({"owner": "nobody"}, ["a", "c"]),
        ({"recovered": "yes"}, ["c"]),
        ({"recovered": "no"}, ["a", "b"]),
        ({"active": "no"}, ["gone"]),
        ({"active": "all"}, ["gone", "a", "c", "b"]),
    ],
)
def test_each_filter_narrows_the_list(client, kim, query, left):
    worse("a")
    worse("b", state="noise", owner=kim, key_fields={"hardware": "b200"})
    over = factories.RunFactory(official=True)
    worse(
        "c",
        kind="coverage",
        recovered_by=over,
        recovered_at=over.created_at,
        key_fields={"framework": "vllm", "model": "dsr1"},
    )
    worse("gone", is_active=False)
    assert keys_of(show(client, **query)) == left


def test_the_run_filter_takes_an_id(client):
    row = worse("a")
    worse("b")
    assert keys_of(show(client, run=row.run.github_run_id)) == ["a"]


def test_an_odd_filter_is_named_with_what_is_allowed(client):
    page = show(client, state="recovered", hardware="h100")
    assert page.status_code == 400
    assertContains(page, "recovered is not known. Allowed: untriaged", status_code=400)
    assertContains(page, "hardware: h100 is not known", status_code=400)


def test_a_parameter_that_means_nothing_is_said(client):
    assertContains(show(client, colour="red"), "Not understood, so ignored: colour")


def test_an_empty_list_says_why(client):
    assertContains(show(client), "No official sweep got worse than its baseline")
    assertContains(show(client, state="noise"), "No regression matches: state noise")
    improved = show(client, show="improvements")
    assertContains(improved, "No official sweep got better")


def test_improvements_are_listed_apart(client):
    factories.JudgementFactory(sweep__config_key__key="better")
    worse("worse")
    assertNotContains(show(client), ">better<")
    page = show(client, show="improvements")
    assertContains(page, ">better<")
    assertContains(page, "+8.0 %")
    assertNotContains(page, ">worse<")


def test_hidden_runs_are_not_listed(client):
    row = worse("a")
    row.run.publication = "hidden"
    row.run.save()
    assert keys_of(show(client)) == []
    assertNotContains(client.get(reverse("home")), "nav-count")


def test_what_a_hidden_run_lost_is_neither_shown_nor_triaged(member):
    row, other = worse("a"), worse("b")
    type(row.run).objects.filter(pk=row.run_id).update(publication="hidden")
    assert one(member, row).status_code == 404
    assert member.get(f"/regressions/{row.pk}/points.csv").status_code == 404
    decided = {"state": "noise"}
    answer = member.post(reverse("triage_regression", args=[row.pk]), decided)
    assert answer.status_code == 404
    both = {**decided, "regression": [row.pk, other.pk]}
    member.post(reverse("triage_regressions"), both)
    states = type(row).objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["untriaged", "noise"]


def test_long_lists_have_pages_and_a_page_that_is_not_there_is_said(client):
    run = factories.RunFactory(official=True)
    for n in range(51):
        sweep = factories.SweepFactory(
            official=True, run=run, config_key__key=f"key-{n:02}"
        )
        factories.RegressionFactory(sweep=sweep)
    assert len(keys_of(show(client))) == 50
    assert keys_of(show(client, page=2)) == ["key-50"]
    assertContains(show(client, page=9), "There is no page 9: this is page 2 of 2.")


def test_the_list_asks_as_often_whatever_it_holds(member, django_assert_num_queries):
    worse("a")
    with django_assert_num_queries(12):
        show(member)
    for n in range(4):
        judged(worse(f"key-{n}"), -0.1)
    with django_assert_num_queries(12):
        show(member)


def test_csv_holds_every_row_and_runs_no_formula(client):
    row = worse("a", summary=HOSTILE)
    worse("b", state="noise")
    answer = client.get("/regressions.csv", {"state": "untriaged"})
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert [(r["config_key"], r["run_id"], r["change"]) for r in rows] == [
        ("a", str(row.run.github_run_id), "-0.09")
    ]
    assert rows[0]["baseline_run_id"] == str(row.baseline.run.github_run_id)
    assert rows[0]["url"].endswith(f"/regressions/{row.pk}")
    worse("=1+1", key_fields={"model": "m"})
    assert "'=1+1" in client.get("/regressions.csv").getvalue().decode()
    factories.JudgementFactory(sweep__config_key__key="better")
    improved = client.get("/regressions.csv", {"show": "improvements"})
    assert "better,8k/1k" in improved.getvalue().decode()


# The page of one


def one(client, row):
    return client.get(row.get_absolute_url())


def test_the_page_shows_numbers_suspects_siblings_and_both_charts(client):
    row = worse(
        "key-a",
        numbers={
            "places": [["TP2", [64]]],
            "verdict": {
                "verdict": "regression",
                "sentence": "regression: -11.1 %",
                "like_for_like": {"change": -0.07, "low": -0.09, "high": -0.05}
                | {"pairs": 3},
                "worst_local": {"loss": 0.111, "deployment": "TP2"}
                | {"concurrency": 64, "x": 60.0},
                "coverage": {"received": 3, "planned": 4, "lost": [["TP2", [256]]]},
                "points": [
                    {"deployment": "TP2", "concurrency": 64, "metric": "tput_per_gpu"}
                    | {"base": 1800.0, "head": 1600.0, "change": -0.111, "z": -9.0}
                    | {"flagged": True, "flag": "worse", "needs_look": False},
                    {"deployment": "TP2", "concurrency": 4, "metric": "p99_ttft"}
                    | {"base": 1.0, "head": 1.4, "change": 0.4, "z": 4.0}
                    | {"flagged": True, "flag": "worse, not deciding"}
                    | {"needs_look": False},
                ],
                "differences": [{"kind": "image", "from": "img:1", "to": "img:2"}],
            },
        },
    )
    judged(row, -0.07)
    for name, change in (("alike", -0.072), ("still", 0.001)):
        sibling = worse(name, run=row.run)
        judged(sibling, change, "regression" if change < 0 else "within noise")
    page = one(client, row)
    text = text_of(page)
    assert [m.config_key for m in page.context["report"].siblings.alike] == ["alike"]
    assert [m.config_key for m in page.context["report"].siblings.others] == ["still"]
    assert "comparison-figure" in text
    assert "history-figure" in text
    assert '<span class="badge badge-bad">worse</span>' in text
    assert '<span class="badge ">worse, not deciding</span>' in text
    assert text.count("is-flagged") == 1
    assert "img:1 → img:2" in text
    assert "lost TP2 c256" in text
    base, head = row.baseline.run.github_run_id, row.run.github_run_id
    assert f"/compare?base={base}&amp;head={head}" in text


def test_what_was_over_before_anybody_looked_is_not_called_untriaged(client):
    over = factories.RunFactory(official=True)
    row = worse("key-a", recovered_by=over, recovered_at=over.created_at)
    for page in (
        one(client, row),
        show(client),
        client.get(reverse("home")),
        client.get(row.run.get_absolute_url()),
        client.get(row.config_key.get_absolute_url()),
    ):
        assertContains(page, '<span class="badge">nobody looked</span>')
        assertNotContains(page, '<span class="badge badge-bad">untriaged</span>')


def test_the_history_is_in_the_order_in_which_it_was_recorded(client):
    over = factories.RunFactory(official=True)
    at = datetime(2026, 8, 2, tzinfo=UTC)
    row = worse("key-a", recovered_by=over, recovered_at=at)
    Run.objects.filter(pk=over.pk).update(stored_at=at + timedelta(days=60))
    type(row).objects.filter(pk=row.pk).update(stored_at=at + timedelta(days=40))
    for day, note in ((90, "later"), (50, "earlier")):
        event = factories.TriageEventFactory(regression=row, note=note)
        type(event).objects.filter(pk=event.pk).update(at=at + timedelta(days=day))
    history = one(client, row).context["report"].history
    said = [line.event.note if line.event else "recovered" for line in history]
    assert said == ["earlier", "recovered", "later"]


def test_a_regression_without_its_sweeps_still_has_its_page(client):
    row = worse("key-a")
    type(row).objects.update(sweep=None, baseline=None)
    page = one(client, row)
    assertContains(page, "One of the two sweeps is not stored any more.")
    assertContains(page, "not known for both sides")


def test_a_place_that_no_sweep_measured_leaves_the_history_of_the_key(client):
    row = worse("a", numbers={"places": [["TP64", [1]]], "verdict": {}})
    assertContains(one(client, row), 'href="/keys/a?scenario=8k%2F1k"')


def test_who_recovered_it_and_where_it_began_is_linked(client):
    over, began = factories.RunFactory.create_batch(2, official=True)
    row = worse("a", recovered_by=over, recovered_at=over.created_at, first_bad=began)
    text = text_of(one(client, row))
    assert f'by <a href="{over.get_absolute_url()}">run {over.github_run_id}' in text
    assert f'<a href="{began.get_absolute_url()}">run {began.github_run_id}' in text


def test_only_performance_has_a_level_and_why_it_has_none_is_said(client):
    row = worse("a")
    few = "(a level needs 10 sweeps, the segment had 2 sweeps then)"
    assertContains(one(client, row), few)
    for day in range(10):
        at = row.baseline.official_at - timedelta(days=day + 1)
        factories.SweepFactory(
            run=factories.RunFactory(official=True, created_at=at),
            config_key=row.config_key,
            state="former",
            official_at=at,
            segment=1,
        )
    shown = "(no fall of the level over several sweeps is shown)"
    assertContains(one(client, row), shown)
    type(row.sweep).objects.filter(pk=row.sweep_id).update(segment=None)
    assertContains(one(client, row), "(the sweep is held, outside the history)")
    type(row).objects.update(kind="coverage")
    assertNotContains(one(client, row), "First bad")


def test_a_speculative_key_looks_as_on_other_pages(client):
    row = worse("a")
    plain = one(client, row).context["comparison"]["data"]
    type(row.sweep).objects.filter(pk=row.sweep_id).update(spec_methods=["mtp"])
    speculative = one(client, row).context["comparison"]["data"]
    assert plain != speculative


def test_what_is_not_stored_is_not_found(client):
    assert client.get("/regressions/1").status_code == 404
    assert client.get("/regressions/1/points.csv").status_code == 404
    assert client.get(f"/regressions/{10**30}").status_code == 404


def test_the_points_come_as_csv(client):
    point = {"deployment": "=TP2", "concurrency": 64, "metric": "tput_per_gpu"}
    row = worse("a", numbers={"places": [], "verdict": {"points": [point]}})
    text = client.get(
        reverse("regression_points", args=[row.pk, "csv"])
    ).content.decode()
    assert "'=TP2,64,tput_per_gpu,,,," in text


def test_strangers_text_is_inert_on_both_pages(client):
    row = worse("key-a", summary=HOSTILE)
    row.run.title = HOSTILE
    row.run.save()
    factories.ChangelogEntryFactory(
        run=row.run,
        raw_keys=["key-a"],
        description=[HOSTILE],
        pr_link="javascript:alert(1)",
        link_state="invalid",
        pr_number=None,
    )
    factories.TriageEventFactory(regression=row, author=HOSTILE, note=HOSTILE)
    for page in (show(client), one(client, row)):
        text = page.content.decode()
        assert "<script>alert" not in text
        assert "\u202e" not in text
        assert "javascript:" not in text


def test_the_page_asks_as_often_whatever_moved(client, django_assert_num_queries):
    row = worse("a")
    judged(row, -0.1)
    with django_assert_num_queries(13):
        one(client, row)
    for n in range(3):
        judged(worse(f"key-{n}", run=row.run), -0.1)
        factories.TriageEventFactory(regression=row)
    with django_assert_num_queries(13):
        one(client, row)


# Decisions


def bulk(client, *rows, **given):
    data = {"regression": [row.pk for row in rows], "back": ""}
    seen = {f"seen_{row.pk}": f"{row.state}|{row.owner_id or ''}" for row in rows}
    return client.post(reverse("triage_regressions"), data | seen | given)


def test_many_are_decided_from_the_list_and_the_filters_stay(member, kim):
    first, second, third = (worse(name) for name in "abc")
    answer = bulk(
        *(member, first, second),
        state="noise",
        owner=str(kim.pk),
        note="flaky host",
        back="kind=performance",
    )
    assert answer.url == "/regressions?kind=performance"
    assertContains(member.get(answer.url), "Stored: 2 changed.")
    for row in (first, second, third):
        row.refresh_from_db()
    assert [row.state for row in (first, second, third)] == [
        *("noise", "noise", "untriaged")
    ]
    assert first.owner == kim
    assert first.events.get().note == "flaky host"


def test_one_is_decided_from_its_page(member):
    row = worse("a")
    address = reverse("triage_regression", args=[row.pk])
    answer = member.post(address, {"state": "infra", f"seen_{row.pk}": "untriaged|"})
    assertRedirects(answer, row.get_absolute_url(), fetch_redirect_response=False)
    page = member.get(answer.url)
    assertContains(page, "Stored: 1 changed.")
    assertContains(page, "<strong>kim</strong>")
    row.refresh_from_db()
    assert row.state == "infra"


def test_what_somebody_else_changed_is_said_and_left_alone(member):
    row = worse("a")
    type(row).objects.update(state="fixed")
    factories.TriageEventFactory(regression=row, author="lee", to_state="fixed")
    answer = bulk(member, row, state="noise", note="my note")
    page = text_of(member.get(answer.url))
    assert f"#{row.pk} was changed by lee meanwhile" in page
    assert "Your note was: my note" in page
    row.refresh_from_db()
    assert row.state == "fixed"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "Choose a state or an owner, or write a note."),
        ({"state": "recovered"}, "The state is one of untriaged"),
        ({"owner": "999"}, "An owner must be one who may triage."),
        ({"note": "x" * 4001}, "at most 4000 characters"),
        ({"regression": []}, "select a regression first"),
        ({"regression": ["x", "9" * 40]}, "select a regression first"),
        ({"regression": list(range(1, 202)), "state": "noise"}, "at most 200 at once"),
    ],
)
def test_odd_decisions_are_refused_with_the_reason(member, given, why):
    row = worse("a")
    answer = bulk(member, row, **given)
    assertContains(member.get(answer.url), why)
    assert not row.events.exists()


def test_a_hostile_way_back_leads_nowhere_else(member):
    row = worse("a")
    for back in ("\r\nSet-Cookie: a=b", "//evil.example", "x" * 9000):
        answer = bulk(member, row, note="n", back=back)
        assert answer.url.startswith("/regressions")
        assert "\n" not in answer.url
        assert len(answer.url) < 3000


def test_strangers_are_led_to_the_login_and_others_refused(client):
    row = worse("a")
    one_address = reverse("triage_regression", args=[row.pk])
    answer = bulk(client, row, state="noise", back="kind=performance")
    assertRedirects(answer, "/login?next=/regressions%3Fkind%3Dperformance")
    assertRedirects(
        client.post(one_address, {"state": "noise"}),
        f"/login?next=/regressions/{row.pk}",
    )
    client.force_login(User.objects.create_user("reader"))
    assert bulk(client, row, state="noise").status_code == 403
    assert client.post(one_address, {"state": "noise"}).status_code == 403
    assertNotContains(show(client), 'name="regression"')
    assertNotContains(one(client, row), 'id="triage_state"')
    row.refresh_from_db()
    assert row.state == "untriaged"


def test_a_forged_form_is_refused(kim):
    row = worse("a")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(kim)
    assert bulk(strict, row, state="noise").status_code == 403
    row.refresh_from_db()
    assert row.state == "untriaged"


def test_opening_decides_nothing(member):
    row = worse("a")
    assert member.get(reverse("triage_regressions")).status_code == 405
    assert member.get(reverse("triage_regression", args=[row.pk])).status_code == 405
    assert (
        member.post(reverse("triage_regression", args=[row.pk + 9])).status_code == 404
    )


# Elsewhere on the site


def test_every_page_counts_what_is_open(client):
    worse("a")
    worse("b", state="investigating")
    worse("c", state="fixed")
    over = factories.RunFactory(official=True)
    worse("d", recovered_by=over, recovered_at=over.created_at)
    for path in ("/", "/runs", "/help", "/nowhere"):
        assert '<span class="nav-count">2<' in client.get(path).content.decode()


def test_the_first_page_counts_and_names_the_newest(client):
    row = worse("a")
    over = factories.RunFactory(official=True)
    worse("b", recovered_by=over, recovered_at=over.created_at)
    factories.JudgementFactory(sweep__config_key__key="better")
    text = text_of(client.get("/"))
    assert "<strong>1 untriaged</strong> of 1 open." in text
    assert "1 recovered before anybody looked." in text
    assert f'<a href="{row.get_absolute_url()}">a 8k/1k</a>' in text
    assert ">better 8k/1k</a>" in text


def test_the_page_of_a_run_lists_what_got_worse_with_it(client):
    row = worse("a")
    text = text_of(client.get(row.run.get_absolute_url()))
    assert f'<a href="{row.get_absolute_url()}">a 8k/1k: performance</a>' in text
    merge = factories.RunFactory(
        official=True, reuse_source_run_id=row.run.github_run_id
    )
    assertContains(client.get(merge.get_absolute_url()), row.get_absolute_url())
    assertNotContains(
        client.get(row.baseline.run.get_absolute_url()), row.get_absolute_url()
    )


def test_a_crowd_of_siblings_is_folded(client):
    row = worse("a")
    judged(row, -0.1)
    for n in range(9):
        judged(worse(f"key-{n}", run=row.run), -0.1)
    assertContains(one(client, row), "<summary>and 3 more</summary>")
