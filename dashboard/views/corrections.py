"""Corrections from the page of a run: made and undone, by those who may."""

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from dashboard import corrections
from dashboard.corrections import Named
from dashboard.models import Correction, Run
from dashboard.permissions import may_correct
from dashboard.queries.run_report import RunReport, run_report
from dashboard.views.correction_forms import CorrectionForm, UndoForm
from dashboard.views.runs import run_page

STORED = "Stored. The worker is deriving what follows; this page shows it in a moment."
STANDS = "This was corrected so already, by {by}: {why}"
WAS_UNDONE = "This was undone already, by {by}: {why}"
FORBIDDEN = "Corrections are made by members of the group triage and by superusers."


@require_POST
def run_corrections(request: HttpRequest, run_id: int) -> HttpResponse:
    report = _report(run_id)
    if (barred := _barred(request, report.run)) is not None:
        return barred
    form = CorrectionForm(report, request.POST)
    if not form.is_valid():
        return run_page(request, report, tried=form, refusals=form.sentences)
    reason = form.cleaned_data["reason"]
    author = request.user.get_username()
    try:
        made = _made(report.run, form.named, author, reason)
    except corrections.CorrectionRefusedError as error:
        return run_page(request, report, tried=form, refusals=[str(error)])
    is_new = (made.author, made.reason) == (author, reason)
    said = STORED if is_new else STANDS.format(by=made.author, why=made.reason)
    messages.success(request, said)
    return HttpResponseRedirect(report.run.get_absolute_url())


@require_POST
def undo_correction(request: HttpRequest, pk: int) -> HttpResponse:
    found = Correction.objects.select_related("run").filter(pk=pk).first()
    if found is None:
        raise Http404(f"There is no correction {pk}.")
    if (barred := _barred(request, found.run)) is not None:
        return barred
    form = UndoForm(request.POST)
    if not form.is_valid():
        report = _report(found.run.github_run_id)
        return run_page(request, report, refusals=form.sentences)
    reason = form.cleaned_data["reason"]
    author = request.user.get_username()
    corrections.undo(correction=found, author=author, reason=reason)
    is_new = (found.undone_by, found.undo_reason) == (author, reason)
    was_undone = WAS_UNDONE.format(by=found.undone_by, why=found.undo_reason)
    messages.success(request, STORED if is_new else was_undone)
    return HttpResponseRedirect(found.run.get_absolute_url())


def _report(run_id: int) -> RunReport:
    report = run_report(run_id)
    if report is None:
        raise Http404(f"Run {run_id} is not stored here.")
    return report


def _barred(request: HttpRequest, run: Run) -> HttpResponse | None:
    """Send people who are not logged in to the login, and refuse others by a 403."""
    if not request.user.is_authenticated:
        return redirect_to_login(run.get_absolute_url())
    if not may_correct(request.user):
        raise PermissionDenied(FORBIDDEN)
    return None


@transaction.atomic
def _made(run: Run, named: Named, author: str, reason: str) -> Correction:
    """Make all that is named, or nothing; return the first correction."""
    made = [
        corrections.correct(target=target, author=author, reason=reason)
        for target in corrections.named_targets(run, named)
    ]
    return made[0]
