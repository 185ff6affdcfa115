"""Derived metrics of a block of points, where a list asks for them."""

from collections.abc import Iterable

import pandas as pd

from dashboard.analysis.derived import GPU_COLUMNS, HARDWARE_COLUMNS, with_derived
from dashboard.queries.point_pages import Block, StoredPoint
from dashboard.vocabulary.metrics import DERIVED, inputs
from dashboard.vocabulary.prices import Prices


def add_derived(block: Block, names: Iterable[str], prices: Prices | None) -> None:
    """Put those of ``names`` that are derived among the metrics of each point.

    None where something of it is missing, as it is where a metric was not measured.
    """
    wanted = [name for name in names if name in DERIVED]
    if not wanted or not block.points:
        return
    made = with_derived(_frame(block, inputs(wanted)), wanted, prices)
    for name in wanted:
        values = made[name].astype(object).where(made[name].notna(), None)
        for point, value in zip(block.points, values.tolist(), strict=True):
            point.metrics[name] = value


def _frame(block: Block, stored: Iterable[str]) -> pd.DataFrame:
    rows = [_row(block, point) for point in block.points]
    frame = pd.DataFrame.from_records(rows, columns=[*HARDWARE_COLUMNS, *GPU_COLUMNS])
    counts = ["gpus", "prefill_gpus", "decode_gpus"]
    frame[counts] = frame[counts].astype("float64")
    return frame.assign(
        **{
            name: pd.Series(
                [point.metrics.get(name) for point in block.points], dtype="float64"
            )
            for name in stored
        }
    )


def _row(block: Block, point: StoredPoint) -> dict[str, object]:
    own = point.columns
    sweep = block.sweeps[own["sweep_id"]]
    _, topology = block.topologies[own["deployment_id"]]
    return {
        "hardware": sweep["hardware"],
        "prefill_hardware": topology.get("prefill_hardware", ""),
        "decode_hardware": topology.get("decode_hardware", ""),
        "disagg": topology["disagg"],
        "scenario": sweep["scenario"],
        **{name: own[name] for name in ("gpus", "prefill_gpus", "decode_gpus")},
    }
