"""The share of requests that failed, by an accounting of their records."""

import pytest

from dashboard.analysis.request_errors import (
    error_categories,
    request_errors,
    request_gate,
)


@pytest.mark.parametrize(
    ("accounting", "count", "rate"),
    [
        (None, None, None),
        ({}, None, None),
        ({"records_profiled": 97, "records_error_dropped": 3}, 3, 0.03),
        ({"records_profiled": 97, "records_error_dropped": 0}, 0, 0.0),
        ({"records_profiled": 0, "records_error_dropped": 3}, 3, 1.0),
        ({"records_profiled": 0, "records_error_dropped": 0}, 0, None),
        ({"records_error_dropped": 3}, 3, None),
        ({"records_profiled": 97, "records_error_dropped": -1}, None, None),
        ({"records_profiled": 97, "records_error_dropped": "3"}, None, None),
    ],
)
def test_rate_is_of_measured_requests(
    accounting: dict[str, object] | None, count: int | None, rate: float | None
) -> None:
    assert request_errors(accounting) == (count, rate)


@pytest.mark.parametrize(
    ("profiled", "errors", "outcome", "reason"),
    [
        (2694, 3, "pass", "3 of 2697 requests failed: 0.11 %, 10 % allowed"),
        (892, 0, "pass", "0 of 892 requests failed: 0 %, 10 % allowed"),
        (90, 10, "pass", "10 of 100 requests failed: 10 %, 10 % allowed"),
        (89, 11, "fail", "11 of 100 requests failed: 11 %, 10 % allowed"),
        (0, 22, "fail", "no request completed, 22 failed"),
        (0, 0, "fail", "no request completed, 0 failed"),
        (None, 3, "not measured", "the requests were not counted"),
        (10, None, "not measured", "the requests were not counted"),
    ],
)
def test_a_replay_with_too_many_errors_fails_its_gate(
    profiled: int | None, errors: int | None, outcome: str, reason: str
) -> None:
    accounting = {"records_profiled": profiled, "records_error_dropped": errors}
    assert request_gate(accounting) == (outcome, reason)


def test_successes_over_all_records_are_never_the_rate() -> None:
    # Warm-up records are in the total: 892 of 936 succeeded, and none failed.
    accounting = {
        "records_total": 936,
        "records_warmup_dropped": 44,
        "records_profiled": 892,
        "records_error_dropped": 0,
    }
    assert request_errors(accounting).rate == 0.0
    assert request_gate(accounting).outcome == "pass"


def test_kinds_of_errors_come_by_frequency() -> None:
    kinds = {"Timeout": 2, "ServerDisconnectedError": 3, "Other": 0, "Odd": "x"}
    assert list(error_categories({"error_categories": kinds}).items()) == [
        ("ServerDisconnectedError", 3),
        ("Timeout", 2),
    ]
    assert error_categories({"error_categories": None}) == {}
    assert error_categories(None) == {}
