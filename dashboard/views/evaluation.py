"""The evaluation page: eval scores of official runs, and of the runs of a link."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from dashboard.charts.evaluation import (
    MOST_ROWS,
    evaluation_export,
    evaluation_figure,
)
from dashboard.charts.exports import Words
from dashboard.charts.frontier import Figure
from dashboard.forms.evaluation import EvaluationForm
from dashboard.forms.unofficial import asked_runs, rewritten
from dashboard.models import Run
from dashboard.queries import evaluation as queries
from dashboard.queries.eval_gaps import eval_gaps
from dashboard.queries.eval_standing import eval_standings
from dashboard.queries.evaluation import EvalFilters
from dashboard.queries.inference import official_moment
from dashboard.queries.run_parts import JudgedEval
from dashboard.views.asked_runs import (
    AskedState,
    asked_states,
    next_look,
    waiting_for,
)
from dashboard.views.evaluation_columns import SORTS, columns, sorted_rows
from dashboard.views.evaluation_files import evals_table
from dashboard.views.evaluation_rows import EvalRow, dots, gap_row, scored_row
from dashboard.views.permalinks import AS_OF, Permalink, permalink
from dashboard.views.tables import Ending, refused, table_answer
from dashboard.vocabulary.models import model_group

MOST_RUNS = 8


class HtmxRequest(HttpRequest):
    """A request that the middleware has told who asks."""

    htmx: HtmxDetails


@require_safe
def evaluation(request: HtmxRequest) -> HttpResponse:
    form = _form(request)
    if not form.is_valid():
        context = {"sentences": form.sentences}
        return render(request, "evaluation_refused.html", context, status=400)
    states = asked_states(request, form.unofficial.runs, may_ask=True)
    waiting = waiting_for(states)
    is_news = request.headers.get("X-Waiting", "") != waiting
    part = request.htmx.target if request.htmx else ""
    template = "evaluation.html"
    if part == "asked":
        template = "_evaluation_view.html" if is_news else "_asked_runs.html"
    answer = render(request, template, _context(request, form, states))
    if part == "asked" and is_news:
        answer["HX-Retarget"], answer["HX-Reswap"] = "#view", "innerHTML"
    if states:
        add_never_cache_headers(answer)
    patch_vary_headers(answer, ["HX-Request", "HX-Target"])
    return answer


@require_safe
def evaluation_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return the rows of the table as a file; asking for it fetches no run."""
    form = _form(request)
    if not form.is_valid():
        return refused(form.sentences)
    states = asked_states(request, form.unofficial.runs, may_ask=False)
    shown = EvalsShown(form, states)
    about = {"title": shown.title, "as_of": shown.filters.moment}
    return table_answer(request, evals_table(shown.rows, about), ending)


def _form(request: HttpRequest) -> EvaluationForm:
    asked = asked_runs(request.GET).runs
    offered = queries.offered(run.run_id for run in asked)
    return EvaluationForm(request.GET, offered._asdict(), SORTS, official_moment)


@dataclass(frozen=True)
class EvalsShown:
    """What a valid form asks to show; each part is read once."""

    form: EvaluationForm
    states: Sequence[AskedState]

    @cached_property
    def filters(self) -> EvalFilters:
        """The filters; a link of runs alone opens on what these measured most of."""
        asked = self.form.cleaned_data
        names = ("model", "task", "hardware", "framework", "key")
        moment = asked.get("moment")
        filters = EvalFilters(moment=moment, **{n: asked[n] for n in names})
        if not self.states or self.form.said & set(names):
            return filters
        places = [
            (model_group(one.result.config_key.model), one.result.task)
            for found in self._evals(filters)
            for one in found
        ]
        if not places:
            return filters
        model, task = Counter(places).most_common(1)[0][0]
        return replace(filters, model=model, task=task)

    def _evals(self, filters: EvalFilters) -> list[list[JudgedEval]]:
        """Return the scores of each run of the link."""
        wanted = [(s.asked.run_id, s.asked.attempt) for s in self.states]
        found = queries.evals_of(wanted, filters) if wanted else {}
        return [found[place] for place in wanted]

    @cached_property
    def measured(self) -> list[tuple[JudgedEval, AskedState]]:
        """The scores of the link's runs."""
        return [
            (one, state)
            for state, found in zip(self.states, self._evals(self.filters), strict=True)
            for one in found
        ]

    @cached_property
    def official(self) -> list[JudgedEval]:
        """The official scores that the runs of the link did not measure themselves."""
        shown = {one.result.pk for one, _ in self.measured}
        found = queries.official_evals(self.filters)
        return [one for one in found if one.result.pk not in shown]

    @cached_property
    def rows(self) -> list[EvalRow]:
        """The rows in order: those of the link's runs first."""
        standings = eval_standings([one for one, _ in self.measured] + self.official)
        found = [
            *(scored_row(e, standings[e.result.pk], s) for e, s in self.measured),
            *(scored_row(e, standings[e.result.pk], None) for e in self.official),
            *self._gaps,
        ]
        asked = self.form.cleaned_data
        if asked["state"]:
            found = [row for row in found if row.outcome == asked["state"]]
        return sorted_rows(found, asked["sort"])

    @cached_property
    def _gaps(self) -> list[EvalRow]:
        """What was to be evaluated and has no score; official ones of no listed run."""
        of_run = {s.stored.measuring.pk: s for s in self.states if s.stored is not None}
        runs = [s.stored.measuring for s in of_run.values() if s.stored is not None]
        official, asked = eval_gaps(self.filters, runs)
        return [
            *(gap_row(gap, of_run[gap.run.pk]) for gap in asked),
            *(gap_row(gap, None) for gap in official if gap.run.pk not in of_run),
        ]

    @cached_property
    def figure(self) -> Figure | str:
        """The chart, or why there is none."""
        return evaluation_figure(dots(self.rows))

    @property
    def title(self) -> str:
        """What is shown, in one line."""
        filters = self.filters
        of = " ".join(filter(None, (filters.model, filters.task)))
        return f"Eval scores of {of}" if of else "Eval scores"

    @property
    def told(self) -> list[str]:
        """What is chosen, in a few words, for the line that the filters fold into."""
        filters, asked = self.filters, self.form.cleaned_data
        names = (filters.model, filters.task, filters.hardware, filters.framework)
        found = [*names, filters.key, asked["state"]]
        if asked["asof_run"]:
            found.append(f"as of run {asked['asof_run']}")
        elif filters.day:
            found.append(f"by {filters.day:%Y-%m-%d}")
        return [words for words in found if words]

    @property
    def without_scores(self) -> list[AskedState]:
        """The stored runs that have no score among those shown."""
        have = {state.asked for _, state in self.measured}
        return [s for s in self.states if s.stored is not None and s.asked not in have]


