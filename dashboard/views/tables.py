"""A page's table as files: the same rows as CSV, as JSON and as a Markdown table.

A page names its columns once and hands over its rows as plain values, in the order of
the page and under the same filters::

    COLUMNS = ("run_id", "config_key", "ttft_s")

    @require_safe
    def points_file(request, ending):           # path("points.<ending:ending>", ...)
        form = ...                              # a refusal is refused(form.sentences)
        rows = [(row.run_id, row.key, row.ttft) for row in shown(form)]
        return table_answer(request, Table("points", COLUMNS, rows), ending)

A header ends in its unit (``ttft_s``), a fraction stays one, None is missing and never
0. ``{% table_files "points_file" %}`` (templatetags/files.py) links the files from the
page. A list is answered at once; anything that is read late is streamed.
"""

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from http import HTTPStatus
from itertools import islice
from typing import Any

import numpy as np
import orjson
import pandas as pd
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.encoding import iri_to_uri

from dashboard.caching import current_generation
from dashboard.vocabulary import markdown
from dashboard.vocabulary.texts import FORMULA_STARTS, one_line

LONGEST_CELL = 4000
LONGEST_NAME = 120
CHUNK = 64 * 1024  # bytes that are sent at once
MOST_MARKDOWN_ROWS = 500  # nobody pastes more; the note below says what is left out
LONGEST_MARKDOWN_CELL = 200
JOINT = "; "
# Means nothing to Markdown, so that names of columns read as they are written.
_IDENTIFIER = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")


class Ending(StrEnum):
    """The files that a table is offered as."""

    CSV = "csv"
    JSON = "json"
    MARKDOWN = "md"


class EndingConverter:
    """``<ending:ending>`` in an address: one of the files that a table has."""

    regex = "csv|json|md"

    def to_python(self, value: str) -> Ending:
        return Ending(value)

    def to_url(self, value: str) -> str:
        return str(value)


@dataclass(frozen=True)
class Table:
    """Rows of plain values under ``columns``; ``name`` is the file's, without ending.

    A value is a number, text, truth, time, None, or a list of these. ``rows`` is read
    once. ``about`` is what holds for all rows, such as the day as of which they are
    (``as_of``); the generation of the data and the page's address are added to it.
    ``page`` is the path of the page, where it is not the file's own without its ending.
    ``brief`` names the columns of the Markdown table, all where it is empty.
    """

    name: str
    columns: Sequence[str]
    rows: Iterable[Iterable[object]]
    about: Mapping[str, object] = field(default_factory=dict)
    page: str = ""
    brief: Sequence[str] = ()

    def of(self, page: str) -> "Table":
        """Return the same table with the path of its page."""
        return replace(self, page=page)


def table_answer(
    request: HttpRequest, table: Table, ending: Ending | str
) -> HttpResponseBase:
    """Return the table as one of its files. HEAD tells of it and reads no row."""
    kind, write = _KINDS[Ending(ending)]
    facts = {
        "source": request.build_absolute_uri(page_address(request, table.page)),
        "generation": current_generation(),
        **table.about,
    }
    content_type = f"{kind}; charset=utf-8"
    answer: HttpResponseBase
    if request.method == "HEAD":
        answer = StreamingHttpResponse([], content_type=content_type)
    elif isinstance(table.rows, list | tuple):
        body = b"".join(write(table, facts))
        answer = HttpResponse(body, content_type=content_type)
    else:
        parts = _chunked(write(table, facts))
        answer = StreamingHttpResponse(parts, content_type=content_type)
    how = "inline" if ending == Ending.MARKDOWN else "attachment"
    filename = f"{safe_name(table.name)}.{ending}"
    answer["Content-Disposition"] = f'{how}; filename="{filename}"'
    return answer


def page_address(request: HttpRequest, page: str = "") -> str:
    """Return path and query of the page of this file: ``/runs?q=x`` of ``/runs.csv``.

    A file below its page (``/runs/1/points.csv``) gives the path of the page, and may
    give a query with it.
    """
    path = page or request.path.rpartition(".")[0]
    query = request.META.get("QUERY_STRING", "")
    return f"{path}?{iri_to_uri(query)}" if query and "?" not in path else path


def refused(sentences: Iterable[str]) -> HttpResponse:
    """Return why there is no file, as plain text that a script can print."""
    return HttpResponse(
        "\n".join(sentences),
        status=HTTPStatus.BAD_REQUEST,
        content_type="text/plain; charset=utf-8",
    )


