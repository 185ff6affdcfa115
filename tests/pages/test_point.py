"""The page of a point: what it says of any point, and of the requests of a replay."""

# mypy: allow-untyped-calls

import csv
import io
import json

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects

from dashboard import models
from dashboard.models import IngestRequest, RequestTrace
from dashboard.vocabulary.scenarios import AGENTIC
from ingest.progress import silent
from ingest.traces import read_trace
from tests import factories
from tests.pages.test_runs import text_of
from tests.traces import MEMBER, agentic_point, lines, record, warm_up

pytestmark = pytest.mark.django_db

ACCOUNTING = {
    "records_total": 936,
    "records_profiled": 880,
    "records_dropped_total": 56,
    "records_warmup_dropped": 44,
    "records_error_dropped": 20,
    "error_categories": {"http_500": 20},
}


def page_of(client, point, **headers):
    return client.get(reverse("point", args=[point.pk]), headers=headers)


@pytest.fixture
def fixed():
    """An official point of a fixed length, flagged, with its record."""
    return factories.PointFactory(
        sweep=factories.SweepFactory(official=True),
        flags=[["power_invalid", "the check of its power readings failed"]],
        raw_record=factories.RawRecordFactory(body='{"conc":64,"hw":"<b>&"}'),
    )


@pytest.fixture
def replay():
    """An official point of a replay whose requests are in the raw store."""
    content = lines(record(), record(1, 3.0), warm_up(), b"no json")
    return agentic_point(content, facts={"request_accounting": ACCOUNTING})


def test_a_point_says_what_it_is_and_where_from(client, fixed):
    page = page_of(client, fixed)
    text = text_of(page)
    sweep = fixed.sweep
    for said in (
        sweep.config_key.key,
        sweep.checkpoint.name,
        sweep.image,
        fixed.deployment.label,
        f"concurrency {fixed.concurrency}",
        str(sweep.run.github_run_id),
        f"{sweep.measured_at:%Y-%m-%d %H:%M} UTC",
        "the check of its power readings failed",
        "No eval of this deployment is stored",
    ):
        assert said in text, said
    assertContains(page, reverse("point_record", args=[fixed.pk]))


def test_a_fixed_length_shows_what_applies_to_it(client, fixed):
    text = text_of(page_of(client, fixed))
    assert "Time to first token" in text
    assert "Single requests" not in text
    assert "Requests of the replay" not in text
    assert "Theoretical cache hit rate" not in text


def test_what_was_not_measured_is_missing_and_never_zero(client, fixed):
    fixed.metrics = {"tput_per_gpu": 0.0}
    fixed.save()
    page = page_of(client, fixed)
    cells = {
        cell.metric.name: cell.value
        for family in page.context["families"]
        for cell in family.singles
    }
    assert cells["tput_per_gpu"] == 0
    assert cells["output_tput_per_gpu"] is None
    assertContains(page, "None of these was measured.")


def test_the_record_is_given_as_it_is_stored_and_as_no_page(client, fixed):
    answer = client.get(reverse("point_record", args=[fixed.pk]))
    assert answer.content.decode() == fixed.raw_record.body
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("view", ["point", "point_record", "point_requests"])
def test_points_of_a_hidden_run_and_unknown_ones_are_not_there(client, fixed, view):
    fixed.sweep.run.publication = "hidden"
    fixed.sweep.run.save()
    for pk in (fixed.pk, 10**9, 10**30):
        assert client.get(reverse(view, args=[pk])).status_code == 404


def test_a_synthetic_acceptance_is_never_called_measured(client):
    deployment = factories.DeploymentFactory(spec_method="mtp")
    sweep = factories.SweepFactory(
        official=True,
        spec_methods=["mtp"],
        acceptance_source="synthetic_declared",
        acceptance_length=3.39,
        acceptance_evidence="the config sets it",
    )
    point = factories.PointFactory(sweep=sweep, deployment=deployment)
    text = text_of(page_of(client, point))
    assert "synthetic 3.39" in text
    assert "set for the run, not measured" in text
    assert "measured 3.39" not in text


