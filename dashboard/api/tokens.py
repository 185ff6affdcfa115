"""Who asks: the token of a request that wants to change something."""

from http import HTTPStatus

from django.http import HttpRequest
from django.utils import timezone

from dashboard.api.errors import RequestFault
from dashboard.models import ApiToken


def bearer_token(request: HttpRequest) -> ApiToken:
    """Return the token of a request and note its use; raises RequestFault."""
    scheme, _, plain = request.headers.get("Authorization", "").partition(" ")
    token = ApiToken.matching(plain.strip()) if scheme.lower() == "bearer" else None
    if token is None:
        reason = "A token is needed: Authorization: Bearer <token>."
        raise RequestFault("Authorization", reason, status=HTTPStatus.UNAUTHORIZED)
    if token.revoked_at is not None:
        reason = "The token was revoked."
        raise RequestFault("Authorization", reason, status=HTTPStatus.FORBIDDEN)
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now())
    return token
