"""Lines of a trace: what is read of them, and what hostile ones leave behind."""

import io
import json
import math
from typing import Any

import numpy as np
import pytest

from ingest import traces
from ingest.conversion.records import RefusedError
from ingest.conversion.traces import request_of
from ingest.traces import ReadRequests
from tests.traces import SECOND, lines, record, warm_up


def read(content: bytes) -> ReadRequests:
    found = ReadRequests()
    found.take(io.BytesIO(content), lambda _: None)
    return found


def line(**changes: object) -> bytes:
    return json.dumps(record(**changes)).encode()  # type: ignore[arg-type]


def test_a_request_is_read_with_its_units() -> None:
    request = request_of(line(turn=3))
    assert (request.conversation, request.turn) == ("t17::sa:a1", 3)
    assert (request.ttft_s, request.e2e_s) == (0.5, 2.0)
    assert (request.itl_s, request.full_itl_s) == (0.01, 0.0125)
    assert (request.input_tokens, request.output_tokens) == (1000, 100)
    assert request.end_ns is not None
    assert request.start_ns is not None
    assert request.end_ns - request.start_ns == 2 * SECOND
    assert not any((request.is_warm_up, request.is_cancelled, request.error))


@pytest.mark.parametrize(
    "hostile",
    [
        b"{",
        b"[]",
        b"7",
        b'{"metadata": []}',
        b'{"metadata": {}, "metrics": 3}',
        b'{"metadata": ' * 3000,
        b"\xff\xfe",
    ],
)
def test_what_is_no_request_is_refused(hostile: bytes) -> None:
    with pytest.raises(RefusedError, match="bad_line"):
        request_of(hostile)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -1.0, 0, "12", True, 10**400, 1e300]
)
def test_a_latency_that_is_none_is_left_out_and_counted(value: object) -> None:
    request = request_of(line(metrics={"time_to_first_token": (value, "ms")}))
    assert request.ttft_s is None
    assert request.doubts == ("time_to_first_token",)


def test_an_unknown_unit_is_no_guess_and_a_missing_value_no_doubt() -> None:
    odd = request_of(line(metrics={"request_latency": (2.0, "fortnights")}))
    assert (odd.e2e_s, odd.doubts) == (None, ("request_latency",))
    missing = request_of(line(metrics={"request_latency": (None, "ms")}))
    assert (missing.e2e_s, missing.doubts) == (None, ())


def test_an_end_before_its_start_leaves_no_times() -> None:
    request = request_of(line(metadata={"request_end_ns": 5}))
    assert (request.start_ns, request.end_ns) == (None, None)
    assert request.doubts == ("request_end_ns",)


def test_kinds_are_counted_apart_and_may_overlap() -> None:
    found = read(
        lines(
            record(0),
            record(1, 3.0),
            warm_up(),
            warm_up(error={"type": "ConnectionReset"}),
            record(2, metadata={"was_cancelled": True}),
            record(3, error={"code": 500}),
            record(4, error="timeout"),
        )
    )
    counts = found.counted()
    assert counts["lines"] == counts["requests"] == 7
    assert counts["retained"] == 2
    assert (counts["warm_up"], counts["cancelled"], counts["errors"]) == (2, 1, 3)
    assert counts["error_categories"] == {"ConnectionReset": 1, "500": 1, "timeout": 1}
    assert counts["measured_s"] == 5.0


def test_only_measured_requests_are_distributed() -> None:
    slow = {"time_to_first_token": (9000.0, "ms")}
    found = read(
        lines(
            record(metrics={"time_to_first_token": (1000.0, "ms")}),
            record(metrics={"time_to_first_token": (2000.0, "ms")}),
            warm_up(metrics=slow),
            record(metrics=slow, error="x"),
            record(metrics=slow, metadata={"was_cancelled": True}),
        )
    ).distributions()
    assert found["ttft"]["n"] == 2
    assert found["ttft"]["max"] == 2.0
    assert found["ttft"]["quantiles"]["median"] == 1.5