def test_the_same_place_before_and_after_is_listed_with_its_swap(client, fixed):
    former = factories.SweepFactory(official=True, state="former")
    earlier = factories.PointFactory(
        sweep=former, deployment=fixed.deployment, concurrency=fixed.concurrency
    )
    other = factories.PointFactory(sweep=former, concurrency=fixed.concurrency + 1)
    factories.PointFactory(
        sweep=factories.SweepFactory(),
        deployment=fixed.deployment,
        concurrency=fixed.concurrency,
    )
    fixed.sweep.is_swap, fixed.sweep.segment = True, 2
    fixed.sweep.save()
    page = page_of(client, fixed)
    rows = page.context["report"].neighbours
    assert {row.point_id for row in rows} == {fixed.pk, earlier.pk}
    assertContains(page, reverse("point", args=[earlier.pk]))
    assertNotContains(page, reverse("point", args=[other.pk]))
    assert [row.is_swap for row in rows if row.point_id == fixed.pk] == [True]


def test_a_badge_says_whose_state_it_is_and_only_what_is_special(client, fixed):
    models.Sweep.objects.filter(pk=fixed.sweep_id).update(state="former")
    head = page_of(client, fixed).content.decode()
    assert ">former sweep</span>" in head
    assert "current point" not in head
    models.Point.objects.filter(pk=fixed.pk).update(is_current=False)
    assert ">superseded point</span>" in page_of(client, fixed).content.decode()


def test_evals_of_the_deployment_are_judged(client, fixed):
    where = {
        "run": fixed.sweep.run,
        "config_key": fixed.sweep.config_key,
        "scenario": fixed.sweep.scenario,
    }
    factories.EvalResultFactory(**where, deployment=fixed.deployment, concurrency=64)
    apart = factories.DeploymentFactory(tp=8)
    factories.EvalResultFactory(**where, deployment=apart, concurrency=128)
    page = page_of(client, fixed)
    (item,) = page.context["report"].evals
    assert item.judged.result.deployment == fixed.deployment
    assertContains(page, "this one" if fixed.concurrency == 64 else item.judged.outcome)


def test_accounting_is_no_success_rate(client, replay):
    text = text_of(page_of(client, replay))
    assert "936" in text
    assert "Successful / total is no success rate" in text
    assert "0.02222" in text  # 20 / (880 + 20)
    assert "http_500 20" in text


def test_without_an_accounting_nothing_is_counted(client):
    point = agentic_point(None)
    page = page_of(client, point)
    assert "the requests were not counted" in text_of(page)
    assert page.context["report"].errors.dropped is None


def test_requests_are_asked_for_once_and_then_shown(
    client, replay, django_capture_on_commit_callbacks
):
    assertContains(page_of(client, replay), "Read the requests")
    address = reverse("point_requests", args=[replay.pk])
    for _ in range(2):
        answer = client.post(address)
        back = reverse("point", args=[replay.pk])
        assertRedirects(answer, f"{back}#requests", fetch_redirect_response=False)
    asked = IngestRequest.objects.get()
    assert (asked.kind, asked.state) == ("trace", "queued")
    assert asked.target == f"point {replay.pk}"
    page = page_of(client, replay)
    assertContains(page, "waits for a worker")
    assertContains(page, f'hx-get="{address}"')
    read_trace(replay.pk, silent)
    page = page_of(client, replay)
    text = text_of(page)
    assert "Showing all 3 requests" in text
    assert "1 lines that are no JSON object of a request" in text
    assertNotContains(page, f'hx-get="{address}"')


def test_a_part_is_polled_and_says_how_far_it_is(client, replay):
    IngestRequest.objects.create(
        kind="trace",
        target=f"point {replay.pk}",
        state="running",
        step="reading requests",
        progress_done=12,
        progress_total=480,
    )
    address = reverse("point_requests", args=[replay.pk])
    part = client.get(address, headers={"hx-request": "true"})
    assertContains(part, "reading requests, 12 of 480")
    assertNotContains(part, "<html")
    assert "HX-Request" in part["Vary"]


