"""The documents of an eval: as a page, or as a drawer beside the list of evals."""

from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, cast

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from dashboard.analysis.eval_changes import Flips, ScoreChange, paired_change
from dashboard.forms.samples import FAILED, FLIPPED, SHOWN, SamplesForm
from dashboard.models import EvalResult, Run
from dashboard.queries import eval_samples as queries
from dashboard.queries.eval_samples import SamplePage
from dashboard.queries.eval_standing import EvalStanding, eval_standings
from dashboard.queries.run_parts import JudgedEval, judged
from dashboard.views.tables import Ending, Table, refused, table_answer
from dashboard.vocabulary.floors import Filter

PAGE_SIZE = 20
DRAWER = "drawer"
FILE_COLUMNS = (
    *("doc_id", "filter", "passed", "score", "prompt", "target", "answer"),
    *("extracted", "run_id", "repository", "attempt", "config_key", "deployment"),
    *("scenario", "concurrency", "task"),
)


class HtmxRequest(HttpRequest):
    """A request that the middleware has told who asks."""

    htmx: HtmxDetails


@require_safe
def eval_samples(request: HtmxRequest, pk: int) -> HttpResponse:
    result = _stored(pk)
    form = SamplesForm(request.GET)
    if not form.is_valid():
        said = {"sentences": form.sentences}
        status = HTTPStatus.BAD_REQUEST
        return render(request, "evaluation_refused.html", said, status=status)
    is_drawer = bool(request.htmx) and request.htmx.target == DRAWER
    template = "_eval_samples.html" if is_drawer else "eval_samples.html"
    context = _context(SamplesShown(result, form.cleaned_data), is_drawer=is_drawer)
    answer = render(request, template, context)
    patch_vary_headers(answer, ["HX-Request", "HX-Target"])
    return answer


@require_safe
def eval_samples_file(
    request: HttpRequest, pk: int, ending: Ending
) -> HttpResponseBase:
    """Return the documents of the page that is shown, a row per filter."""
    result = _stored(pk)
    form = SamplesForm(request.GET)
    if not form.is_valid():
        return refused(form.sentences)
    shown = SamplesShown(result, form.cleaned_data)
    page = reverse("eval_samples", args=[pk])
    return table_answer(request, samples_table(shown).of(page), ending)


def samples_table(shown: "SamplesShown") -> Table:
    """Return question, answer and result of each document; texts are whole."""
    result = shown.result
    place = (
        *(result.run.github_run_id, result.run.repository.full_name, result.attempt),
        *(result.config_key.key, result.deployment.label, result.scenario),
        *(result.concurrency, result.task),
    )
    rows = [
        (
            *(document.doc_id, found.filter, found.passed, found.score),
            *(document.prompt, document.target, document.answer, found.extracted),
            *place,
        )
        for document in shown.page.documents
        for found in document.results
    ]
    about = {"eval": result.pk, "page": shown.number, "total": shown.page.total}
    name = f"run-{result.run.github_run_id}-samples-{result.pk}"
    return Table(name, FILE_COLUMNS, rows, about, brief=FILE_COLUMNS[:8])


def _stored(pk: int) -> EvalResult:
    related = ("config_key", "deployment", "run__repository")
    result = EvalResult.objects.select_related(*related).filter(pk=pk).first()
    if result is None or result.run.publication == Run.Publication.HIDDEN:
        raise Http404("There is no such eval.")
    return result


@dataclass(frozen=True)
class SamplesShown:
    """An eval and what is asked of its documents; each part is read once."""

    result: EvalResult
    asked: dict[str, Any]

    @cached_property
    def judged(self) -> JudgedEval:
        """The eval held against its floor."""
        (one,) = judged([self.result])
        return one

    @cached_property
    def standing(self) -> EvalStanding:
        """The eval in the history of its place."""
        return eval_standings([self.judged])[self.result.pk]

    @cached_property
    def flips(self) -> Flips | None:
        """What flipped against the baseline, None where no document is shared."""
        base = self.standing.former.moment
        if base is None:
            return None
        decisive = cast("Filter", self.standing.verdict.head.decisive)
        return queries.flipped(base.eval_id, self.result.pk, decisive)

    @property
    def paired(self) -> ScoreChange | None:
        """How the shared documents changed, by McNemar's test."""
        return paired_change(self.flips) if self.flips else None

    @property
    def number(self) -> int:
        """The page that is shown, from 1."""
        return self.asked["page"] or 1

    @cached_property
    def page(self) -> SamplePage:
        """The documents of the page, or the one that was asked for."""
        asked, start = self.asked, (self.number - 1) * PAGE_SIZE
        if asked["doc"] is not None:
            found = queries.documents_of(self.result.pk, [asked["doc"]])
            return SamplePage(found, len(found), has_more=False)
        if asked["show"] == FLIPPED:
            ids = sorted((*self.flips.lost, *self.flips.won)) if self.flips else []
            shown = ids[start : start + PAGE_SIZE]
            found = queries.documents_of(self.result.pk, shown)
            return SamplePage(found, len(ids), has_more=len(ids) > start + PAGE_SIZE)
        return queries.page(
            self.result.pk,
            failed_only=asked["show"] == FAILED,
            search=asked["q"],
            offset=start,
            limit=PAGE_SIZE,
        )


def _context(shown: SamplesShown, *, is_drawer: bool) -> dict[str, Any]:
    return {
        "eval": shown.result,
        "judged": shown.judged,
        "standing": shown.standing,
        "flips": shown.flips,
        "paired": shown.paired,
        "asked": shown.asked,
        "choices": SHOWN.items(),
        "page": shown.page,
        "number": shown.number,
        "before": shown.number - 1,
        "after": shown.number + 1,
        "is_drawer": is_drawer,
        "is_whole": shown.asked["doc"] is not None,
        "here": reverse("eval_samples", args=[shown.result.pk]),
        "has_samples": bool(shown.page.documents)
        or bool(queries.counts([shown.result.pk])),
    }
