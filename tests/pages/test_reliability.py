"""The page of reliability: what counts, the order, days, links, files."""

# mypy: allow-untyped-calls

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from tests import factories

pytestmark = pytest.mark.django_db
PAGE = "/reliability"
DAY = datetime(2026, 8, 3, 12, tzinfo=UTC)


def jobs(run, *, hardware="mi355x", **outcomes):
    """Store so many jobs of a run by outcome; ``retried`` succeeded after a retry."""
    retried = outcomes.pop("retried", 0)
    place = {"run": run, "hardware": hardware, "cluster": f"{hardware}-x"}
    for outcome, count in outcomes.items():
        factories.BenchmarkJobFactory.create_batch(count, outcome=outcome, **place)
    factories.BenchmarkJobFactory.create_batch(
        retried, is_after_retry=True, attempt=2, failed_attempts=1, **place
    )


def run(day=0, **changes):
    changes = {"official": True, **changes}
    return factories.RunFactory(created_at=DAY + timedelta(days=day), **changes)


def rows(client, path="/reliability.csv"):
    text = client.get(path).getvalue().decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_worst_is_first_with_rate_interval_and_n(client):
    one = run()
    jobs(one, hardware="h200", succeeded=9, failed=1)
    jobs(one, hardware="b200", succeeded=1, failed=1)
    found = rows(client)
    assert [row["hardware"] for row in found] == ["b200", "h200"]
    assert (found[1]["rate"], found[1]["n"]) == ("0.9", "10")
    assert float(found[1]["rate_low"]) == pytest.approx(0.5958, abs=1e-4)
    page = client.get(PAGE)
    assertContains(page, "90.00 %")
    assertContains(page, "59.58 % to 98.21 %")


def test_a_retried_job_counts_once_as_a_success_and_is_told(client):
    jobs(run(), retried=1, succeeded=2, failed=1)
    (row,) = rows(client)
    assert (row["succeeded"], row["after_retry"], row["n"]) == ("3", "1", "4")
    assertContains(client.get(PAGE), "1 succeeded only after a retry")


def test_cancelled_and_skipped_are_shown_and_in_no_rate(client):
    jobs(run(), succeeded=3, failed=1, cancelled=4, skipped=5, unfinished=6)
    (row,) = rows(client)
    assert (row["rate"], row["n"]) == ("0.75", "4")
    assert (row["cancelled"], row["skipped"], row["unfinished"]) == ("4", "5", "6")
    page = client.get(PAGE)
    assertContains(page, "4 cancelled, 5 skipped, 6 unfinished")
    assertContains(page, "Cancelled, skipped and unfinished jobs are shown beside it")


def test_a_group_whose_jobs_all_were_cancelled_has_no_rate(client):
    jobs(run(), cancelled=2)
    (row,) = rows(client)
    assert (row["rate"], row["rate_low"], row["n"]) == ("", "", "0")
    page = client.get(PAGE)
    assertContains(page, "none ended")
    assertContains(page, "No job succeeded or failed in this time.")


def test_unofficial_jobs_are_behind_a_switch_and_hidden_runs_nowhere(client):
    jobs(run(), hardware="h100", succeeded=1)
    jobs(run(official=False), hardware="h200", failed=1)
    jobs(run(official=False, publication="hidden"), hardware="b200", failed=1)
    assert [row["hardware"] for row in rows(client)] == ["h100"]
    found = rows(client, "/reliability.csv?runs=unofficial")
    assert [row["hardware"] for row in found] == ["h200"]
    assert found[0]["publication"] == "unofficial"


@pytest.mark.parametrize(
    ("by", "column", "name"),
    [
        ("hardware", "hardware", "mi355x"),
        ("cluster", "cluster", "mi355x-x"),
        ("key", "config_key", "qwen3.5-fp4-mi355x-sglang"),
    ],
)
def test_jobs_are_grouped_by_gpu_cluster_or_key(client, by, column, name):
    jobs(run(), succeeded=1)
    (row,) = rows(client, f"/reliability.csv?by={by}")
    assert row[column] == name
    assertContains(client.get(f"{PAGE}?by={by}"), f"group={name}")


