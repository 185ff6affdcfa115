"""How curves and points are written on the inference page."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.utils.safestring import SafeString

from dashboard.analysis.curves import SweepFacts
from dashboard.analysis.lineage import Lineage
from dashboard.charts.markers import dash_pattern, marker
from dashboard.charts.theme import Look
from dashboard.templatetags import markup
from dashboard.templatetags.markup import joined, point_path, written
from dashboard.templatetags.runs import badge
from dashboard.templatetags.site import sig4
from dashboard.vocabulary.texts import as_references, one_line

register = template.Library()
_LONG_DASH = 10  # of the 28 units that a swatch is wide

STANDINGS = {
    "frontier": "frontier",
    "dominated": "dominated",
    "out": "kept off",
    "unplaced": "not drawn",
}


@register.inclusion_tag("_swatch.html")
def swatch(look: Look) -> dict[str, Any]:
    """Draw the line and marker of a curve, in both grounds' colours."""
    dash = dash_pattern(look.dash)
    drawn = marker(look.marker)
    return {
        "colour": look.colour,
        "dash": dash,
        "offset": _offset(dash),
        "path": drawn.path,
        "is_hollow": drawn.is_hollow,
    }


def _offset(dash: str) -> float:
    """Return how far into its dashes a swatch begins: the marker would hide its gap."""
    first = float(dash.partition(" ")[0] or 0)
    return first / 2 if first >= _LONG_DASH else 0


@register.inclusion_tag("_trust_marks.html")
def trust_marks(entry: Any) -> dict[str, Any]:
    """Say what to doubt about a line: partial, synthetic, old, or not the newest."""
    return {
        "sweep": entry.curve.sweep,
        "old_days": entry.old_days,
        "held": entry.lineage.held,
        "opening": entry.opening,
    }


@register.filter
def plain(value: float | None) -> str:
    """Write a number as it is typed: no separators, no needless zeros."""
    return "" if value is None else f"{value:.10g}"


@register.filter
def signed_percent(change: float) -> str:
    """Write a fraction as a percentage with its sign."""
    return f"{100 * change:+.1f} %"


@register.simple_tag
def received_of(sweep: SweepFacts) -> str:
    """Say how many of the planned points came, as far as a plan is known."""
    if sweep.planned is None:
        return f"{sweep.received} points"
    return f"{sweep.received} of {sweep.planned} points"


@register.filter
def standing(name: str) -> str:
    """Return how a point's standing is written."""
    return STANDINGS[name]


_OPTION = '<option value="{}" {}>{}</option>'
_CHECK = (
    '<label class="check"><input type="checkbox" id="filter-{}-{}" name="{}" value="{}"'
    " {}> <span>{}</span></label>"
)


@register.filter
def select_options(options: Iterable[Any]) -> SafeString:
    """Write the choices of a select."""
    return joined(
        written(
            _OPTION,
            _exact(option.value),
            "selected" if option.is_chosen else "",
            one_line(option.label),
        )
        for option in options
    )


@register.filter
def check_boxes(options: Iterable[Any], name: str) -> SafeString:
    """Write the check boxes of a parameter."""
    return joined(
        written(
            _CHECK,
            *(name, value := _exact(option.value), name, value),
            "checked" if option.is_chosen else "",
            one_line(option.label),
        )
        for option in options
    )


def _exact(value: str) -> SafeString:
    """Return a value with every character, those that steer as references."""
    return SafeString(as_references(written("{}", value)))


_FORMER = '<li><strong>Former:</strong> {}, <a href="{}">run {}</a>, {}{}</li>'


@register.filter
def former_sweeps(lineage: Lineage) -> SafeString:
    """Write the sweeps before a curve's, with their checkpoints where they differ."""
    today = lineage.curve.sweep.checkpoint
    return joined(
        written(
            _FORMER,
            received_of(sweep),
            markup.run_path(sweep.run_id),
            sweep.run_id,
            f"{sweep.official_at:%Y-%m-%d}",
            f", checkpoint {sweep.checkpoint_short}"
            if sweep.checkpoint != today
            else "",
        )
        for sweep in lineage.former
    )


# One call writes a row: template tags for twelve hundred rows take twice as long.
_ROW = (
    '<tr data-point="{}" data-key="{}"><th scope="row" class="nowrap">{}{}</th>{}'
    '<td class="nowrap">{}</td><td class="num">{}</td><td class="num">{}</td>{}'
    '<td>{}{}</td><td class="nowrap">{}</td><td class="nowrap" title="{}">{}</td>'
    '{}<td class="nowrap"><a href="{}">{}</a></td></tr>'
)


OF_LINK = SafeString(' <span class="badge badge-asked">run of this link</span>')


@register.simple_tag
def of_link() -> SafeString:
    """Write the sign of what a run of the link measured."""
    return OF_LINK


@register.filter
def table_row(row: Any) -> SafeString:
    """Write a row of the table: what the point is, its metrics, and where from."""
    point = row.point
    return written(
        _ROW,
        point["point_id"],
        row.key,
        point["config_key"],
        OF_LINK if row.is_asked else "",
        _publication(row.publication),
        _deployment(point),
        point["concurrency"],
        whole(point["gpus"]),
        _cells(row.cells),
        standing(point["standing"]),
        point_flags(point),
        point["eval"],
        one_line(point["checkpoint"]),
        one_line(base_name(point["checkpoint"])),
        _began(point),
        row.run_path,
        point["run_id"],
    )


def point_flags(point: Mapping[Any, Any]) -> SafeString:
    """Write what is doubted of a point."""
    return joined(written(_FLAG, code, one_line(text)) for code, text in point["flags"])


_FLAG = ' <span class="flag" title="{}">{}</span>'
_NO_BREAK = SafeString("<td></td>")


def _began(point: Mapping[Any, Any]) -> SafeString:
    """Write with what break the segment of the point's line began, and when."""
    words = point.get("opening")
    if not isinstance(words, str):
        return _NO_BREAK
    badge = (
        '<td class="nowrap" title="{}"><span class="badge badge-info">{}</span> {}</td>'
    )
    day = f"{point['segment_began_at']:%Y-%m-%d}"
    return written(badge, one_line(words), point["opening_badge"], day)


def _deployment(point: Mapping[Any, Any]) -> SafeString:
    """Write a deployment, with where its acceptance length comes from if in doubt."""
    path, label = point_path(point["point_id"]), point["acceptance_label"]
    if not label:
        return written(_LINK, path, point["deployment"])
    badge = (
        f'{_LINK} <span class="badge badge-info" title="Acceptance length">{{}}</span>'
    )
    return written(badge, path, point["deployment"], label)


_LINK = '<a href="{}">{}</a>'


def _publication(word: str) -> SafeString | str:
    if not word:
        return ""
    return written('<td><span class="{}">{}</span></td>', badge(word), word)


def _cells(values: Iterable[float | None]) -> SafeString:
    """Write four significant digits, the full number on hover.

    Only numbers are written, so there is nothing to escape.
    """
    written = (
        f'<td class="num" title="{"not measured" if v is None else float(v)}">'
        f"{sig4(v)}</td>"
        for v in values
    )
    return SafeString("".join(written))


@register.filter
def whole(value: float | None) -> str:
    """Write a count; a missing one as a dash."""
    return "\u2013" if value is None or math.isnan(value) else f"{int(value)}"


@register.filter
def base_name(checkpoint: str) -> str:
    """Return a checkpoint's name without its publisher or path."""
    return checkpoint.rstrip("/").rpartition("/")[2]
