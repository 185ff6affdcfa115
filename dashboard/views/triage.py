"""Decisions on regressions, sent by the list or by the page of one."""

import re
from collections.abc import Iterator, Mapping

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard import triage
from dashboard.forms.regressions import TriageForm
from dashboard.models import Regression
from dashboard.permissions import may_correct, triagers
from dashboard.queries.regressions import SHOWN
from dashboard.triage import Decision, Outcome, Seen, TriageRefusedError

FORBIDDEN = "Regressions are triaged by members of the group triage and by superusers."
MOST_AT_ONCE = 200
MOST_NAMED = 5
LONGEST_BACK = 2000
_ROW_ID = re.compile(r"[0-9]{1,18}")
_SEEN = re.compile(r"([a-z' ]{1,16})\|([0-9]{0,18})")


@require_POST
def triage_regressions(request: HttpRequest) -> HttpResponse:
    query = request.POST.get("back", "")
    safe = query if len(query) <= LONGEST_BACK else ""
    back = reverse("regressions") + (f"?{safe}" if safe else "")
    if (barred := _barred(request, back)) is not None:
        return barred
    ids = [int(v) for v in request.POST.getlist("regression") if _ROW_ID.fullmatch(v)]
    if not ids:
        messages.error(request, "Nothing was stored: select a regression first.")
    elif len(ids) > MOST_AT_ONCE:
        messages.error(request, f"Nothing was stored: at most {MOST_AT_ONCE} at once.")
    else:
        _decide(request, ids)
    return HttpResponseRedirect(back)


@require_POST
def triage_regression(request: HttpRequest, pk: int) -> HttpResponse:
    found = Regression.objects.filter(SHOWN, pk=pk).first()
    if found is None:
        raise Http404(f"There is no regression {pk}.")
    back = found.get_absolute_url()
    if (barred := _barred(request, back)) is not None:
        return barred
    _decide(request, [pk])
    return HttpResponseRedirect(back)


def _barred(request: HttpRequest, back: str) -> HttpResponse | None:
    """Send people who are not logged in to the login, and refuse others by a 403."""
    if not request.user.is_authenticated:
        return redirect_to_login(back)
    if not may_correct(request.user):
        raise PermissionDenied(FORBIDDEN)
    return None


def _decide(request: HttpRequest, ids: list[int]) -> None:
    """Store what is decided, and tell what came of it on the next page."""
    form = TriageForm(triagers(), request.POST)
    if not form.is_valid():
        messages.error(request, f"Nothing was stored: {' '.join(form.sentences)}")
        return
    try:
        outcome = triage.triage(
            ids=ids,
            decision=Decision(**form.decided),
            author=request.user.get_username(),
            seen=_seen(request, ids),
        )
    except TriageRefusedError as error:
        messages.error(request, f"Nothing was stored: {error}")
        return
    for level, text in _told(outcome, form.decided):
        messages.add_message(request, level, text)


def _seen(request: HttpRequest, ids: list[int]) -> Mapping[int, Seen]:
    """Return what the form had been made from, for those that say so legibly."""
    found = {pk: _SEEN.fullmatch(request.POST.get(f"seen_{pk}", "")) for pk in ids}
    return {
        pk: Seen(said[1], int(said[2]) if said[2] else None)
        for pk, said in found.items()
        if said is not None
    }


def _told(outcome: Outcome, decided: Mapping[str, object]) -> Iterator[tuple[int, str]]:
    parts = [
        f"{len(ids)} {word}"
        for ids, word in (
            (outcome.changed, "changed"),
            (outcome.noted, "noted"),
            (outcome.same, "already so"),
        )
        if ids
    ]
    if parts:
        yield messages.INFO, f"Stored: {', '.join(parts)}."
    for row in outcome.stale[:MOST_NAMED]:
        yield messages.WARNING, _stale(row, str(decided["note"]))
    if (more := len(outcome.stale) - MOST_NAMED) > 0:
        yield messages.WARNING, f"So were {more} more."
    if outcome.unknown:
        named = ", ".join(f"#{pk}" for pk in outcome.unknown[:MOST_NAMED])
        yield messages.WARNING, f"Not stored any more: {named}."


def _stale(row: Regression, note: str) -> str:
    last = row.events.last()
    by = f" by {last.author}" if last else ""
    owner = f", owner {row.owner.get_username()}" if row.owner else ""
    kept = f" Your note was: {note}" if note else ""
    return (
        f"#{row.pk} was changed{by} meanwhile and is left as it is now: "
        f"{row.get_state_display()}{owner}.{kept}"
    )
