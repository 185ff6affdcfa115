"""The share of requests that failed, by an accounting of their records."""

import pytest

from dashboard.analysis.request_errors import request_errors


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