def safe_name(name: str) -> str:
    """Return a file's name that no header, shell or file system takes amiss."""
    return re.sub(r"[^a-zA-Z0-9._-]", "_", name)[:LONGEST_NAME].lstrip("._-") or "table"


def plain(value: object) -> Any:
    """Return a value as JSON knows it: times as ISO 8601, what is no number as None."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is pd.NaT or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, int | float) else str(value)


def csv_cell(value: object) -> object:
    """Return a cell of a CSV: blank where missing, text that no spreadsheet runs."""
    known = plain(value)
    if isinstance(known, list):
        known = JOINT.join("" if one is None else str(one) for one in known)
    if isinstance(known, str):
        # Before the ends of lines are taken out: they too begin a formula.
        is_formula = known.startswith(FORMULA_STARTS)
        text = one_line(known, LONGEST_CELL)
        return f"'{text}" if is_formula or text.startswith(FORMULA_STARTS) else text
    return "" if known is None else known


def _chunked(parts: Iterable[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


class _Echo:
    """What a CSV writer writes into: it gives the line back."""

    def write(self, line: str) -> str:
        return line


def _csv(table: Table, facts: Mapping[str, object]) -> Iterator[bytes]:
    """Yield the lines; the generation stands in each, as a file may be cut."""
    writer: Any = csv.writer(_Echo())
    yield writer.writerow([*map(csv_cell, table.columns), "generation"]).encode()
    for row in table.rows:
        cells = [*map(csv_cell, row), facts["generation"]]
        yield writer.writerow(cells).encode()


def _json(table: Table, facts: Mapping[str, object]) -> Iterator[bytes]:
    """Yield one object: what holds for all rows, the columns, the rows by column."""
    about = {name: plain(value) for name, value in facts.items()}
    yield b'{"about":' + orjson.dumps(about)
    yield b',"columns":' + orjson.dumps(list(table.columns)) + b',"rows":['
    joint = b""
    for row in table.rows:
        named = dict(zip(table.columns, map(plain, row), strict=True))
        yield joint + orjson.dumps(named)
        joint = b","
    yield b"]}\n"


def _markdown(table: Table, facts: Mapping[str, object]) -> Iterator[bytes]:
    """Yield the table with numbers to the right, and below where it is from."""
    rows = iter(table.rows)
    shown = [list(row) for row in islice(rows, MOST_MARKDOWN_ROWS)]
    places = [
        place
        for place, name in enumerate(table.columns)
        if not table.brief or name in table.brief
    ]
    yield _line(_markdown_header(table.columns[place]) for place in places)
    yield _line(_alignment(row[place] for row in shown) for place in places)
    for row in shown:
        yield _line(_markdown_cell(row[place]) for place in places)
    left_out = sum(1 for _ in rows)
    if left_out:
        said = f"The first {len(shown)} rows; {left_out} more are in the CSV."
        yield f"\n{said}\n".encode()
    where = f"Source: <{facts['source']}>, generation {facts['generation']}"
    as_of = plain(facts.get("as_of"))
    yield f"\n{where}{f', as of {as_of}' if as_of else ''}\n".encode()


def _line(cells: Iterable[str]) -> bytes:
    return f"| {' | '.join(cells)} |\n".encode()


def _alignment(values: Iterable[object]) -> str:
    known = [one for one in map(plain, values) if one is not None]
    numbers = [isinstance(one, int | float) for one in known]
    return "---:" if numbers and all(numbers) else "---"


def _markdown_header(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else markdown.plain(name)


def _markdown_cell(value: object) -> str:
    known = plain(value)
    if known is None:
        return ""
    if isinstance(value, datetime | date):
        return str(known)
    if isinstance(known, list):
        known = JOINT.join("" if one is None else str(one) for one in known)
    if isinstance(known, str):
        return markdown.plain(known, LONGEST_MARKDOWN_CELL)
    if isinstance(known, bool):
        return "yes" if known else "no"
    return f"{known:.6g}" if isinstance(known, float) else str(known)


_Writer = Callable[[Table, Mapping[str, object]], Iterator[bytes]]
_KINDS: dict[Ending, tuple[str, _Writer]] = {
    Ending.CSV: ("text/csv", _csv),
    Ending.JSON: ("application/json", _json),
    Ending.MARKDOWN: ("text/markdown", _markdown),
}
