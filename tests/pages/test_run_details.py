"""The details of a run: points, coverage, attempts, provenance, and its download."""

# mypy: allow-untyped-calls

import csv
import io

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from tests import factories
from tests.pages.test_runs import page_of, text_of

pytestmark = pytest.mark.django_db


def attempt_of(client, run, attempt):
    return client.get(reverse("run_attempt", args=[run.github_run_id, attempt]))


def csv_of(client, run):
    answer = client.get(f"/runs/{run.github_run_id}/points.csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


@pytest.fixture
def rerun():
    """Return the sweep of a run of two attempts: one point repeated, one added."""
    sweep = factories.SweepFactory(
        run__attempt=2,
        run__planned_count=3,
        run__received_count=2,
        planned=[["TP2", 4], ["TP2", 64], ["TP2", 512]],
        planned_count=3,
        received_count=2,
    )
    for attempt in (1, 2):
        factories.RunAttemptFactory(run=sweep.run, attempt=attempt)
    points = [(64, 1, False, 100.0), (64, 2, True, 101.0), (4, 1, True, 50.0)]
    for concurrency, attempt, is_current, tput in points:
        factories.PointFactory(
            sweep=sweep,
            concurrency=concurrency,
            attempt=attempt,
            is_current=is_current,
            tput_per_gpu=tput,
        )
    return sweep


def test_points_are_listed_with_what_they_count_as(client, rerun):
    page = page_of(client, rerun.run)
    standings = [
        (point.concurrency, point.attempt, point.standing)
        for _, point, _ in page.context["rows"]
    ]
    assert standings == [
        (4, 1, "current"),
        (64, 1, "superseded"),
        (64, 2, "current"),
    ]
    assert "3 points, 1 of them superseded" in text_of(page)
    assertContains(page, 'title="101.0"')


def test_a_long_table_ends_and_names_its_download(client):
    sweep = factories.SweepFactory()
    for n in range(205):
        factories.PointFactory(sweep=sweep, concurrency=n + 1)
    page = page_of(client, sweep.run)
    assert len(page.context["rows"]) == 200
    assertContains(page, "The first 200; the CSV holds all of them.")
    assert len(csv_of(client, sweep.run)) == 205


def test_download_has_units_every_metric_and_blanks(client, rerun):
    factories.PointFactory(
        sweep=rerun,
        concurrency=512,
        median_ttft=None,
        image="=cmd()",
        extra={"p99_ttft": 0.0},
    )
    rows = csv_of(client, rerun.run)
    assert [row["concurrency"] for row in rows] == ["4", "64", "64", "512"]
    assert (rows[3]["median_ttft_s"], rows[3]["p99_ttft_s"]) == ("", "0.0")
    assert rows[0]["p99_ttft_s"] == ""
    assert rows[3]["image"] == "'=cmd()"
    assert rows[1]["standing"] == "superseded"
    assert rows[1]["run_id"] == str(rerun.run.github_run_id)


def replayed_point(**given):
    facts = {
        "request_accounting": {"records_profiled": 97, "records_error_dropped": 3},
        "stored_interactivity": {"median_intvty": 229.0},
    }
    return factories.PointFactory(
        sweep__scenario="agentic-traces", median_intvty=228.83, facts=facts, **given
    )


def test_request_errors_and_stored_interactivity_are_in_table_and_download(client):
    point = replayed_point()
    run = point.sweep.run
    factories.PointFactory(sweep=point.sweep, concurrency=65)
    (row, other) = csv_of(client, run)
    assert (row["request_errors"], row["request_error_rate"]) == ("3", "0.03")
    assert (row["stored_median_intvty"], other["stored_median_intvty"]) == ("229.0", "")
    assert (other["request_errors"], other["request_error_rate"]) == ("", "")
    page = page_of(client, run)
    assertContains(page, "Request error rate")
    assertContains(page, 'title="228.83, recomputed from latency; stored 229.0"')
    assertContains(page, "3 request errors")


def test_a_point_without_speculation_has_no_acceptance(client):
    sweep = factories.SweepFactory(
        acceptance_source="synthetic_declared", acceptance_length=3.39
    )
    factories.PointFactory(sweep=sweep)
    mtp = factories.DeploymentFactory(spec_method="mtp")
    factories.PointFactory(sweep=sweep, deployment=mtp)
    page = page_of(client, sweep.run)
    # Once on the sweep and once on the point that has it.
    assertContains(page, "synthetic 3.39 (golden)", count=2)
    rows = csv_of(client, sweep.run)
    assert [(r["acceptance"], r["acceptance_length"]) for r in rows] == [
        ("", ""),
        ("synthetic_declared", "3.39"),
    ]


def test_errors_are_counted_of_points_that_count_and_left_out_where_unknown(client):
    point = replayed_point(is_current=False)
    assertNotContains(page_of(client, point.sweep.run), "3 request errors")
    fixed = factories.PointFactory(sweep__scenario="1k/1k").sweep.run
    assertNotContains(page_of(client, fixed), "Request error")


def test_download_of_a_run_without_points_has_headers_alone(client):
    assert csv_of(client, factories.RunFactory()) == []
    assert client.get("/runs/123/points.csv").status_code == 404


def test_download_asks_the_same_queries_for_many_points(
    client, django_assert_num_queries
):
    sweep = factories.SweepFactory()
    for n in range(12):
        factories.PointFactory(sweep=sweep, concurrency=n + 1)
    # Those of the run's report, the points, the generation.
    with django_assert_num_queries(14):
        csv_of(client, sweep.run)


def test_coverage_is_a_grid_of_received_and_missing(client, rerun):
    page = page_of(client, rerun.run)
    (item,) = page.context["report"].sweeps
    assert item.grid.concurrencies == [4, 64, 512]
    assert item.grid.rows == [("TP2", ["received", "received", "missing"])]
    assertContains(page, "2 of 3")


def test_coverage_tells_doubted_excluded_and_unplanned_apart(client):
    sweep = factories.SweepFactory(
        planned=[["TP2", 1], ["TP2", 2], ["TP4", 2]], planned_count=3
    )
    factories.PointFactory(sweep=sweep, concurrency=1, is_out=True)
    factories.PointFactory(
        sweep=sweep, concurrency=2, is_current=False, is_excluded=True
    )
    (item,) = page_of(client, sweep.run).context["report"].sweeps
    assert item.grid.rows == [
        ("TP2", ["off the frontier", "excluded"]),
        ("TP4", ["not planned", "missing"]),
    ]


def test_attempt_page_shows_what_the_attempt_contributed(client, rerun):
    factories.EvalResultFactory(run=rerun.run, attempt=2)
    factories.JobFactory(run=rerun.run, attempt=1, name="gone", conclusion="failure")
    page = text_of(attempt_of(client, rerun.run, 1))
    assert (
        "left 2 points of the run's 3 planned: 1 count today, 1 was superseded" in page
    )
    assert "gone" in page
    assert "left no eval score" in page
    later = attempt_of(client, rerun.run, 2)
    assert [p.concurrency for _, p, _ in later.context["rows"]] == [64]
    assertContains(later, f'href="{rerun.run.get_absolute_url()}"')
    assertNotContains(later, "gone")


def test_run_links_to_its_attempts(client, rerun):
    path = f"/runs/{rerun.run.github_run_id}/attempts/2"
    assertContains(page_of(client, rerun.run), f'href="{path}"')


@pytest.mark.parametrize("attempt", [0, 3, 10**12])
def test_unknown_attempt_is_a_page_with_a_sentence(client, rerun, attempt):
    response = attempt_of(client, rerun.run, attempt)
    assertContains(response, f"has no attempt {attempt}.", status_code=404)


def test_provenance_says_how_config_files_were_chosen(client):
    run = factories.RunFactory(
        snapshot={"amd-master.yaml": ["before", "843c6254aa", "5cd4b21aff"]}
    )
    page = text_of(page_of(client, run))
    assert "amd-master.yaml</strong> at <code>843c6254</code>" in page
    assert "newest stored version before the run" in page


def test_corrections_stay_listed_after_they_are_undone(client):
    run = factories.RunFactory()
    factories.CorrectionFactory(
        run=run,
        reason="bad node",
        undone_at=timezone.now(),
        undone_by="kim",
        undo_reason="node was fine",
    )
    page = text_of(page_of(client, run))
    assert "bad node" in page
    assert "node was fine" in page
    assert "Corrected:" not in page


@pytest.mark.parametrize(
    ("scores", "word"),
    [
        ([], "not measured"),
        ([0.97, 0.96], "intact"),
        ([0.97, 0.93], "in doubt"),
        ([0.97, 0.80], "failed"),
    ],
)
def test_first_screen_says_whether_accuracy_is_intact(client, scores, word):
    run = factories.RunFactory()
    for n, strict in enumerate(scores):
        factories.EvalResultFactory(run=run, concurrency=n + 1, strict=strict)
    report = page_of(client, run).context["report"]
    assert report.accuracy.word == word


@pytest.mark.parametrize(
    ("scores", "planned", "word"),
    [
        ([0.97], None, "intact"),
        ([0.97], 1, "intact"),
        ([0.97], 3, "partly measured"),
        ([0.93], 3, "in doubt"),
        ([0.80], 3, "failed"),
        ([], 3, "not measured"),
    ],
)
def test_accuracy_with_missing_evals_is_not_intact(client, scores, planned, word):
    run = factories.RunFactory(eval_planned_count=planned)
    factories.RunAttemptFactory(run=run)
    for strict in scores:
        for task in ("gsm8k", "gpqa_diamond"):
            factories.EvalResultFactory(run=run, strict=strict, task=task)
    found = page_of(client, run).context["report"].accuracy
    missing = 0 if planned is None else planned - len(scores)
    assert (found.word, found.missing) == (word, missing)
    of_attempt = attempt_of(client, run, 1).context["report"].accuracy
    assert of_attempt.missing == 0


def test_run_without_planned_evals_says_so(client):
    run = factories.RunFactory(eval_planned_count=0)
    assertContains(page_of(client, run), "no eval was planned")


def test_cancelled_jobs_are_told_from_failed_ones_and_recovered_ones(client):
    run = factories.RunFactory(attempt=2)
    for name, attempt, conclusion in (
        ("a", 1, "success"),
        ("a", 2, "cancelled"),
        ("b", 2, "cancelled"),
        ("c", 2, "timed_out"),
    ):
        factories.JobFactory(run=run, name=name, attempt=attempt, conclusion=conclusion)
    page = page_of(client, run)
    report = page.context["report"]
    assert [f.job.name for f in report.failed_jobs] == ["c", "a", "b"]
    assert (report.failed_count, report.cancelled_count) == (1, 2)
    assertContains(page, "1 succeeded in another attempt")
    assertContains(page, "succeeded in attempt 1", count=1)


@pytest.mark.parametrize("state", ["placeholder", "missing", "invalid"])
def test_odd_links_of_the_changelog_are_said_on_the_first_screen(client, state):
    run = factories.RunFactory(pr_number=None)
    for link_state in ("good", state, state):
        factories.ChangelogEntryFactory(run=run, link_state=link_state)
    text = text_of(page_of(client, run))
    note = f'in <a href="#changelog">the changelog</a>: {state} link.'
    assert note in text
    assert text.index(note) < text.index("Did it finish")


def test_the_pull_request_of_the_run_stands_in_for_an_odd_link(client):
    run = factories.RunFactory(pr_number=2801)
    factories.ChangelogEntryFactory(
        run=run, pr_link="XXX", pr_number=None, link_state="placeholder"
    )
    text = text_of(page_of(client, run))
    pull = f'<a href="{run.url.partition("/actions/")[0]}/pull/2801" rel="noopener">'
    assert "PR unknown" not in text
    assert f"(placeholder): the run's own, {pull}PR #2801</a>, stands in." in text
    assert f'{pull}PR #2801</a> <span class="muted">of the run</span>' in text


def test_failed_jobs_link_to_their_log(client):
    job = factories.JobFactory(conclusion="failure", github_job_id=77)
    assertContains(page_of(client, job.run), f'href="{job.run.url}/job/77"')
    job.run.url = "javascript:alert(1)//actions/runs/1"
    job.run.save()
    assertNotContains(page_of(client, job.run), 'href="javascript:')


def test_run_that_is_asked_for_and_not_stored_shows_the_work(client):
    factories.IngestRequestFactory(github_run_id=555, state="running", step="reading")
    page = client.get("/runs/555")
    assertContains(page, "not stored yet", status_code=202)
    assertContains(page, 'hx-get="/requests?run=555&amp;limit=5"', status_code=202)


def test_run_that_could_not_be_stored_says_why(client):
    factories.IngestRequestFactory(
        github_run_id=555, state="failed", error="every artifact has expired"
    )
    page = client.get("/runs/555")
    assertContains(page, "every artifact has expired", status_code=404)
    assertNotContains(page, "hx-get", status_code=404)
