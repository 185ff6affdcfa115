"""The page of one config key: what it gives today, its history, and what changed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import condition, require_safe

from dashboard.analysis.eval_gate import RULE
from dashboard.analysis.history import HistorySweep, Pull
from dashboard.caching import data_etag
from dashboard.charts.exports import Words, export_layout
from dashboard.charts.history import history_export
from dashboard.forms.keys import KeyForm
from dashboard.models import ChangelogEntry
from dashboard.queries import key_changes as changes
from dashboard.queries.key_history import official_history, stored_key
from dashboard.queries.keys import nearest_keys
from dashboard.views.key_files import FILES, key_table
from dashboard.views.key_parts import KeyShown
from dashboard.views.key_timeline import TimelineItem, pulls_of, sweep_items, timeline
from dashboard.views.permalinks import Permalink, permalink
from dashboard.views.point_tables import Block, table_metrics, table_rows
from dashboard.views.tables import Ending, refused, table_answer
from dashboard.vocabulary.links import pull_link
from dashboard.vocabulary.scenarios import scenario_label, scenario_order

MOST_RUNS = 8


@require_safe
def key(request: HttpRequest, key: str) -> HttpResponse:
    stored = stored_key(key)
    if stored is None:
        return _not_stored(request, key)
    entries = changes.changelog(stored.key)
    sweeps = _with_pulls(official_history(stored), entries)
    form = KeyForm(request.GET, sweeps)
    if not form.is_valid():
        refused = {"sentences": form.sentences, "key": stored}
        return render(request, "key_refused.html", refused, status=400)
    shown = KeyShown(stored, form.view, sweeps)
    context = {
        **_facts(request, form, shown),
        **_charts(request, shown),
        **_changes(shown, entries),
    }
    return render(request, "key.html", context)


@require_safe
@condition(etag_func=lambda request, **_asked: data_etag(request))
def key_file(
    request: HttpRequest, key: str, table: str, ending: Ending
) -> HttpResponseBase:
    """Return one of the tables of the page as a file."""
    stored = stored_key(key)
    if stored is None or table not in FILES:
        raise Http404(f"There is no table {table} of a key of this name.")
    sweeps = official_history(stored)
    form = KeyForm(request.GET, sweeps)
    if not form.is_valid():
        return refused(form.sentences)
    sweeps = _with_pulls(sweeps, changes.changelog(stored.key))
    found = key_table(KeyShown(stored, form.view, sweeps), table)
    return table_answer(request, found.of(reverse("key", args=[key])), ending)


def _not_stored(request: HttpRequest, key: str) -> HttpResponse:
    """Show what is left of a retired key; else the keys that may have been meant."""
    entries = changes.changelog(key) if "\0" not in key else []
    imported = changes.imported_changes(key) if "\0" not in key else []
    context: dict[str, Any] = {"name": key}
    if entries or imported:
        context["items"] = timeline((), entries=entries, imported=imported)
        return render(request, "key_retired.html", context)
    context["nearest"] = nearest_keys(key)
    status = HTTPStatus.NOT_FOUND
    return render(request, "key_unknown.html", context, status=status)


def _with_pulls(
    sweeps: Iterable[HistorySweep], entries: Iterable[ChangelogEntry]
) -> list[HistorySweep]:
    """Return the sweeps with the pull request that their run's changelog names."""
    pulls = pulls_of(entries)
    found = []
    for sweep in sweeps:
        run_id, url = sweep.facts.run_id, sweep.facts.run_url
        number = pulls.get(run_id)
        pull = Pull(number, pull_link(url, number)) if number else sweep.pull
        found.append(replace(sweep, pull=pull))
    return found


def _facts(request: HttpRequest, form: KeyForm, shown: KeyShown) -> dict[str, Any]:
    scenarios = sorted({s.facts.scenario for s in shown.sweeps}, key=scenario_order)
    return {
        "form": form,
        "key": shown.key,
        "shown": shown,
        "view": shown.view,
        "scenarios": [(name, scenario_label(name)) for name in scenarios],
        "scenario_label": scenario_label(shown.view.scenario),
        "query": request.GET.urlencode(),
        "current": shown.history.current,
        "gate_rule": RULE,
        "today": _without_as_of(request.GET),
        "permalink": _permalink(request, shown),
        "other_gate": _with_gate(request.GET, is_on=not shown.view.gate),
        "held": [s for s in reversed(shown.history.sweeps) if s.is_held],
    }


