"""The runs that a link asks for: what is stored of each, and what is being done."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, QueryDict
from django.utils import timezone

from dashboard.analysis.sides import most_severe
from dashboard.analysis.told_verdicts import ToldVerdict
from dashboard.analysis.verdict_report import one_line_verdict
from dashboard.forms.unofficial import AskedRun, rewritten
from dashboard.ingest_requests import (
    RequestRefusedError,
    answering_request,
    request_run,
)
from dashboard.models import IngestRequest, Run
from dashboard.queries.told_verdicts import told_verdicts
from dashboard.queries.unofficial import RunSummary, newest_requests_of, summaries
from dashboard.views.fetch_limits import LimitReachedError, count_fetch, is_first

REQUESTED_BY = "the link of a run"
# A page asks after a quarter of the time that it has waited, so that nobody waits much
# longer than the work takes, and old work is not asked for all the time.
SHARE_OF_WAIT = 0.25
SOONEST_S, LATEST_S, EACH_SECOND = 0.2, 1.0, "every 1s"


class AskedVerdicts:
    """The verdicts on the runs of a link: made for all of them when the first is asked.

    A file or a page that shows none reads nothing for them.
    """

    def __init__(self, summaries: Iterable[tuple[RunSummary, int | None]]) -> None:
        self._wanted = [(s.measuring, attempt) for s, attempt in summaries]

    @cached_property
    def _told(self) -> dict[tuple[Run, int | None], list[ToldVerdict]]:
        return told_verdicts(self._wanted)

    def of(self, summary: RunSummary, attempt: int | None) -> list[ToldVerdict]:
        """Return the verdicts on one of the runs; none on what a person took out."""
        if summary.run.publication == Run.Publication.HIDDEN:
            return []
        return self._told.get((summary.measuring, attempt), [])


@dataclass(frozen=True, slots=True)
class AskedState:
    """One run of the link. ``stored`` is None while nothing of it is here.

    ``limit`` says why it is not fetched now; ``without`` is the query that leaves it
    out of the link, ``alone`` the one that asks for nothing but what it measured.
    ``judged`` holds the verdicts on all runs of the link.
    """

    asked: AskedRun
    place: int
    stored: RunSummary | None
    request: IngestRequest | None
    limit: str
    is_awaited: bool
    without: str
    alone: str
    judged: AskedVerdicts

    @property
    def verdicts(self) -> list[ToldVerdict]:
        """Return the verdicts on what the run measured, by key and scenario."""
        if self.stored is None or not self.stored.received:
            return []
        return self.judged.of(self.stored, self.asked.attempt)

    @property
    def verdict(self) -> ToldVerdict | None:
        """Return the verdict to be told first, None where there is none."""
        return most_severe(self.verdicts)

    @property
    def verdict_line(self) -> str:
        """Return the sentence that is to be known first, and how many others."""
        return one_line_verdict(self.verdicts)

    @property
    def is_active(self) -> bool:
        """Tell whether more is about to come."""
        return self.is_awaited or bool(self.request and self.request.is_active)

    @property
    def awaited_since(self) -> datetime | None:
        """Return when what is active was asked for; None: this very moment."""
        request = self.request
        return request.requested_at if request and request.is_active else None

    @property
    def failure(self) -> str:
        """Return why the newest fetch brought nothing, empty where it did not fail."""
        request = self.request
        if request is None or request.state != IngestRequest.State.FAILED:
            return ""
        return request.error or "no reason was kept"

    @property
    def gaps(self) -> list[str]:
        """Return a line per thing that the newest fetch could not get."""
        if self.stored is not None and self.stored.fetch is not None:
            return [str(gap) for gap in self.stored.fetch.gaps]
        return []

    @property
    def other_repository(self) -> str:
        """Return the repository of the address where the stored run is of another."""
        run = self.stored.run if self.stored else None
        named = self.asked.repository
        if run is None or not named:
            return ""
        return "" if run.repository.full_name.lower() == named.lower() else named

    @property
    def is_official(self) -> bool:
        """Tell whether the run's measurements are part of the official record."""
        official = Run.Publication.OFFICIAL
        return self.stored is not None and self.stored.run.publication == official

    @property
    def is_hidden(self) -> bool:
        """Tell whether a person took the run out."""
        hidden = Run.Publication.HIDDEN
        return self.stored is not None and self.stored.run.publication == hidden


