"""Requests that failed while a trace was replayed, from how their records were kept."""

from collections.abc import Mapping
from typing import NamedTuple


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


def _count(accounting: Mapping[str, object] | None, name: str) -> int | None:
    value = (accounting or {}).get(name)
    return value if isinstance(value, int) and value >= 0 else None