def _context(
    request: HtmxRequest, form: EvaluationForm, states: list[AskedState]
) -> dict[str, Any]:
    shown = EvalsShown(form, states)
    return {
        "form": form,
        "filters": shown.filters,
        "chosen": form.cleaned_data,
        "title": shown.title,
        "told": shown.told,
        "rows": shown.rows,
        "columns": columns(form.cleaned_data["sort"]),
        "counts": {
            "asked": len(shown.measured),
            "official": len(shown.official),
            "missing": sum(row.judged is None for row in shown.rows),
        },
        "overlays": [{"state": state} for state in states],
        "has_unofficial": any(r.publication == "unofficial" for r in shown.rows),
        "without_scores": shown.without_scores,
        "refused_runs": form.unofficial.refused,
        "asked_tokens": ",".join(run.token for run in form.unofficial.runs),
        "without_all": rewritten(request.GET, ()),
        "waiting": waiting_for(states),
        "next_look": next_look(states),
        "path": reverse("evaluation"),
        "here": request.get_full_path(),
        "page_name": "evaluation",
        "query": request.GET.urlencode(),
        "permalink": _permalink(request, shown),
        **_drawing(request, shown),
    }


def _official_at(run: Run) -> datetime:
    return run.published_at or run.created_at


def _permalink(request: HttpRequest, shown: EvalsShown) -> Permalink:
    """Return a link as of the newest official run that is listed."""
    runs = [row.run for row in shown.rows if row.state is None]
    newest = max(runs, key=_official_at, default=None)
    if shown.filters.moment is not None or newest is None:
        return permalink(request, {}, AS_OF.format("the day or run that was asked for"))
    pins = {"asof_run": newest.github_run_id, "date": ""}
    return permalink(request, pins, AS_OF.format(f"run {newest.github_run_id}"))


def _drawing(request: HttpRequest, shown: EvalsShown) -> dict[str, Any]:
    if isinstance(shown.figure, str):
        return {"reason": shown.figure}
    drawn = sum(row.share is not None for row in shown.rows)
    return {
        "figure": shown.figure,
        "alone": evaluation_export(shown.figure, _words(request, shown)),
        "left_out": max(drawn - MOST_ROWS, 0),
    }


def _words(request: HttpRequest, shown: EvalsShown) -> Words:
    """Return what the chart says of itself away from its page."""
    runs = sorted(
        {row.run.github_run_id for row in shown.rows if row.share is not None}
    )
    named = ", ".join(map(str, runs[:MOST_RUNS]))
    more = f" and {len(runs) - MOST_RUNS} more" if len(runs) > MOST_RUNS else ""
    day = shown.filters.day or timezone.now().date()
    unofficial = sorted(
        {
            str(row.run.github_run_id)
            for row in shown.rows
            if row.publication != "official"
        }
    )
    mark = f"unofficial run {', '.join(unofficial)}" if unofficial else ""
    address = request.build_absolute_uri(request.get_full_path())
    lines = [
        f"Newest official score of each place as of {day:%Y-%m-%d} (UTC)",
        f"Runs {named}{more}",
        f"Source: Frontierboard, {address}",
    ]
    return Words(shown.title, lines, mark)
