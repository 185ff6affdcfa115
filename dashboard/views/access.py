"""Who may look: with FRONTIERBOARD_LOGIN_REQUIRED=1 only people who are logged in."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.middleware import (
    LoginRequiredMiddleware as DjangoLoginRequiredMiddleware,
)
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

# Probes say nothing of runs; the others check a secret of their own.
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/metrics", "/webhooks/github"})
UPLOADS = "/api/v1/runs"
DECISIONS = "/api/v1/regressions/"
# In the shape that every error of the interface has.
LOG_IN = {
    "error": {
        "code": "unauthorized",
        "parameter": "session",
        "message": "Log in at /login first.",
        "allowed": None,
    }
}


class LoginRequiredMiddleware(DjangoLoginRequiredMiddleware):
    """Django's, where the settings ask for it, but for what has no reader."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., HttpResponseBase],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        if not settings.FRONTIERBOARD_LOGIN_REQUIRED or _is_open(request):
            return None
        if request.path.startswith("/api/") and not request.user.is_authenticated:
            return JsonResponse(LOG_IN, status=HTTPStatus.UNAUTHORIZED)
        answer: HttpResponseBase | None = super().process_view(
            request, view_func, view_args, view_kwargs
        )
        return answer

    def handle_no_permission(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> Any:
        """Lead to the login, and from there back to the page that was looked at.

        htmx would put the login page into a part of the shown one: it is told to leave.
        """
        login = redirect_to_login(_page_of(request), self.get_login_url(view_func))
        if "HX-Request" not in request.headers:
            return login
        return HttpResponse(
            "Log in first.",
            status=HTTPStatus.UNAUTHORIZED,
            headers={"HX-Redirect": login["Location"]},
            content_type="text/plain",
        )


def _page_of(request: HttpRequest) -> str:
    """Return the path that can be opened again after the login.

    A part or the target of a form cannot: the page that asked for it can.
    """
    is_part = "HX-Request" in request.headers
    if request.method in {"GET", "HEAD"} and not is_part:
        return request.get_full_path()
    asked_by = "HX-Current-URL" if is_part else "Referer"
    parts = urlsplit(request.headers.get(asked_by, ""))
    if (parts.scheme, parts.netloc) != (request.scheme, request.get_host()):
        return settings.LOGIN_REDIRECT_URL
    return parts._replace(scheme="", netloc="", fragment="").geturl() or "/"


def _is_open(request: HttpRequest) -> bool:
    is_upload = request.method == "POST" and request.path == UPLOADS
    is_decision = request.method == "PATCH" and request.path.startswith(DECISIONS)
    return is_upload or is_decision or request.path in OPEN_PATHS
