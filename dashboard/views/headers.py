"""Headers of every answer that Django has no setting for."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

# Nothing here uses a camera or a place, and no script that got in may.
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope"),
        *("magnetometer", "microphone", "midi", "payment", "serial", "usb"),
    )
)

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def headers_middleware(get_response: GetResponse) -> GetResponse:
    """Forbid what browsers can do and pages need not; keep other sites from embedding.

    An answer that says itself who may embed it, as the interface may, is left alone.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        if "Access-Control-Allow-Origin" not in response.headers:
            response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response

    return answer
