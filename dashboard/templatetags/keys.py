"""How the pages of keys write what changed, and the cells of their long tables."""

from typing import Any
from urllib.parse import quote

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from dashboard.analysis import changes
from dashboard.analysis.history import HistorySweep
from dashboard.analysis.key_grid import ADDED, GridCell, GridRow
from dashboard.analysis.segments import Change
from dashboard.templatetags.inference import point_flags, signed_percent, whole
from dashboard.templatetags.inference import standing as standing_text
from dashboard.templatetags.markup import joined, run_path, written
from dashboard.templatetags.runs import badge, four_decimals
from dashboard.templatetags.site import MISSING, sig4
from dashboard.templatetags.verdicts import points_of_score
from dashboard.vocabulary.texts import one_line

register = template.Library()

NOT_MEASURED = "not measured"


@register.filter
def change_title(change: Change) -> str:
    """Return what a break or marker of a sweep changed."""
    return changes.title(change)


_POINT = (
    '<tr data-point="{}"><th scope="row" class="nowrap">{}</th>'
    '<td class="num">{}</td><td class="num">{}</td>{}<td>{}{}</td>'
    '<td class="nowrap">{}</td><td class="nowrap"><a href="{}">{}</a></td></tr>'
)
_VALUE = '<td class="num" title="{}">{}</td>'


@register.filter
def key_point(row: Any) -> SafeString:
    """Write a point of the frontier chart as a row."""
    point = row.point
    cells = (written(_VALUE, _title(value), sig4(value)) for value in row.cells)
    return written(
        _POINT,
        *(point["point_id"], one_line(point["deployment"])),
        *(point["concurrency"], whole(point["gpus"]), joined(cells)),
        *(standing_text(point["standing"]), point_flags(point)),
        *(point["eval"], row.run_path, point["run_id"]),
    )


def _title(value: float | None) -> object:
    return NOT_MEASURED if value is None else value


_EVAL = (
    '<tr><td class="nowrap"><time datetime="{}">{}</time></td>'
    '<th scope="row"><a href="{}">{}</a></th>'
    '<td class="nowrap"><span class="{}">{}</span></td>'
    '<td class="num" title="{}">{}</td><td class="num">{}</td><td class="num">{}</td>'
    '<td class="num" title="{}">{}</td><td class="num">{}</td>'
    '<td class="num nowrap">{}{}{}</td><td class="num">{}</td>'
    '<td class="nowrap">{}</td><td class="num">{}</td><td>{}</td></tr>'
)
_UNKNOWN = SafeString('<span class="missing">unknown</span>')
_UNSTABLE = SafeString(' <span class="badge badge-warn">unstable</span>')


@register.filter
def key_eval(item: Any) -> SafeString:
    """Write an official eval of a key as a row."""
    found, reached = item.result, item.reached
    interval = MISSING
    if reached and reached.low is not None:
        interval = f"{four_decimals(reached.low)} to {four_decimals(reached.high)}"
    spread = SafeString("")
    if item.spread is not None:
        muted = ' <span class="muted">{}</span>'
        spread = written(muted, points_of_score(item.spread))
    run_id = found.run.github_run_id
    return written(
        _EVAL,
        *(item.at.isoformat(), f"{item.at:%Y-%m-%d}", run_path(run_id), run_id),
        *(badge(item.outcome), item.outcome),
        *(_title(found.strict), four_decimals(found.strict), interval, item.floor),
        *(_title(found.flexible), four_decimals(found.flexible), _known(found.n)),
        *(len(item.repeats), spread, _UNSTABLE if item.is_unstable else ""),
        *(_known(item.segment), one_line(found.deployment.label)),
        _UNKNOWN if found.concurrency is None else found.concurrency,
        one_line(found.task),
    )


def _known(count: int | None) -> object:
    return MISSING if count is None else count


_NEVER = SafeString('<td class="num missing">\u00b7</td>')
_CELL = '<td class="num" title="last measured {} in run {}">{}</td>'
_NOW = '<a class="point-link" href="{}" title="{}">{}</a>'
_NOTE = '<span class="key-cell-note">{}</span>'
_BY = '<span class="key-cell-note">{} <a href="{}">{}</a></span>'
_DROPPED = SafeString('<span class="missing">dropped</span>')


@register.simple_tag
def grid_cells(
    row: GridRow, config_key: str, scenario: str, current: object
) -> SafeString:
    """Write the cells of a deployment; ``current`` is the sweep that is drawn."""
    where = {"key": config_key, "scenario": scenario}
    shared = "&".join(f"{name}={quote(text)}" for name, text in where.items())
    return joined(
        _NEVER if cell is None else _cell(cell, shared, current) for cell in row.cells
    )


def _cell(cell: GridCell, shared: str, current: object) -> SafeString:
    last = cell.last
    told = _measured(cell, shared, current) if cell.is_current else _dropped(cell)
    return written(_CELL, f"{last.at:%Y-%m-%d}", last.facts.run_id, told)


def _measured(cell: GridCell, shared: str, current: object) -> SafeString:
    last = cell.last
    place = f"deployment={quote(cell.deployment)}&concurrency={cell.concurrency}"
    query = f"?run={last.facts.run_id}&{shared}&{place}"
    path = f"{reverse('point_at')}{query}"
    parts = [written(_NOW, path, _title(cell.value), sig4(cell.value))]
    if cell.change is not None:
        parts.append(written(_NOTE, signed_percent(cell.change)))
    if cell.event == ADDED and cell.by is not None:
        parts.append(_by("added by", cell.by))
    if last.sweep_id != current:
        parts.append(_by("of", last))
    return joined(parts, " ")


def _dropped(cell: GridCell) -> SafeString:
    parts = [_DROPPED]
    if cell.by is not None:
        run_id = cell.by.facts.run_id
        words = "with the swap by" if cell.by.is_swap else "by"
        parts.append(written(_BY, words, run_path(run_id), f"run {run_id}"))
    return joined([*parts, _by("last", cell.last)], " ")


def _by(words: str, sweep: HistorySweep) -> SafeString:
    """Write a note on a cell that names a sweep by its day."""
    return written(_BY, words, run_path(sweep.facts.run_id), f"{sweep.at:%Y-%m-%d}")
