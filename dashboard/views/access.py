"""Who may look: with FRONTIERBOARD_LOGIN_REQUIRED=1 only people who are logged in."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import (
    LoginRequiredMiddleware as DjangoLoginRequiredMiddleware,
)
from django.http import HttpRequest, HttpResponseBase, JsonResponse

# Probes say nothing of runs; the webhook and uploads check a secret of their own.
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/webhooks/github"})
UPLOADS = "/api/v1/runs"


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
            refused = {"detail": "log in at /admin/ first"}
            return JsonResponse(refused, status=HTTPStatus.UNAUTHORIZED)
        answer: HttpResponseBase | None = super().process_view(
            request, view_func, view_args, view_kwargs
        )
        return answer


def _is_open(request: HttpRequest) -> bool:
    is_upload = request.method == "POST" and request.path == UPLOADS
    return is_upload or request.path in OPEN_PATHS