def asked_states(
    request: HttpRequest, asked: Sequence[AskedRun], *, may_ask: bool
) -> list[AskedState]:
    """Return the state of each run, with ``may_ask`` after asking for what is not here.

    Opening the link asks, and however many people open it the run is fetched once.
    A HEAD request, as of programs that preview links, opens nothing.
    """
    if not asked:
        return []
    may_ask = may_ask and request.method == "GET"
    stored = summaries((run.run_id, run.attempt) for run in asked)
    newest = newest_requests_of({run.run_id for run in asked})
    judged = AskedVerdicts((found, attempt) for (_, attempt), found in stored.items())
    return [
        _state(
            request,
            asked,
            place,
            stored.get((run.run_id, run.attempt)),
            _Beside(newest.get(run.run_id), may_ask, judged),
        )
        for place, run in enumerate(asked)
    ]


class _Beside(NamedTuple):
    """The newest request for a run, whether another may be made, and all verdicts."""

    newest: IngestRequest | None
    may_ask: bool
    judged: AskedVerdicts


def waiting_for(states: Sequence[AskedState]) -> str:
    """Return a text that changes when anything comes of what is being done."""
    return ",".join(str(s.asked.run_id) for s in states if s.is_active)


def next_look(states: Sequence[AskedState]) -> str:
    """Return when the page asks again, as htmx's trigger; empty: nothing is awaited.

    It asks each second all the same, as an answer may get lost.
    """
    active = [state for state in states if state.is_active]
    if not active:
        return ""
    now = timezone.now()
    since = max(state.awaited_since or now for state in active)
    wait_s = max(SHARE_OF_WAIT * (now - since).total_seconds(), SOONEST_S)
    if wait_s >= LATEST_S:
        return EACH_SECOND
    return f"load delay:{1000 * wait_s:.0f}ms, {EACH_SECOND}"


def _state(
    request: HttpRequest,
    asked: Sequence[AskedRun],
    place: int,
    summary: RunSummary | None,
    work: _Beside,
) -> AskedState:
    run = asked[place]
    followed, limit, is_awaited = work.newest, "", False
    if work.may_ask and _is_wanted(summary):
        try:
            made = _asked_for(request, run, summary)
            followed, is_awaited = made or followed, made is None
        except (LimitReachedError, RequestRefusedError) as error:
            limit = str(error)
    others = [other for other in asked if other != run]
    return AskedState(
        asked=run,
        place=place,
        stored=summary,
        request=followed,
        limit=limit,
        is_awaited=is_awaited,
        without=rewritten(request.GET, others),
        alone=rewritten(QueryDict(), asked),
        judged=work.judged,
    )


def _is_wanted(summary: RunSummary | None) -> bool:
    """Tell whether the run has to be fetched, or fetched again.

    Without a token GitHub gives no artifacts, so a stored copy stays as it is.
    """
    if summary is None:
        return True
    return bool(settings.GITHUB_TOKEN) and summary.may_have_changed


def _asked_for(
    request: HttpRequest, run: AskedRun, summary: RunSummary | None
) -> IngestRequest | None:
    """Return the request that fetches a run; None where somebody just asked for it."""
    repository = run.repository or settings.FRONTIERBOARD_REPOSITORY
    if summary is not None:
        repository = summary.run.repository.full_name
    found = answering_request(run_id=run.run_id, repository=repository)
    if found is not None:
        return found
    if not is_first(run.run_id):
        return None
    count_fetch(request, run.run_id)
    return request_run(
        run_id=run.run_id, repository=repository, requested_by=REQUESTED_BY
    )
