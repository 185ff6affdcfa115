"""The page of reliability: how often jobs succeed, where, since when, in which runs."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.analysis.job_outcomes import RULE
from dashboard.charts.exports import Words, export_layout
from dashboard.charts.reliability import line_look
from dashboard.forms.reliability import DIMENSIONS, RANGES, ReliabilityForm
from dashboard.queries import reliability as queries
from dashboard.queries.reliability import ReliabilityFilters
from dashboard.views.permalinks import Permalink, permalink
from dashboard.views.reliability_parts import MOST_RUNS, ReliabilityShown
from dashboard.views.reliability_tables import (
    groups_table,
    runs_table,
    stats_table,
    trend_table,
)
from dashboard.views.tables import Ending, Table, refused, table_answer


@require_safe
def reliability(request: HttpRequest) -> HttpResponse:
    form = _form(request.GET)
    if not form.is_valid():
        status = HTTPStatus.BAD_REQUEST
        return render(request, "reliability.html", {"form": form}, status=status)
    shown = _shown(form)
    context = {
        "form": form,
        "shown": shown,
        "filters": shown.filters,
        "rule": RULE,
        "dimension": DIMENSIONS[shown.filters.by],
        "groups": [(group, shown.label(group.name)) for group in shown.groups],
        "stats": [(stat, shown.label(stat.name)) for stat in shown.stats],
        "failing": shown.failing[:MOST_RUNS],
        "has_more_failing": len(shown.failing) > MOST_RUNS,
        "ranges": _ranges(request.GET),
        "dimensions": _dimensions(request.GET),
        "uncounted": queries.uncounted_runs(),
        "permalink": _permalink(request, shown),
        **_drawing(request, shown),
    }
    return render(request, "reliability.html", context)


@require_safe
def reliability_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return the groups, as the page lists them."""
    return _file(request, ending, groups_table)


@require_safe
def reliability_trend_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return the periods, of all groups."""
    return _file(request, ending, trend_table)


@require_safe
def reliability_stats_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return what runs counted themselves."""
    return _file(request, ending, stats_table)


@require_safe
def reliability_runs_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return every run with failed or cancelled jobs."""
    return _file(request, ending, runs_table)


def _file(
    request: HttpRequest, ending: Ending, table: Callable[[ReliabilityShown], Table]
) -> HttpResponseBase:
    form = _form(request.GET)
    if not form.is_valid():
        return refused(form.sentences)
    page = reverse("reliability")
    return table_answer(request, table(_shown(form)).of(page), ending)


def _form(query: QueryDict) -> ReliabilityForm:
    return ReliabilityForm(query, timezone.now().date())


def _shown(form: ReliabilityForm) -> ReliabilityShown:
    return ReliabilityShown(ReliabilityFilters(**form.asked), form.order_name)


def _ranges(query: QueryDict) -> list[tuple[str, str, bool]]:
    """Return the ranges as (label, query, whether it is this one)."""
    named = {"": "All days", **{n: label.capitalize() for n, label in RANGES.items()}}
    has_days = bool(query.get("from") or query.get("to"))
    return [
        (label, _with(query, days=name), name == query.get("days", "") and not has_days)
        for name, label in named.items()
    ]


def _dimensions(query: QueryDict) -> list[tuple[str, str, bool]]:
    """Return the dimensions in the same way; a group is one of a single dimension."""
    chosen = query.get("by") or "hardware"
    return [
        (f"By {label}", _with(query, by=name, group=""), name == chosen)
        for name, label in DIMENSIONS.items()
    ]


def _with(query: QueryDict, **values: str) -> str:
    changed = query.copy()
    if "days" in values:
        for name in ("from", "to"):
            changed.pop(name, None)
    for name, value in values.items():
        changed.pop(name, None)
        if value:
            changed[name] = value
    return changed.urlencode()


def _permalink(request: HttpRequest, shown: ReliabilityShown) -> Permalink:
    """Return a link whose days stay: those asked for, else those with jobs."""
    first, last = shown.days or (None, None)
    since = shown.filters.since or first
    until = shown.filters.until or last
    pinned = {"from": str(since or ""), "to": str(until or ""), "days": ""}
    return permalink(
        request,
        pinned,
        "It names the first and the last day. A job of these days that is tried again "
        "later, or a run that is ingested later, still counts.",
    )


def _drawing(request: HttpRequest, shown: ReliabilityShown) -> dict[str, Any]:
    looks = [(line, line_look(line, n)) for n, line in enumerate(shown.lines)]
    context: dict[str, Any] = {
        "looks": looks,
        "left_out": len(shown.groups)
        - sum(line.group is not None for line, _ in looks),
        "rows": [
            (begin, [line.counts.get(begin) for line in shown.lines])
            for begin in reversed(shown.begins)
        ],
    }
    if isinstance(shown.figure, str):
        return {**context, "reason": shown.figure}
    alone = export_layout(_words(request, shown), len(shown.lines), None)
    return {**context, "figure": shown.figure, "alone": alone}


def _words(request: HttpRequest, shown: ReliabilityShown) -> Words:
    """Return what the chart says of itself away from its page."""
    first, last = shown.days or (None, None)
    address = request.build_absolute_uri(request.get_full_path())
    counts = shown.total
    counted = (
        f"{counts.succeeded} of {counts.n} jobs succeeded, {counts.after_retry} of "
        f"them after a retry; {counts.cancelled} cancelled, {counts.skipped} skipped "
        f"and {counts.unfinished} unfinished ones are in no rate"
    )
    lines = [
        f"{shown.span.runs} runs made {first} to {last} (UTC), by {shown.period}",
        counted,
        f"Source: Frontierboard, {address}",
    ]
    mark = "" if shown.filters.is_official else "unofficial runs"
    return Words(shown.title, lines, mark)
