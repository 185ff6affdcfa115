"""Answers packed as the reader takes them: pages, JSON, and streams as they are made.

Pages are packed too. What BREACH reads out of packed sizes is a secret that stands
beside text of the attacker's choice: Django masks the only one in a page, the CSRF
token, anew for each answer; cookies of the session are lax, so that a foreign page
cannot ask in a reader's name; and a header of random length blurs the sizes.
"""

import re

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django_http_compression.middleware import HttpCompressionMiddleware
from isal import igzip, isal_zlib

GZIP_WINDOW = 16 + isal_zlib.MAX_WBITS
# Of this packer every level is quick; the usual one makes nothing smaller.
LEVEL = 1


def gzipped(body: bytes) -> bytes:
    """Return a body as gzip, the same bytes whenever it is packed."""
    return igzip.compress(body, LEVEL, mtime=0)


def gunzipped(body: bytes) -> bytes:
    """Return what was packed as gzip."""
    return isal_zlib.decompress(body, GZIP_WINDOW)


class CompressionMiddleware(HttpCompressionMiddleware):
    """The library's, which packs lines of JSON as well."""

    content_type_re = re.compile(
        rf"application/x-ndjson|(?:{HttpCompressionMiddleware.content_type_re.pattern})",
        HttpCompressionMiddleware.content_type_re.flags,
    )

    def maybe_compress(self, request: HttpRequest, response: HttpResponseBase) -> None:
        """Pack an answer; an unpacked one says as well that others may be packed."""
        content_type = response.get("Content-Type", "")
        if self.content_type_re.match(content_type):
            patch_vary_headers(response, ["Accept-Encoding"])
        super().maybe_compress(request, response)