def test_the_full_response_is_the_latency_of_all_where_any_tells_it() -> None:
    visible = {"full_response_inter_token_latency": (None, "ms")}
    both = read(lines(record(), record(metrics=visible)))
    assert both.distributions()["itl"]["n"] == 1
    assert both.distributions()["itl"]["mean"] == 0.0125
    alone = read(lines(record(metrics=visible)))
    assert alone.distributions()["itl"]["mean"] == 0.01


def test_percentiles_of_interactivity_are_counted_from_its_slow_end() -> None:
    found = read(
        lines(
            *(
                record(metrics={"full_response_inter_token_latency": (ms, "ms")})
                for ms in (10, 20, 40)
            )
        )
    ).distributions()
    assert found["intvty"]["max"] == 100.0
    assert found["intvty"]["quantiles"]["p90"] == pytest.approx(1 / 0.036)
    assert found["intvty"]["quantiles"]["p90"] < found["intvty"]["quantiles"]["p10"]


def test_hostile_lines_are_counted_and_the_others_are_read() -> None:
    found = read(
        lines(
            b"", record(), b"\0\1", b"x" * (traces.LONGEST_LINE + 5), b"{}", record(1)
        )
    )
    counts = found.counted()
    assert counts["lines"] == 5
    assert counts["requests"] == 2
    assert counts["skipped"] == {"bad_line": 2, "line_too_long": 1}


def test_a_file_of_nothing_gives_no_number() -> None:
    counts = read(b"\n\n").counted()
    assert (counts["lines"], counts["measured_s"]) == (0, None)
    assert read(b"").distributions() == {}
    kept, columns = read(b"").rows()
    assert (kept, columns["start_s"]) == (0, [])


def test_rows_are_ordered_by_start_and_json_holds_no_nan() -> None:
    found = read(
        lines(record(1, 7.0), record(0, 2.0, metrics={"request_latency": (-1, "ms")}))
    )
    kept, columns = found.rows()
    assert kept == 2
    assert columns["start_s"] == [0.0, 5.0]
    assert columns["turn"] == [0, 1]
    assert columns["e2e_s"] == [None, 2.0]
    assert columns["conversations"] == {"0": "t17::sa:a1"}
    json.dumps([columns, found.counted(), found.distributions()], allow_nan=False)


def test_more_requests_than_are_kept_are_an_even_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traces, "MOST_KEPT", 5)
    found = read(lines(*(record(n, float(n)) for n in range(21))))
    kept, columns = found.rows()
    assert kept == 5
    assert columns["turn"] == [0, 5, 10, 15, 20]
    assert found.counted()["requests"] == 21


def test_beyond_the_most_requests_are_only_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traces, "MOST_REQUESTS", 3)
    found = read(lines(*(record(n) for n in range(5))))
    counts = found.counted()
    assert counts["requests"] == 5
    assert counts["skipped"] == {"too_many_requests": 2}
    assert found.distributions()["ttft"]["n"] == 3


def test_conversations_beyond_their_number_have_no_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traces, "MOST_CONVERSATIONS", 1)
    names = ("a\0b", "other", "a\0b")
    found = read(lines(*(record(metadata={"conversation_id": n}) for n in names)))
    _, columns = found.rows()
    assert columns["conversation"] == [0, None, 0]
    assert columns["conversations"] == {"0": "a\ufffdb"}


def test_many_kinds_of_errors_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "MOST_ERRORS", 2)
    found = read(lines(*(record(error=f"e{n}") for n in range(5))))
    errors = found.counted()["error_categories"]
    assert errors == {"other errors": 3, "e0": 1, "e1": 1}


def test_columns_take_bytes_per_request_and_not_lines() -> None:
    found = read(lines(*(record(n, float(n)) for n in range(500))))
    columns: list[Any] = [*found._stamps.values(), *found._values.values()]
    assert sum(c.itemsize for c in columns) == 64
    assert np.frombuffer(columns[0], dtype=np.int64).size == 500