def test_jobs_that_fit_nowhere_are_unknown_and_not_lost(client):
    factories.BenchmarkJobFactory(run=run(), config_key="", cluster="")
    (row,) = rows(client, "/reliability.csv?by=key")
    assert (row["config_key"], row["n"]) == ("", "1")
    assertContains(client.get(f"{PAGE}?by=key"), ">unknown<")


def test_both_ends_of_the_days_count(client):
    for day in range(4):
        jobs(run(day), succeeded=1)
    (row,) = rows(client, "/reliability.csv?from=2026-08-04&to=2026-08-05")
    assert (row["runs"], row["from"], row["to"]) == ("2", "2026-08-04", "2026-08-05")
    (row,) = rows(client, "/reliability.csv?from=0001-01-01&to=9999-12-31")
    assert row["runs"] == "4"


def test_the_last_days_are_counted_back_from_today(client, time_machine):
    time_machine.move_to(DAY + timedelta(days=9))
    for day in (0, 3, 9):
        jobs(run(day), succeeded=1)
    (row,) = rows(client, "/reliability.csv?days=7")
    assert row["runs"] == "2"
    assert (row["from"], row["to"]) == ("2026-08-06", "2026-08-12")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("from=2026-09-02&to=2026-09-01", "2026-09-02 is after to, 2026-09-01"),
        ("from=yesterday", "not a date such as 2026-08-31"),
        ("to=2026-02-30", "not a date such as 2026-08-31"),
        ("days=8", "Allowed: 7, 30, 90"),
        ("days=7&from=2026-08-01", "give either days, or from and to"),
        ("by=planet", "Allowed: hardware, cluster, key"),
        ("runs=all", "Allowed: official, unofficial"),
        ("order=best", "Allowed: worst, failed, jobs, name"),
        ("group=%00", "Null characters are not allowed"),
    ],
)
def test_what_is_not_understood_is_named_on_page_file_and_interface(
    client, query, said
):
    for path in (PAGE, "/reliability.json", "/reliability/trend.csv"):
        answer = client.get(f"{path}?{query}")
        assert answer.status_code == 400
        assert said in answer.content.decode()
    if "days" not in query:
        answer = client.get(f"/api/v1/job-success?{query}")
        assert answer.status_code == 400
        assert answer.json()["error"]["parameter"] == query.partition("=")[0]


def test_runs_with_failures_are_linked_newest_first(client):
    for day in range(5):
        jobs(run(day, github_run_id=9000 + day), failed=1, succeeded=1)
    jobs(run(6, github_run_id=9006), succeeded=1)
    (row,) = rows(client)
    assert row["runs_with_failures"] == "5"
    assert row["newest_failing"] == "9004; 9003; 9002"
    page = client.get(PAGE)
    for run_id in (9004, 9003, 9002):
        assertContains(page, f'href="{reverse("run", args=[run_id])}#jobs"')
    listed = rows(client, "/reliability/runs.csv")
    assert [found["run_id"] for found in listed] == [
        str(9000 + n) for n in range(4, -1, -1)
    ]
    assert "c" in listed[0]["failed_jobs"]


def test_one_group_is_shown_alone_with_its_runs(client):
    bad, good = run(), run(1)
    jobs(bad, hardware="h200", failed=1)
    jobs(good, hardware="h100", failed=1)
    page = client.get(f"{PAGE}?group=h200")
    assertContains(page, bad.github_run_id)
    assertNotContains(page, good.github_run_id)


