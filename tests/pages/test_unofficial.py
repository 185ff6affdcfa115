"""Runs over the official lines: what is drawn, said, fetched and refused."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone
from plotly.graph_objects import Figure

from dashboard.models import Fetch, IngestRequest
from tests.factories import (
    ArtifactFactory,
    ConfigKeyFactory,
    EvalResultFactory,
    IngestRequestFactory,
    RunAttemptFactory,
    RunFactory,
    SkipFactory,
    SweepFactory,
)
from tests.pages.builders import add_points, curve, official_sweep
from tests.pages.test_inference import figure_of

pytestmark = pytest.mark.django_db

BETTER = [(4, 190.0, 320.0), (16, 130.0, 950.0), (64, 50.0, 100.0)]
KEY = "qwen3.5-fp4-mi355x-sglang"


def overlaid(key: str = KEY, **given: Any) -> Any:
    """Make an unofficial run with a sweep of three points, one of them dominated."""
    run = RunFactory(**given.pop("run_fields", {}))
    config_key = ConfigKeyFactory(key=key, **given.pop("key_fields", {}))
    sweep = SweepFactory(run=run, config_key=config_key, **given)
    add_points(sweep, BETTER)
    run.received_count = run.planned_count = 3
    run.save()
    return run


def text_of(client, query: str) -> str:
    return " ".join(client.get(f"/inference{query}").content.decode().split())


def test_a_run_can_be_put_beside_the_others_and_keeps_those_there(client):
    curve(KEY)
    first, second = overlaid(), overlaid()
    asked = f"?unofficialruns={first.github_run_id}"
    page = text_of(client, asked)
    assert '<label for="filter-run">Beside these, the run</label>' in page
    page = text_of(client, f"{asked}&unofficialRun={second.github_run_id}")
    kept = f'value="{first.github_run_id},{second.github_run_id}"'
    assert f'name="unofficialruns" form="filters" {kept}' in page


def traces(figure, run) -> dict[str, Any]:
    return {
        trace["meta"]["role"]: trace
        for trace in figure["data"]
        if trace["meta"]["key"] == f"{KEY} of run {run.github_run_id}"
    }


def test_overlay_has_its_own_frontier_and_leaves_the_official_one_alone(client):
    curve(KEY)
    before = figure_of(client)["data"]
    run = overlaid()
    figure = figure_of(client, f"?unofficialRun={run.github_run_id}")
    official = [t for t in figure["data"] if t["meta"]["key"] == KEY]
    assert official == before
    drawn = traces(figure, run)
    assert drawn["overlay"]["x"] == [130, 190]
    assert drawn["overlay-dominated"]["x"] == [50]
    assert drawn["overlay"]["marker"]["symbol"] == "x"
    assert drawn["overlay"]["line"]["dash"] == "7px,4px"
    assert f"run {run.github_run_id}" in drawn["overlay"]["name"]
    Figure({"data": figure["data"], "layout": figure["layout"]})


def test_each_run_has_one_colour_that_no_official_line_has(client):
    curve(KEY)
    runs = [overlaid(), overlaid()]
    ids = ",".join(str(run.github_run_id) for run in runs)
    figure = figure_of(client, f"?unofficialRun={ids}")
    colours = [traces(figure, run)["overlay"]["meta"]["light"] for run in runs]
    official = {t["meta"]["light"] for t in figure["data"] if t["meta"]["key"] == KEY}
    assert len({*colours, *official}) == 3


def test_page_opens_on_what_the_run_measured(client):
    curve("large")
    run = overlaid(
        "agentic-key",
        key_fields={"model": "dsr1", "precision": "fp8"},
        scenario="agentic-traces",
        precision="fp8",
    )
    chosen = client.get(f"/inference?unofficialRun={run.github_run_id}").context[
        "chosen"
    ]
    assert (chosen.model, chosen.scenario) == ("DeepSeek-R1-0528", "agentic-traces")
    assert chosen.filters.precision == ("fp8",)
    assert chosen.x == "p90_intvty"


def test_named_filters_win_and_the_page_says_what_they_hide(client):
    curve("large")
    run = overlaid("other", key_fields={"model": "dsr1"}, scenario="1k/1k")
    page = text_of(
        client, f"?unofficialRun={run.github_run_id}&model=qwen3.5&scenario=8k/1k"
    )
    assert (
        f"Run {run.github_run_id} has nothing for this model, scenario or filter"
    ) in page
    assert "model=DeepSeek-R1-0528&amp;scenario=1k/1k" in page


def test_all_precisions_can_be_asked_for(client):
    curve(KEY)
    official_sweep("fp8-key", precision="fp8", key_fields={"precision": "fp8"})
    run = overlaid()
    query = f"?unofficialRun={run.github_run_id}"
    text = text_of(client, query)
    assert "Only fp4 is shown, as measured." in text
    assert "Show all precisions" in text
    chosen = client.get(f"/inference{query}&precision=all").context["chosen"]
    assert chosen.filters.precision == ()


def test_overlay_without_any_official_sweep_is_drawn_alone(client):
    run = overlaid()
    query = f"?unofficialRun={run.github_run_id}"
    assert traces(figure_of(client, query), run)
    assert "No official line to compare with" in text_of(client, query)


def test_banner_says_what_the_run_is_and_how_far_it_came(client):
    run = overlaid(
        run_fields={"title": "Fuse <b>it</b>", "branch": "a/b", "pr_number": 7}
    )
    run.planned_count, run.conclusion = 5, "cancelled"
    run.save()
    EvalResultFactory(run=run)
    EvalResultFactory(run=run, concurrency=128, strict=0.5, flexible=0.5, score=0.5)
    page = text_of(client, f"?unofficialRun={run.github_run_id}")
    for said in (
        "Fuse &lt;b&gt;it&lt;/b&gt;",
        "a/b",
        "PR #7",
        run.sha[:8],
        "attempt 1",
        "3 of 5 points",
        "cancelled, 2 missing",
        "1 of 2 evals passed",
        "unofficial",
        run.get_absolute_url(),
    ):
        assert said in page


def test_attempt_of_the_link_is_honoured(client):
    curve(KEY)
    run = overlaid()
    RunAttemptFactory(run=run, attempt=2, conclusion="failure")
    sweep = run.sweeps.get()
    add_points(sweep, [(8, 99.0, 999.0)], attempt=2)
    url = f"https://github.com/example/bench/actions/runs/{run.github_run_id}"
    figure = figure_of(client, f"?unofficialRun={url}/attempts/2")
    assert traces(figure, run)["overlay"]["x"] == [99]
    page = text_of(client, f"?unofficialRun={url}/attempts/2")
    assert "1 of 3 points" in page
    assert "failure" in page


def test_official_run_is_drawn_once_and_says_so(client):
    sweep = curve(KEY)
    run_id = sweep.run.github_run_id
    figure = figure_of(client, f"?unofficialRun={run_id}")
    assert [t["meta"]["key"] for t in figure["data"]] == [KEY]
    page = text_of(client, f"?unofficialRun={run_id}")
    assert "Drawn once, as the official line" in page
    assert "run of this link" in page


def test_former_official_run_is_drawn_as_overlay_and_called_official(client):
    curve(KEY)
    former = SweepFactory(
        config_key=ConfigKeyFactory(key=KEY),
        run=RunFactory(official=True),
        state="former",
        official_at=datetime(2026, 7, 1, tzinfo=UTC),
    )
    add_points(former, BETTER)
    query = f"?unofficialRun={former.run.github_run_id}"
    assert traces(figure_of(client, query), former.run)
    rows = list(csv.DictReader(io.StringIO(csv_of(client, query))))
    assert {row["publication"] for row in rows} == {"official"}


def test_merge_run_and_its_source_are_drawn_once(client):
    source = overlaid()
    merge = RunFactory(official=True, reuse_source_run_id=source.github_run_id)
    query = f"?unofficialRun={merge.github_run_id},{source.github_run_id}"
    figure = figure_of(client, query)
    assert len([t for t in figure["data"] if t["meta"]["role"] == "overlay"]) == 1
    assert f"measured in {source.github_run_id}" in text_of(client, query)


def test_hidden_run_is_said_and_not_drawn(client):
    curve(KEY)
    run = overlaid(run_fields={"publication": "hidden"})
    query = f"?unofficialRun={run.github_run_id}"
    assert "A person took this run out" in text_of(client, query)
    assert not traces(figure_of(client, query), run)


def test_run_without_a_usable_point_says_why_and_that_it_has_evals(client):
    curve(KEY)
    run = RunFactory(planned_count=41)
    SweepFactory(run=run, config_key=ConfigKeyFactory(key=KEY))
    SkipFactory.create_batch(3, run=run)
    EvalResultFactory(run=run)
    page = text_of(client, f"?unofficialRun={run.github_run_id}")
    assert (
        "No usable throughput point: 3 rows with zero successful requests, "
        "38 of 41 jobs without a row."
    ) in page
    assert "It has 1 eval" in page
    assert "Not taken: 3" in page
    # Nothing of it is in the chart, so its caption explains no violet.
    assert "Violet, dashed" not in page
    drawn = overlaid()
    assert "Violet, dashed" in text_of(client, f"?unofficialRun={drawn.github_run_id}")


def csv_of(client, query: str) -> str:
    return str(client.get(f"/inference.csv{query}").content.decode())


def test_table_and_csv_hold_the_overlay_first_and_marked(client):
    curve(KEY)
    run = overlaid()
    query = f"?unofficialRun={run.github_run_id}"
    rows = list(csv.DictReader(io.StringIO(csv_of(client, query))))
    assert [row["publication"] for row in rows] == ["unofficial"] * 3 + ["official"] * 4
    assert {row["run_id"] for row in rows[:3]} == {str(run.github_run_id)}
    answer = client.get(f"/inference{query}")
    assert [row.publication for row in answer.context["rows"]][:4] == [
        *["unofficial"] * 3,
        "official",
    ]
    assert "Publication" in answer.content.decode()
    assert "Publication</th>" not in client.get("/inference").content.decode()


def test_files_carry_the_watermark_only_with_an_overlay(client):
    curve(KEY)
    run = overlaid()
    mark = f"unofficial run {run.github_run_id}"
    query = f"?unofficialRun={run.github_run_id}"
    figure = client.get(f"/inference.json{query}").json()
    assert figure["layout"]["annotations"][0]["text"] == mark
    assert mark in client.get(f"/inference.html{query}").content.decode()
    alone = client.get(f"/inference{query}").context["alone"]
    assert alone["annotations"][0]["text"] == mark
    assert mark not in client.get("/inference.json").content.decode()


def test_dismissing_rewrites_the_link(client):
    curve(KEY)
    first, second = overlaid(), overlaid()
    ids = (first.github_run_id, second.github_run_id)
    page = text_of(client, f"?unofficialRun={ids[0]},{ids[1]}&logx=1")
    assert f'href="/inference?logx=1&amp;unofficialruns={ids[1]}"' in page
    assert 'href="/inference?logx=1">Dismiss all' in page


def test_filters_keep_the_runs(client):
    curve(KEY)
    run = overlaid()
    page = text_of(client, f"?UnofficialRun={run.github_run_id}")
    assert (
        '<input type="hidden" name="unofficialruns" form="filters" '
        f'value="{run.github_run_id}">'
    ) in page


def test_bad_ids_are_named_and_hide_no_good_one(client):
    curve(KEY)
    run = overlaid()
    answer = client.get(f"/inference?unofficialRun=abc,{run.github_run_id}")
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "unofficialRun: abc is no run id" in page
    assert traces(figure_of(client, f"?unofficialRun=abc,{run.github_run_id}"), run)
    refused = client.get("/inference?unofficialRun=abc")
    assert refused.status_code == 400
    assert "abc is no run id" in refused.content.decode()


def test_twentyfive_ids_show_eight_and_name_the_rest(client):
    ids = ",".join(str(n) for n in range(1, 26))
    answer = client.get(f"/inference?unofficialRun={ids}")
    assert answer.status_code == 200
    assert "at most 8 runs are shown at once" in answer.content.decode()
    assert IngestRequest.objects.count() == 8


# Fetching


def test_unknown_run_is_asked_for_once_and_followed(client):
    curve(KEY)
    for _ in range(3):
        page = text_of(client, "?unofficialRun=12345")
    (asked,) = IngestRequest.objects.all()
    assert (asked.github_run_id, asked.repository) == (
        12345,
        "SemiAnalysisAI/InferenceX",
    )
    assert "queued" in page
    assert 'hx-trigger="load delay:' in page
    assert figure_of(client, "?unofficialRun=12345")["data"]


def test_repository_of_an_address_is_asked(client):
    text_of(client, "?unofficialRun=https://github.com/o/r/actions/runs/5")
    assert IngestRequest.objects.get().repository == "o/r"


def polled(client, query: str, waiting: str) -> Any:
    headers = {"HX-Request": "true", "HX-Target": "asked", "X-Waiting": waiting}
    return client.get(f"/inference{query}", headers=headers)


def test_progress_is_polled_and_turns_into_the_view(client):
    curve(KEY)
    asked = IngestRequestFactory(
        kind="run",
        github_run_id=555,
        repository="SemiAnalysisAI/InferenceX",
        state="running",
        step="artifacts",
        progress_done=12,
        progress_total=41,
    )
    answer = polled(client, "?unofficialRun=555", "555")
    assert "12 of 41 artifacts" in " ".join(answer.content.decode().split())
    assert "HX-Retarget" not in answer
    assert "<table" not in answer.content.decode()
    run = overlaid(run_fields={"github_run_id": 555})
    IngestRequest.objects.filter(pk=asked.pk).update(
        state="done", finished_at=timezone.now()
    )
    answer = polled(client, "?unofficialRun=555", "555")
    assert answer["HX-Retarget"] == "#view"
    assert run.title in answer.content.decode()
    assert "X-Waiting" not in answer.content.decode()


@pytest.mark.parametrize(
    "error",
    [
        "run 555 was not found in SemiAnalysisAI/InferenceX",
        "GitHub's rate limit is reached; it ends at 2026-09-01 10:00:00 UTC",
    ],
)
def test_failed_fetch_says_its_line_and_keeps_the_page(client, error):
    curve(KEY)
    IngestRequestFactory(
        kind="run",
        github_run_id=555,
        repository="SemiAnalysisAI/InferenceX",
        state="failed",
        error=error,
        finished_at=timezone.now(),
    )
    answer = client.get("/inference?unofficialRun=555")
    page = " ".join(answer.content.decode().split())
    assert answer.status_code == 200
    assert error.replace("'", "&#x27;") in page
    assert "Nothing of it is stored" in page
    assert answer.context["figure"]


def stored_whole(run, age: timedelta, **given: Any) -> None:
    Fetch.objects.create(
        run=run, fetched_at=timezone.now() - age, is_complete=True, **given
    )


def test_old_copy_is_shown_at_once_and_refreshed_meanwhile(client, settings):
    settings.GITHUB_TOKEN = "token"  # noqa: S105
    run = overlaid(run_fields={"created_at": timezone.now() - timedelta(days=2)})
    stored_whole(run, timedelta(days=1))
    page = text_of(client, f"?unofficialRun={run.github_run_id}")
    assert IngestRequest.objects.get().github_run_id == run.github_run_id
    assert "being refreshed" in page
    assert traces(figure_of(client, f"?unofficialRun={run.github_run_id}"), run)


@pytest.mark.parametrize(
    ("made", "fetched"), [(2, timedelta(minutes=1)), (200, timedelta(days=100))]
)
def test_copy_that_is_fresh_or_cannot_change_is_not_refreshed(
    client, settings, made, fetched
):
    settings.GITHUB_TOKEN = "token"  # noqa: S105
    run = overlaid(run_fields={"created_at": timezone.now() - timedelta(days=made)})
    stored_whole(run, fetched)
    text_of(client, f"?unofficialRun={run.github_run_id}")
    assert not IngestRequest.objects.exists()


def test_expired_artifacts_are_dated_and_the_stored_copy_shown(client):
    run = overlaid()
    stored_whole(run, timedelta(days=100))
    ArtifactFactory(
        run=run, expired=True, expires_at=datetime(2026, 11, 20, tzinfo=UTC)
    )
    copied = timezone.now() - timedelta(days=100)
    page = text_of(client, f"?unofficialRun={run.github_run_id}")
    assert "expired on 2026-11-20; showing the stored copy of" in page
    assert f"{copied:%Y-%m-%d}" in page


def test_results_that_expired_unfetched_are_the_reason_and_no_job_is_blamed(client):
    run = RunFactory(conclusion="success", planned_count=41, received_count=0)
    expiry = {"expired": True, "expires_at": datetime(2026, 11, 9, tzinfo=UTC)}
    gone = ArtifactFactory(run=run, state="expired", **expiry)
    ArtifactFactory(run=run, state="listed", **expiry)
    SkipFactory(run=run, artifact=gone, reason="expired_artifact")
    page = text_of(client, f"?unofficialRun={run.github_run_id}")
    why = (
        "No usable throughput point: 1 artifact with its results expired on GitHub "
        "on 2026-11-09 before they were fetched"
    )
    assert why in page
    assert '<span class="badge">success, 41 missing</span>' in page
    assert "2 artifacts expired on 2026-11-09, 1 of them with records" in page
    assert "without a row" not in page
    assert "Not taken" not in page
    own = client.get(run.get_absolute_url()).content.decode()
    assert why in own
    assert "without a row" not in own


def test_a_success_that_lost_points_warns(client):
    run = overlaid(run_fields={"conclusion": "success"})
    run.planned_count = 5
    run.save()
    page = text_of(client, f"?unofficialRun={run.github_run_id}")
    assert '<span class="badge badge-warn">success, 2 missing</span>' in page


def test_limit_per_client_is_said_and_stored_runs_are_still_shown(client, settings):
    settings.FRONTIERBOARD_FETCHES_PER_CLIENT = 2
    run = overlaid()
    for run_id in (1, 2):
        text_of(client, f"?unofficialRun={run_id}")
    page = text_of(client, f"?unofficialRun=3,{run.github_run_id}")
    assert IngestRequest.objects.count() == 2
    assert "The limit of fetches per hour for one reader is reached" in page
    assert traces(figure_of(client, f"?unofficialRun={run.github_run_id}"), run)
    text_of(client, "?unofficialRun=1")
    other = client.get("/inference?unofficialRun=3", REMOTE_ADDR="10.0.0.9")
    assert "is reached" not in other.content.decode()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("10.0.0.9", "10.0.0.9:40112"),
        ("10.0.0.9", "::ffff:10.0.0.9"),
        ("10.0.0.9", "[::ffff:10.0.0.9]:40112"),
        ("2001:db8::1", "[2001:db8::2]:40112"),
        ("2001:db8::1", "6.6.6.6, 2001:db8:0:0:ffff::"),
    ],
)
def test_a_client_is_one_however_the_proxy_writes_it(client, settings, first, second):
    settings.FRONTIERBOARD_TRUST_PROXY = True
    settings.FRONTIERBOARD_FETCHES_PER_CLIENT = 1
    for run_id, seen in ((1, first), (2, second)):
        sent = {"X-Forwarded-For": seen}
        client.get(f"/inference?unofficialRun={run_id}", headers=sent)
    assert [asked.github_run_id for asked in IngestRequest.objects.all()] == [1]


def test_ipv4_clients_written_as_ipv6_do_not_share_a_limit(client, settings):
    settings.FRONTIERBOARD_FETCHES_PER_CLIENT = 1
    for n in (1, 2):
        address = f"::ffff:10.0.0.{n}"
        client.get(f"/inference?unofficialRun={n}", REMOTE_ADDR=address)
    assert IngestRequest.objects.count() == 2


@pytest.mark.parametrize("page", ["inference", "evaluation"])
def test_head_of_a_link_asks_for_nothing(client, page):
    assert client.head(f"/{page}?unofficialRun=12345").status_code == 200
    assert not IngestRequest.objects.exists()


def test_limit_of_all_counts_every_client_and_nobody_who_is_logged_in(client, settings):
    settings.FRONTIERBOARD_FETCHES_PER_HOUR = 2
    for n in (1, 2, 3):
        answer = client.get(f"/inference?unofficialRun={n}", REMOTE_ADDR=f"10.0.0.{n}")
    assert "for all readers is reached" in answer.content.decode()
    client.force_login(User.objects.create_user("kim"))
    text_of(client, "?unofficialRun=4")
    assert IngestRequest.objects.filter(github_run_id=4).exists()


def test_a_moment_after_somebody_asked_the_page_waits_instead_of_asking(client):
    cache.add("asking:77", 1, 5)
    page = text_of(client, "?unofficialRun=77")
    assert "queued" in page
    assert not IngestRequest.objects.exists()


def test_query_count_does_not_grow_with_the_size_of_runs(
    client, django_assert_max_num_queries
):
    curve(KEY)
    runs = [overlaid() for _ in range(3)]
    for run in runs:
        EvalResultFactory(run=run)
        SkipFactory.create_batch(20, run=run)
    ids = ",".join(str(run.github_run_id) for run in runs)
    with django_assert_max_num_queries(36):
        client.get(f"/inference?unofficialRun={ids}")
    with django_assert_max_num_queries(27):  # the verdicts are kept
        client.get(f"/inference?unofficialRun={ids}")
