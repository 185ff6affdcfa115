"""In which charset a request is read: UTF-8, whatever it says of itself."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def charset_middleware(get_response: GetResponse) -> GetResponse:
    """Read every address and every form as UTF-8.

    Django reads them in the charset that the request names. So one address could mean
    several pages, while answers are kept by address; and it refuses a form in another
    charset once more while it tells of the refusal, which ends as an error of ours.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.encoding:
            request.encoding = "utf-8"
        return get_response(request)

    return answer
