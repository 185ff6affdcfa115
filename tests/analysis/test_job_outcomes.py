"""What became of a job over its attempts, and the order of groups."""

from datetime import date

import pytest
from statsmodels.stats.proportion import proportion_confint

from dashboard.analysis.job_outcomes import Execution, job_outcome
from dashboard.analysis.reliability import (
    JobCounts,
    JobGroup,
    begins,
    in_order,
    period_of,
    summed,
)


def outcome(*conclusions):
    """Return what became of a job that ended so in attempts 1, 2, ..."""
    return job_outcome(
        Execution(number, word) for number, word in enumerate(conclusions, 1)
    )


def test_a_success_after_a_failure_is_one_success_after_retry():
    assert outcome("failure", "success") == ("succeeded", 2, 1, True)


def test_a_success_after_a_cancelled_attempt_is_after_retry_too():
    assert outcome("cancelled", "success") == ("succeeded", 2, 0, True)


def test_a_success_that_was_run_again_and_failed_stays_a_success():
    assert outcome("success", "failure") == ("succeeded", 1, 1, False)


def test_a_success_listed_by_both_attempts_is_no_retry():
    assert outcome("success", "success") == ("succeeded", 1, 0, False)


@pytest.mark.parametrize("later", ["cancelled", "skipped", ""])
def test_a_failure_is_not_hidden_by_what_a_later_attempt_left_undone(later):
    assert outcome("failure", later).outcome == "failed"


@pytest.mark.parametrize(
    ("conclusion", "word"),
    [
        ("cancelled", "cancelled"),
        ("skipped", "skipped"),
        ("neutral", "skipped"),
        ("", "unfinished"),
        ("timed_out", "failed"),
        ("startup_failure", "failed"),
        ("a word of next year", "failed"),
    ],
)
def test_each_conclusion_has_one_word(conclusion, word):
    assert outcome(conclusion).outcome == word


def test_a_job_that_failed_twice_is_one_failure_of_two_attempts():
    assert outcome("failure", "timed_out") == ("failed", 2, 2, False)


def test_cancelled_and_skipped_jobs_are_in_no_rate():
    counts = JobCounts(succeeded=3, failed=1, cancelled=5, skipped=7, unfinished=2)
    assert (counts.n, counts.rate) == (4, 0.75)


def test_without_a_job_that_ended_there_is_no_rate():
    counts = JobCounts(cancelled=3)
    assert (counts.rate, counts.interval) == (None, None)


def test_the_interval_is_wilsons():
    counts = JobCounts(succeeded=41, failed=3)
    expected = proportion_confint(41, 44, alpha=0.05, method="wilson")
    assert counts.interval == pytest.approx(expected, abs=1e-6)


def group(name, succeeded, failed):
    counts = JobCounts(succeeded=succeeded, failed=failed)
    return JobGroup(name, "", counts, runs=1, failing_runs=0)


def test_the_lowest_rate_is_first_then_more_jobs_then_the_unknown():
    found = [
        group("few", 1, 1),
        group("none", 0, 0),
        group("good", 9, 0),
        group("many", 10, 10),
        group("worst", 0, 1),
    ]
    names = [one.name for one in in_order(found)]
    assert names == ["worst", "many", "few", "good", "none"]
    assert in_order(found, "failed")[0].name == "many"
    assert in_order(found, "jobs")[0].name == "many"
    assert in_order(found, "name")[0].name == "few"


def test_counts_are_summed_by_what_they_count():
    one = JobCounts(succeeded=1, failed=2, cancelled=3, after_retry=1)
    assert summed([one, one]) == JobCounts(2, 4, 6, after_retry=2)


def test_periods_without_jobs_are_listed_too():
    days = begins(date(2026, 8, 31), date(2026, 9, 2), "day")
    assert days == [date(2026, 8, 31), date(2026, 9, 1), date(2026, 9, 2)]
    weeks = begins(date(2026, 9, 2), date(2026, 9, 15), "week")
    assert weeks == [date(2026, 8, 31), date(2026, 9, 7), date(2026, 9, 14)]
    months = begins(date(2025, 12, 31), date(2026, 2, 1), "month")
    assert months == [date(2025, 12, 1), date(2026, 1, 1), date(2026, 2, 1)]


def test_the_longer_the_time_the_longer_its_periods():
    first = date(2026, 1, 1)
    assert period_of(first, date(2026, 1, 31)) == "day"
    assert period_of(first, date(2026, 6, 30)) == "week"
    assert period_of(first, date(2028, 6, 30)) == "month"
