"""The rows of a chart as files: every axis and metric, and where each point is from."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dashboard.views.point_tables import OFFICIAL, SHOWN, Block
from dashboard.views.tables import Table
from dashboard.vocabulary.links import repository_of
from dashboard.vocabulary.metrics import METRICS, PRICED, Metric

EXPORTED = (
    *SHOWN,
    "p90_intvty",
    "p90_ttft",
    "p90_e2el",
)
PROVENANCE = (
    "config_key",
    "scenario",
    "deployment",
    "concurrency",
    "gpus",
    "prefill_gpus",
    "decode_gpus",
    "standing",
)
SOURCES = (
    *("run_id", "run_url", "attempt", "measured_at", "checkpoint", "image"),
    *("acceptance", "acceptance_length"),
)
# With what the segment of a point's line began; blank where no break is known.
SEGMENT = ("swapped_from", "segment_began_at")
# Whether a run of the link has the point, where a page may be asked for runs.
ASKED = "is_asked"
OF_LINK = "run_of_link"
BRIEF = ("config_key", "deployment", "concurrency", "gpus", "standing", "run_id")


def points_table(
    blocks: Sequence[Block], x: str, y: str, name: str, about: Mapping[str, object]
) -> Table:
    """Return the rows of the table as a file; what was not measured is missing.

    Beside a priced axis stands what each row was made with, or why it is blank.
    """
    metrics = [METRICS[name] for name in dict.fromkeys((x, y, *EXPORTED))]
    terms = [f"{name}_terms" for name in dict.fromkeys((x, y)) if name in PRICED]
    ends = ("flags", "eval", "publication", *SOURCES, *SEGMENT, *terms)
    may_ask = any(ASKED in block.points for block in blocks)
    columns = (
        *(*PROVENANCE, *(m.column for m in metrics), *ends),
        *("repository", "official_at", *([OF_LINK] if may_ask else [])),
    )
    rows = [row for block in blocks for row in _rows(block, metrics, terms)]
    axes = [metric.column for metric in metrics[: len({x, y})]]
    return Table(name, columns, rows, about, brief=(*BRIEF, *axes))


def _rows(
    block: Block, metrics: Sequence[Metric], terms: Sequence[str]
) -> Iterator[list[object]]:
    for point in block.points.to_dict("records"):
        yield [
            *(_known(point[name]) for name in PROVENANCE),
            *(_known(point[metric.name]) for metric in metrics),
            [text for _, text in point["flags"]],
            *(point["eval"] or None, block.publication),
            *(_known(point[name]) for name in SOURCES),
            # Those of an unofficial run are in no history.
            *(_known(point.get(name)) for name in (*SEGMENT, *terms)),
            repository_of(point["run_url"]) or None,
            _known(point["official_at"]) if block.publication == OFFICIAL else None,
            *([point[ASKED]] if ASKED in point else []),
        ]


def _known(value: Any) -> object:
    """Return what a frame holds, its NaN and empty texts as missing."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return None if value == "" else value