def _without_as_of(query: QueryDict) -> str:
    changed = query.copy()
    changed.pop("as_of", None)
    return changed.urlencode()


def _permalink(request: HttpRequest, shown: KeyShown) -> Permalink:
    """Return a link as of the day asked for, else of today."""
    day = shown.view.as_of or timezone.now().astimezone(UTC).date()
    said = (
        f"It is as of {day} (UTC): later official sweeps, their evals and changes are "
        "left out. Triage and corrections are those of when the link is opened."
    )
    pins = {"as_of": day, "scenario": shown.view.scenario}
    return permalink(request, pins, said)


def _with_gate(query: QueryDict, *, is_on: bool) -> str:
    """Return the query with the gate of evals switched on or off."""
    changed = query.copy()
    changed.pop("gate", None)
    if is_on:
        changed["gate"] = "1"
    return changed.urlencode()


def _charts(request: HttpRequest, shown: KeyShown) -> dict[str, Any]:
    frontier, history = shown.frontier, shown.history_chart
    metrics = table_metrics(shown.x.name, shown.y.name, has_disaggregated=False)
    context: dict[str, Any] = {"metrics": metrics, "rows": []}
    if isinstance(frontier, str):
        context["frontier_reason"] = frontier
    else:
        title = f"{shown.key.key}: {shown.y.phrase} against {shown.x.phrase}"
        words = _words(request, shown, title)
        context |= {
            "frontier": frontier,
            "frontier_alone": export_layout(words, len(shown.legend), None),
            "rows": table_rows([Block(shown.points)], metrics),
            "standings": shown.points["standing"].value_counts().to_dict(),
        }
    if isinstance(history, str):
        context["history_reason"] = history
    else:
        words = _words(request, shown, f"{shown.key.key}: {shown.heading}")
        context["history"] = history
        context["history_alone"] = history_export(history, words, len(shown.series))
    return context


def _words(request: HttpRequest, shown: KeyShown, title: str) -> Words:
    """Return what a picture of the page says of itself."""
    runs = [str(s.facts.run_id) for s in reversed(shown.history.sweeps)]
    named = ", ".join(runs[:MOST_RUNS])
    more = f" and {len(runs) - MOST_RUNS} more" if len(runs) > MOST_RUNS else ""
    place = request.build_absolute_uri(request.get_full_path())
    day = shown.view.as_of or timezone.now().date()
    return Words(
        f"{title}, {scenario_label(shown.view.scenario)}",
        [
            f"Official sweeps as of {day} (UTC): {len(runs)}",
            f"Runs {named}{more}",
            f"Source: Frontierboard, {place}",
        ],
    )


def _is_by(item: TimelineItem, day: date) -> bool:
    """Tell whether something changed by a day; what is undated came at any time."""
    return item.at is None or item.at.astimezone(UTC).date() <= day


def _changes(shown: KeyShown, entries: Sequence[ChangelogEntry]) -> dict[str, Any]:
    run_ids = [sweep.facts.run_id for sweep in shown.history.sweeps]
    notices = changes.notices(shown.key, run_ids)
    items = timeline(
        sweep_items(shown.history, shown.history_points, (shown.y, shown.x)),
        entries=entries,
        definitions=changes.definition_changes(shown.key),
        imported=changes.imported_changes(shown.key.key),
        notices=notices,
    )
    regressions = changes.regressions(shown.key, shown.view.scenario)
    if shown.view.as_of is not None:
        items = [item for item in items if _is_by(item, shown.view.as_of)]
    return {
        "items": items,
        "notices": notices,
        "regressions": regressions,
        "open_regressions": sum(map(changes.is_open, regressions)),
        "swaps": [s for s in shown.history.counted if s.is_swap],
        "here": reverse("key", args=[shown.key.key]),
    }
