"""The verdict on a run as Markdown, to be pasted into a pull request."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.analysis.verdict_report import markdown_report
from dashboard.forms.verdicts import VerdictForm
from dashboard.queries.run_verdicts import run_verdict, stored_run


@require_safe
def verdict_markdown(request: HttpRequest, run_id: int) -> HttpResponse:
    form = VerdictForm(request.GET)
    if not form.is_valid():
        problems = (f"{name}: {errors[0]}" for name, errors in form.errors.items())
        return _text("\n".join(problems), HTTPStatus.BAD_REQUEST)
    run, base_id = stored_run(run_id), form.cleaned_data["base"]
    base = None if base_id is None else stored_run(base_id)
    if run is None or (base_id is not None and base is None):
        unknown = run_id if run is None else base_id
        return _text(f"Run {unknown} is not stored here.", HTTPStatus.NOT_FOUND)
    found = run_verdict(run, base=base, attempt=form.cleaned_data["attempt"])
    return _text(markdown_report(found.facts, found.verdicts), HTTPStatus.OK)


def _text(body: str, status: HTTPStatus) -> HttpResponse:
    kind = "markdown" if status == HTTPStatus.OK else "plain"
    return HttpResponse(body, status=status, content_type=f"text/{kind}; charset=utf-8")
