"""Write the OpenAPI document that is kept with the code, so that drift is seen."""

from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand

from dashboard.api.application import api

DOCUMENT: Path = settings.BASE_DIR / "docs" / "openapi.json"


def document() -> bytes:
    """Return the document as it is kept: indented, one end of line at its end."""
    found = orjson.loads(orjson.dumps(api.get_openapi_schema(), option=NOT_TEXT_KEYS))
    return orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


NOT_TEXT_KEYS = orjson.OPT_NON_STR_KEYS  # statuses are numbers


class Command(BaseCommand):
    """Renews docs/openapi.json; a test fails while it says otherwise than the code."""

    help = "Write docs/openapi.json from the code."

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file and say so."""
        DOCUMENT.write_bytes(document())
        self.stdout.write(f"wrote {DOCUMENT.relative_to(settings.BASE_DIR)}")
