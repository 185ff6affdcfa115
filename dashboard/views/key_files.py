"""What the page of a key shows, as CSV: the same rows, units in the headers."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from django.http import HttpResponse

from dashboard.analysis.changes import sentence
from dashboard.views.key_parts import KeyShown
from dashboard.views.point_tables import Block, csv_answer
from dashboard.views.run_points import cells
from dashboard.vocabulary.texts import one_line

LONGEST_CELL = 4000
Rows = Iterator[Iterable[object]]


def table_csv(shown: KeyShown, table: str) -> HttpResponse:
    """Return one of the ``FILES`` of the page as a download."""
    view = shown.view
    named = "-".join(filter(None, (shown.key.key, view.scenario, table)))
    filename = f"{re.sub(r'[^a-zA-Z0-9.-]', '_', named)}.csv"
    if table in TABLES:
        return rows_csv(TABLES[table](shown), filename)
    blocks = [Block(shown.points)] if shown.history.current else []
    return csv_answer(blocks, shown.x.name, shown.y.name, filename)


def rows_csv(rows: Iterable[Iterable[object]], filename: str) -> HttpResponse:
    """Return rows, the header first, as a CSV download; what is missing is blank."""
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{filename}"'
    csv.writer(answer).writerows(cells(map(_cell, row)) for row in rows)
    return answer


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return one_line(value, LONGEST_CELL) if isinstance(value, str) else value


def _history(shown: KeyShown) -> Rows:
    names = [f"{one.name}: {shown.value_title}" for one in shown.series]
    bounds = [f"{one.name}: {end}" for one in shown.series for end in ("low", "high")]
    yield (
        *("config_key", "scenario", "official_at", "run_id", "pr_number", "state"),
        *("segment", "checkpoint", "image", "received", "planned", "changes"),
        *names,
        *(bounds if shown.has_bounds else ()),
    )
    for sweep, values in shown.rows:
        facts = sweep.facts
        ends = [e for v in values for e in ((v.low, v.high) if v else (None, None))]
        yield (
            *(facts.config_key, facts.scenario, sweep.at, facts.run_id),
            *(sweep.pull.number if sweep.pull else None, sweep.state, sweep.segment),
            *(facts.checkpoint, facts.image, facts.received, facts.planned),
            "; ".join(map(sentence, sweep.changes)),
            *(value.value if value else None for value in values),
            *(ends if shown.has_bounds else ()),
        )


def _grid(shown: KeyShown) -> Rows:
    metric = shown.y.column
    yield (
        *("config_key", "scenario", "deployment", "concurrency", metric, "change"),
        *("last_measured_at", "last_run_id", "is_current", "event", "event_run_id"),
    )
    for cell in shown.grid.cells:
        yield (
            *(shown.key.key, shown.view.scenario, cell.deployment, cell.concurrency),
            *(cell.value, cell.change, cell.last.at, cell.last.facts.run_id),
            *(cell.is_current, cell.event, cell.by.facts.run_id if cell.by else None),
        )


def _evals(shown: KeyShown) -> Rows:
    yield (
        *("config_key", "scenario", "official_at", "run_id", "deployment"),
        *("concurrency", "task", "strict", "flexible", "score", "n", "low", "high"),
        *("floor", "outcome", "segment", "results", "spread", "unstable"),
    )
    for scored in shown.evals:
        result, reached = scored.result, scored.reached
        yield (
            *(shown.key.key, shown.view.scenario, scored.at),
            *(result.run.github_run_id, result.deployment.label, result.concurrency),
            *(result.task, result.strict, result.flexible, result.score, result.n),
            *((reached.low, reached.high) if reached else (None, None)),
            *(scored.floor, scored.outcome, scored.segment, len(scored.repeats)),
            *(scored.spread, scored.is_unstable),
        )


TABLES: dict[str, Callable[[KeyShown], Rows]] = {
    "history": _history,
    "grid": _grid,
    "evals": _evals,
}
FILES = ("points", *TABLES)
