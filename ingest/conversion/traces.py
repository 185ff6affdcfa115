"""Lines of a replayed trace: each is one request, as the client timed it."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from ingest.artifacts.json_reading import BadJsonError, parse, storable
from ingest.conversion.records import RefusedError

PROFILING = "profiling"
LONGEST_ID = 120
LONGEST_ERROR = 80
# Whole numbers that a column of 64 bits holds, and one that one of 32 bits does.
_LARGEST = 2**63 - 1
_LARGEST_TURN = 2**31 - 1
# A request that takes longer than a month was not timed right.
_LONGEST_S = 31 * 24 * 3600.0
_SECONDS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0, "us": 1e-6, "ns": 1e-9}


class TracedRequest(NamedTuple):
    """One request; times in s, but for the two stamps in ns since 1970.

    What the line lacks, or has as no usable number, is None; ``doubts`` names the
    values that were there and could not be used. ``error`` is empty without one.
    """

    conversation: str
    turn: int | None
    start_ns: int | None
    end_ns: int | None
    is_warm_up: bool
    is_cancelled: bool
    error: str
    ttft_s: float | None
    e2e_s: float | None
    itl_s: float | None
    full_itl_s: float | None
    input_tokens: float | None
    output_tokens: float | None
    doubts: tuple[str, ...]


def request_of(line: bytes) -> TracedRequest:
    """Read one line; raises `RefusedError` ``bad_line``."""
    try:
        value = parse(line).value
    except BadJsonError as error:
        raise RefusedError("bad_line", "not JSON") from error
    if not isinstance(value, Mapping):
        raise RefusedError("bad_line", "no object")
    about, metrics = value.get("metadata"), value.get("metrics")
    if not isinstance(about, Mapping) or not isinstance(metrics, Mapping | None):
        raise RefusedError("bad_line", "no metadata, or metrics that are no object")
    return _request(about, metrics or {}, value.get("error"))


def _request(
    about: Mapping[str, object], metrics: Mapping[str, object], error: object
) -> TracedRequest:
    doubts: list[str] = []
    start, end = _times(about, doubts)
    phase = about.get("benchmark_phase")
    return TracedRequest(
        conversation=_text(about.get("conversation_id"), LONGEST_ID),
        turn=_whole(about.get("turn_index"), _LARGEST_TURN),
        start_ns=start,
        end_ns=end,
        is_warm_up=phase is not None and phase != PROFILING,
        is_cancelled=about.get("was_cancelled") is True,
        error=_error(error),
        ttft_s=_seconds(metrics, "time_to_first_token", doubts),
        e2e_s=_seconds(metrics, "request_latency", doubts),
        itl_s=_seconds(metrics, "inter_token_latency", doubts),
        full_itl_s=_seconds(metrics, "full_response_inter_token_latency", doubts),
        input_tokens=_tokens(metrics, "input_sequence_length", doubts),
        output_tokens=_tokens(metrics, "output_sequence_length", doubts),
        doubts=tuple(doubts),
    )


def _times(
    about: Mapping[str, object], doubts: list[str]
) -> tuple[int | None, int | None]:
    """Return start and end; neither where they are in no order."""
    start = _whole(about.get("request_start_ns"), _LARGEST)
    end = _whole(about.get("request_end_ns"), _LARGEST)
    is_long = start is not None and end is not None and end - start > _LONGEST_S * 1e9
    if start is not None and end is not None and (end < start or is_long):
        doubts.append("request_end_ns")
        return None, None
    return start, end


def _whole(value: object, most: int) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= most else None  # type: ignore[operator,return-value]


def _seconds(
    metrics: Mapping[str, object], name: str, doubts: list[str]
) -> float | None:
    """Return a latency in s; one that is not above zero was not measured."""
    value, unit = _measured(metrics.get(name))
    factor = _SECONDS.get(unit)
    if value is None:
        return None
    seconds = math.nan if factor is None else value * factor
    if not 0 < seconds <= _LONGEST_S:
        doubts.append(name)
        return None
    return seconds


def _tokens(
    metrics: Mapping[str, object], name: str, doubts: list[str]
) -> float | None:
    value, _ = _measured(metrics.get(name))
    if value is not None and not 0 <= value <= _LARGEST:
        doubts.append(name)
        return None
    return value


def _measured(metric: object) -> tuple[float | None, str]:
    """Return value and unit; NaN stands for a value that is no number."""
    if not isinstance(metric, Mapping) or metric.get("value") is None:
        return None, ""
    value, unit = metric["value"], metric.get("unit")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.inf
    return number, unit if isinstance(unit, str) else ""


def _error(error: object) -> str:
    """Return what kind of error it was; only what is truthy is one."""
    if not error:
        return ""
    if isinstance(error, Mapping):
        error = error.get("type") or error.get("code") or "error"
    return _text(error, LONGEST_ERROR) or "error"


def _text(value: object, longest: int) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        return "" if value is None else type(value).__name__
    return str(storable(str(value)[:longest]))