def test_a_failed_reading_says_why_and_may_be_asked_for_again(client, replay):
    IngestRequest.objects.create(
        kind="trace",
        target=f"point {replay.pk}",
        state="failed",
        error="the bytes of its requests are not in the raw store any more",
    )
    page = page_of(client, replay)
    assertContains(page, "not in the raw store any more")
    assertContains(page, "Try again")


def test_a_sample_says_that_it_is_one(client, replay):
    trace = read_trace(replay.pk, silent)
    trace.counts["requests"] = 22_000
    trace.save()
    assert "Showing 3 of 22,000 requests" in text_of(page_of(client, replay))


def test_readers_who_are_not_logged_in_may_not_ask_without_end(
    client, replay, settings
):
    settings.FRONTIERBOARD_FETCHES_PER_CLIENT = 0
    answer = client.post(reverse("point_requests", args=[replay.pk]))
    assert answer.status_code == 429
    assertContains(answer, "limit of fetches", status_code=429)
    assert not IngestRequest.objects.exists()


def test_hostile_names_are_shown_as_text(client):
    hostile = "<script>alert(1)</script>"
    content = lines(record(metadata={"conversation_id": hostile}, error=hostile))
    point = agentic_point(content)
    read_trace(point.pk, silent)
    page = page_of(client, point)
    assertNotContains(page, "<script>alert(1)")
    assertContains(page, "&lt;script&gt;alert(1)")


def test_files_hold_the_same_rows(client, replay):
    read_trace(replay.pk, silent)
    rows = csv_of(client, replay, "requests")
    assert [row["kind"] for row in rows] == ["measured", "warm-up", "measured"]
    assert rows[0]["ttft_s"] == "0.5"
    metrics = {row["metric"]: row for row in csv_of(client, replay, "metrics")}
    assert metrics["tput_per_gpu"]["unit"] == "tok/s/GPU"
    address = reverse("point_history_file", args=[replay.pk, "json"])
    answer = client.get(address)
    assert json.loads(answer.content)["rows"][0]["point_id"] == replay.pk


def csv_of(client, point, what):
    answer = client.get(reverse(f"point_{what}_file", args=[point.pk, "csv"]))
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_files_of_requests_nobody_read_are_not_there(client, replay):
    address = reverse("point_requests_file", args=[replay.pk, "csv"])
    assert client.get(address).status_code == 404


def test_tables_that_know_no_number_find_the_point(client, fixed):
    sweep = fixed.sweep
    asked = {
        "run": sweep.run.github_run_id,
        "key": sweep.config_key.key,
        "scenario": sweep.scenario,
        "deployment": fixed.deployment.label,
        "concurrency": fixed.concurrency,
    }
    answer = client.get(reverse("point_at"), asked)
    assertRedirects(answer, reverse("point", args=[fixed.pk]))
    assert (
        client.get(reverse("point_at"), asked | {"concurrency": 7}).status_code == 404
    )
    bad = client.get(reverse("point_at"), asked | {"run": "x"})
    assert bad.status_code == 400
    assert b"run: Enter a whole number" in bad.content


def test_run_and_frontier_lead_to_the_point(client, fixed):
    address = reverse("point", args=[fixed.pk])
    run = client.get(reverse("run", args=[fixed.sweep.run.github_run_id]))
    assertContains(run, f'href="{address}"')
    frontier = client.get(reverse("inference"))
    assertContains(frontier, f'href="{address}"')


@pytest.mark.parametrize("others", [0, 12])
def test_queries_do_not_grow_with_the_history(
    client, replay, others, django_assert_num_queries
):
    for n in range(others):
        sweep = factories.SweepFactory(scenario=AGENTIC, official=True, state="former")
        factories.PointFactory(sweep=sweep, deployment=replay.deployment, concurrency=4)
        factories.EvalResultFactory(
            run=replay.sweep.run,
            config_key=replay.sweep.config_key,
            scenario=AGENTIC,
            deployment=replay.deployment,
            concurrency=n + 1,
        )
    read_trace(replay.pk, silent)
    assert RequestTrace.objects.get().member == MEMBER
    # Point, raw artifact, reading, neighbours, prices, evals, freshness; where there
    # are evals: points of the sweep, floors.
    with django_assert_num_queries(9 if others else 7):
        page_of(client, replay)