def test_the_trend_has_all_jobs_and_each_group_by_period(client):
    jobs(run(0), hardware="h200", succeeded=1, failed=1)
    jobs(run(2), hardware="h100", succeeded=1)
    found = rows(client, "/reliability/trend.csv")
    told = [(r["from_day"], r["hardware"], r["is_all_jobs"], r["rate"]) for r in found]
    assert told == [
        ("2026-08-03", "", "True", "0.5"),
        ("2026-08-03", "h200", "False", "0.5"),
        ("2026-08-05", "", "True", "1.0"),
        ("2026-08-05", "h100", "False", "1.0"),
    ]
    page = client.get(PAGE)
    # A day without jobs is a gap, not a zero.
    assert page.context["figure"]["data"][0]["y"] == [0.5, None, 1.0]
    assertContains(page, "no job")


def test_what_runs_counted_themselves_stands_apart_with_its_own_rule(client):
    one = run()
    factories.RunStatFactory(run=one, raw_key="b200-dgxc", hardware="b200")
    factories.RunStatFactory(run=one, raw_key="b200-cw", hardware="b200")
    factories.RunStatFactory(
        run=one, raw_key="h100-cw", hardware="h100", total=0, successes=0
    )
    (row,) = rows(client, "/reliability/run-stats.csv")
    assert (row["hardware"], row["succeeded"], row["total"]) == ("b200", "16", "18")
    found = rows(client, "/reliability/run-stats.csv?by=cluster")
    assert {row["cluster"] for row in found} == {"b200-dgxc", "b200-cw"}
    assertContains(client.get(PAGE), "cancelled jobs are in its total")
    assert rows(client, "/reliability/run-stats.csv?by=key") == []


def test_json_and_interface_tell_the_rows_of_the_page(client):
    jobs(run(), hardware="h200", succeeded=2, failed=1)
    jobs(run(1), hardware="h100", succeeded=2, retried=1, cancelled=1)
    told = json.loads(client.get("/reliability.json").content)
    assert told["about"]["generation"] == 0
    assert [row["hardware"] for row in told["rows"]] == ["h200", "h100"]
    body = client.get("/api/v1/job-success").json()
    assert [group["group"] for group in body["groups"]] == ["h200", "h100"]
    for row, group in zip(told["rows"], body["groups"], strict=True):
        for name in ("succeeded", "failed", "n", "rate", "cancelled", "after_retry"):
            assert row[name] == group[name]
    assert body["total"]["n"] == 6
    assert len(body["trend"]) == 4


def test_the_interface_refuses_days_that_mean_another_time_tomorrow(client):
    answer = client.get("/api/v1/job-success?days=7")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "unknown_parameter"


def test_the_permalink_names_the_days(client):
    jobs(run(), succeeded=1)
    jobs(run(3), succeeded=1)
    page = client.get(f"{PAGE}?by=cluster&days=")
    link = page.context["permalink"].address
    assert link.endswith("/reliability?by=cluster&from=2026-08-03&to=2026-08-06")
    assertContains(page, "It names the first and the last day.")


def test_an_empty_page_says_what_is_missing(client):
    assertContains(client.get(PAGE), "No benchmark job of an official run is stored")
    assertContains(
        client.get(f"{PAGE}?group=h200"), "No benchmark job matches: group h200"
    )


def test_runs_from_before_jobs_were_counted_are_said(client):
    one = run()
    factories.JobFactory(run=one, name="canary / / p1 | qwen3.5 fp4 h200 sgl TP2 c4")
    assertContains(client.get(PAGE), "1 run with jobs came before jobs were counted")


def test_names_that_are_formulas_or_markup_stay_text(client):
    factories.BenchmarkJobFactory(run=run(), hardware="=1+1", config_key="<b>|x")
    assert rows(client)[0]["hardware"] == "'=1+1"
    assertNotContains(client.get(f"{PAGE}?by=key"), "<b>|x")
    text = client.get("/reliability.md?by=key").content.decode()
    assert "\\<b\\>\\|x" in text


def test_the_number_of_queries_does_not_grow(client, django_assert_max_num_queries):
    def queries(count):
        for number in range(count):
            jobs(run(number), hardware=f"gpu{number}", failed=1, retried=1)
        with django_assert_max_num_queries(12) as asked:
            client.get(PAGE)
        return len(asked.captured_queries)

    assert queries(1) == queries(12)
