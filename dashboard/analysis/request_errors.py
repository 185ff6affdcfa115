"""Requests that failed while a trace was replayed, from how their records were kept."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

# The producer's own check of a replay: a larger share of errors fails it.
MOST_ERRORS = 0.10


class RequestErrors(NamedTuple):
    """Requests dropped for an error, and their share: a fraction of all measured."""

    dropped: int | None
    rate: float | None


UNKNOWN = RequestErrors(None, None)


def request_errors(accounting: Mapping[str, object] | None) -> RequestErrors:
    """Read an accounting of request records; None where it does not say.

    The rate is ``dropped for an error / (profiled + dropped for an error)``: warm-up
    requests are no part of it.
    """
    errors = _count(accounting, "records_error_dropped")
    if errors is None:
        return UNKNOWN
    profiled = _count(accounting, "records_profiled")
    if profiled is None or not profiled + errors:
        return RequestErrors(errors, None)
    return RequestErrors(errors, errors / (profiled + errors))


class RequestGate(NamedTuple):
    """Whether a replay failed too many requests to be believed, and why."""

    outcome: Literal["pass", "fail", "not measured"]
    reason: str


def request_gate(accounting: Mapping[str, object] | None) -> RequestGate:
    """Hold the share of failed requests against what the producer allows.

    Like an eval: without an accounting it is not measured, which is no pass. A replay
    without a completed request fails.
    """
    errors = request_errors(accounting)
    profiled = _count(accounting, "records_profiled")
    if errors.dropped is None or profiled is None:
        return RequestGate("not measured", "the requests were not counted")
    if not profiled:
        return RequestGate("fail", f"no request completed, {errors.dropped} failed")
    rate = errors.rate or 0.0
    counted = f"{errors.dropped} of {profiled + errors.dropped} requests failed"
    allowed = f"{100 * rate:.2g} %, {100 * MOST_ERRORS:.0f} % allowed"
    is_passed = rate <= MOST_ERRORS
    return RequestGate("pass" if is_passed else "fail", f"{counted}: {allowed}")


def error_categories(accounting: Mapping[str, object] | None) -> dict[str, int]:
    """Return how many requests failed of each kind, the most frequent first."""
    found = (accounting or {}).get("error_categories")
    if not isinstance(found, Mapping):
        return {}
    counted = {
        str(name): count
        for name, count in found.items()
        if isinstance(count, int) and count > 0
    }
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _count(accounting: Mapping[str, object] | None, name: str) -> int | None:
    value = (accounting or {}).get(name)
    return value if isinstance(value, int) and value >= 0 else None
