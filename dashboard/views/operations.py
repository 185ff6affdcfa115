"""What operators ask: whether the process answers, and whether it can do its work."""

from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.probing import FAULTS


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 503 with a reason for each part that is not ready.

    ``?parts=database,migrations`` asks for some only: pages need no worker.
    """
    named = request.GET.get("parts") or ",".join(FAULTS)
    asked = list(dict.fromkeys(named.split(",")))
    unknown = [name for name in asked if name not in FAULTS]
    if unknown:
        text = f"parts must be of {', '.join(FAULTS)}"
        return JsonResponse({"detail": text}, status=HTTPStatus.BAD_REQUEST)
    with ThreadPoolExecutor(len(FAULTS)) as threads:
        found = dict(zip(asked, threads.map(_fault, asked), strict=True))
    reasons = {name: fault for name, fault in found.items() if fault}
    parts = {
        name: {"ready": not fault, "reason": fault} for name, fault in found.items()
    }
    body = {"ready": not reasons, "parts": parts, "reasons": reasons}
    return JsonResponse(body, status=503 if reasons else 200)


def _fault(name: str) -> str:
    return FAULTS[name]()
