"""The filters that lists of points and evals share, checked value by value."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Annotated, Literal

from ninja import Schema
from pydantic import Field

from dashboard.api.errors import RequestFault, not_found
from dashboard.queries.keys import nearest_keys
from dashboard.queries.measured import (
    MeasuredFilters,
    is_key,
    shown_run,
    stored_values,
)
from dashboard.vocabulary.inputs import LARGEST_ID
from dashboard.vocabulary.models import model_group

LONGEST_QUOTE = 80
LARGEST_ATTEMPT = 2**31 - 1
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
DAYS = ["YYYY-MM-DD, such as 2026-08-01"]

Cursor = Annotated[
    str, Field(description="next_cursor of the page before; with the same filters")
]


class MeasuredQuery(Schema):
    """Filters of points and evals; without any, the whole official record."""

    key: str = Field("", description="a whole config key")
    scenario: str = Field("", description="such as 8k/1k or agentic-traces")
    model: str = Field("", description="a model family, or its group's display name")
    hardware: str = Field("", description="such as mi355x")
    framework: str = Field("", description="such as sglang, by any of its names")
    precision: str = Field("", description="such as fp4")
    run: int | None = Field(
        None,
        ge=1,
        le=LARGEST_ID,
        description="a run id, official or not; of a run that publishes another's "
        "measurements those",
    )
    attempt: int | None = Field(
        None,
        ge=1,
        le=LARGEST_ATTEMPT,
        description="one execution of that run, superseded measurements included",
    )
    publication: Literal["official", "unofficial"] | None = Field(
        None, description="which record; official unless a run is named"
    )
    state: list[Literal["current", "former", "held"]] = Field(
        default_factory=list,
        description="state of the official sweep, may be given several times; without "
        "it held ones are left out",
    )
    current: bool = Field(
        default=False,
        description="only sweeps that are current now, with their additions",
    )
    as_of: str = Field(
        "",
        description="date or time in ISO 8601, UTC, inclusive: what was current then",
    )
    since: str = Field("", alias="from", description="first day, UTC, YYYY-MM-DD")
    until: str = Field("", alias="to", description="last day, UTC, YYYY-MM-DD")

    def filters(self) -> MeasuredFilters:
        """Return the filters; raises RequestFault naming the first bad one."""
        self._require_one_record()
        for name in ("hardware", "framework", "precision", "scenario", "model"):
            require_stored(name, getattr(self, name))
        require_key(self.key)
        since, until = day_range(self.since, self.until)
        return MeasuredFilters(
            key=self.key,
            scenario=self.scenario,
            model=model_group(self.model),
            hardware=self.hardware,
            framework=self.framework,
            precision=self.precision,
            run_pk=self._run_pk(),
            attempt=self.attempt,
            is_official=self.publication != "unofficial",
            states=("current",) if self.current else tuple(self.state),
            moment=moment_of("as_of", self.as_of) if self.as_of else None,
            since=since,
            until=until,
        )

    def _require_one_record(self) -> None:
        """Refuse what asks for two records at once, or for a state of none."""
        of_official = {
            "state": bool(self.state),
            "current": self.current,
            "as_of": bool(self.as_of),
        }
        asked = [name for name, is_asked in of_official.items() if is_asked]
        if len(asked) > 1:
            raise RequestFault(asked[1], f"{asked[0]} and {asked[1]} exclude another.")
        if asked and self.run is not None:
            raise RequestFault(asked[0], "Ask for a run or for this, not for both.")
        if asked and self.publication == "unofficial":
            raise RequestFault(asked[0], "What is not official has no such thing.")
        if self.run is not None and self.publication is not None:
            raise RequestFault("publication", "A run is official or not: leave it out.")
        if self.attempt is not None and self.run is None:
            raise RequestFault("attempt", "Say of which run: run is needed.")

    def _run_pk(self) -> int | None:
        if self.run is None:
            return None
        run = shown_run(self.run)
        if run is None:
            said = f"Run {self.run} is not stored here, or a person took it out."
            raise not_found("run", said)
        return run.pk


def require_key(key: str) -> None:
    """Refuse a config key that is not stored; an empty one is none."""
    if key and not is_key(key):
        near = [] if "\0" in key else nearest_keys(key)
        said = f"{key[:LONGEST_QUOTE]!r} is no config key; these are the nearest."
        raise RequestFault("key", said, allowed=near)


def require_stored(name: str, value: str) -> None:
    """Refuse a filter's value that no stored key has; an empty one is none."""
    if not value:
        return
    allowed = stored_values(name)
    if value not in allowed:
        said = f"{value[:LONGEST_QUOTE]!r} is no {name} that is stored here."
        raise RequestFault(name, said, allowed=allowed)


def day_range(since: str, until: str) -> tuple[date | None, date | None]:
    """Return two days, None for an empty one; raises RequestFault."""
    first, last = _day("from", since), _day("to", until)
    if first is not None and last is not None and last < first:
        raise RequestFault("to", f"The range is reversed: {until} is before {since}.")
    return first, last


def _day(parameter: str, text: str) -> date | None:
    if not text:
        return None
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    said = f"{text[:LONGEST_QUOTE]!r} is no day."
    raise RequestFault(parameter, said, allowed=DAYS)


def moment_of(parameter: str, text: str) -> datetime:
    """Read a date as its last moment, and a time as it is, UTC unless it says so."""
    try:
        return datetime.combine(date.fromisoformat(text), time.max, UTC)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # the latter near the first and last year
        message = f"{text[:LONGEST_QUOTE]} is neither a date nor a time."
        allowed = ["2026-08-01", "2026-08-01T20:00:00Z"]
        raise RequestFault(parameter, message, allowed=allowed) from None


def listed(text: str) -> Iterable[str]:
    """Yield the parts of a list that is written with commas."""
    return (part for part in (part.strip() for part in text.split(",")) if part)
