"""What a cache between the site and its readers may keep, and for how long."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from dashboard.kept import SHAPING

# What the site says of an answer that is the same for everybody who is not logged in.
ANYBODYS = "no-cache"
KEEPABLE = frozenset({200, 304})


class SharedCacheMiddleware:
    """Lets shared caches keep what is anybody's; readers themselves ask each time.

    What is a reader's own is said to be private. Whoever asks with a session or a token
    never reads, and never fills, what others get.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, with the headers that a content delivery network looks at."""
        response = self.get_response(request)
        if _is_somebodys(request):
            if not response.has_header("Cache-Control"):
                response["Cache-Control"] = "private"
            patch_vary_headers(response, ["Cookie"])
        elif _is_shared(request, response):
            seconds = settings.FRONTIERBOARD_CDN_SECONDS
            response["Cache-Control"] = f"public, max-age=0, s-maxage={seconds}"
            # What an address answers differs by these as well.
            patch_vary_headers(response, ["Cookie", *SHAPING, "Accept-Encoding"])
        return response


def _is_somebodys(request: HttpRequest) -> bool:
    has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
    return has_session or "Authorization" in request.headers


def _is_shared(request: HttpRequest, response: HttpResponse) -> bool:
    """Tell whether an answer is anybody's and whole, and may be a little old."""
    return (
        settings.FRONTIERBOARD_CDN_SECONDS > 0
        and not settings.FRONTIERBOARD_LOGIN_REQUIRED
        and request.method in {"GET", "HEAD"}
        and response.status_code in KEEPABLE
        and response.get("Cache-Control") == ANYBODYS
        and response.has_header("ETag")
        and not response.cookies
        # The state of a request for a run is looked at until it changes.
        and not any(name.lower().startswith("unofficialrun") for name in request.GET)
    )
