"""The verdict on a run as Markdown, to be pasted into a pull request."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.analysis.verdict_report import markdown_report
from dashboard.forms.verdicts import VerdictForm
from dashboard.queries.run_verdicts import AskedVerdict, VerdictRefusedError


@require_safe
def verdict_markdown(request: HttpRequest, run_id: int) -> HttpResponse:
    form = VerdictForm(request.GET)
    if not form.is_valid():
        problems = (f"{name}: {errors[0]}" for name, errors in form.errors.items())
        return _text("\n".join(problems), HTTPStatus.BAD_REQUEST)
    try:
        found = AskedVerdict(run_id, **form.cleaned_data).answer()
    except VerdictRefusedError as error:
        status = HTTPStatus.NOT_FOUND if error.is_unknown else HTTPStatus.BAD_REQUEST
        return _text(str(error), status)
    return _text(markdown_report(found.facts, found.verdicts), HTTPStatus.OK)


def _text(body: str, status: HTTPStatus) -> HttpResponse:
    kind = "markdown" if status == HTTPStatus.OK else "plain"
    return HttpResponse(body, status=status, content_type=f"text/{kind}; charset=utf-8")
