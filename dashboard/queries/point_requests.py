"""The requests of a reading that are stored one by one."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dashboard.models import RequestTrace
from dashboard.vocabulary.request_kinds import kind_of

COLUMNS = (
    *("request", "kind", "conversation", "turn", "start_s", "end_s", "ttft_s"),
    *("e2e_s", "itl_s", "full_response_itl_s", "input_tokens", "output_tokens"),
)
_STORED = ("ttft_s", "e2e_s", "itl_s", "full_itl_s", "input_tokens", "output_tokens")


class Request(NamedTuple):
    """One request that is kept; times in s since the first start, None if missing."""

    number: int
    kind: str
    conversation: str | None
    turn: int | None
    start_s: float
    end_s: float | None
    ttft_s: float | None
    e2e_s: float | None
    itl_s: float | None
    full_itl_s: float | None
    input_tokens: float | None
    output_tokens: float | None


def requests_of(trace: RequestTrace) -> Iterator[Request]:
    """Yield the requests that are kept one by one, by their start."""
    columns: Mapping[str, list[Any]] = trace.requests
    names: Mapping[str, str] = trace.requests["conversations"]
    stored = zip(*(columns[name] for name in _STORED), strict=True)
    places = zip(
        *(columns[n] for n in ("flags", "conversation", "turn", "start_s", "end_s")),
        strict=True,
    )
    for number, (place, values) in enumerate(zip(places, stored, strict=True), 1):
        flags, conversation, turn, start, end = place
        name = names.get(str(conversation))
        yield Request(number, kind_of(flags), name, turn, start, end, *values)
