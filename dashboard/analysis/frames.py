"""The frames that analysis works on: their columns, checked at the door."""

from collections.abc import Iterable

import pandas as pd

# Identity and provenance of a point; the metrics follow as float columns.
POINT_COLUMNS = (
    "point_id",
    "config_key",
    "run_id",
    "run_url",
    "measured_at",
    "checkpoint",
    "image",
    "deployment",
    "disagg",
    "concurrency",
    "attempt",
    "gpus",
    "prefill_gpus",
    "decode_gpus",
    "is_out",
    "flags",
)

HOT_METRICS = (
    "tput_per_gpu",
    "output_tput_per_gpu",
    "input_tput_per_gpu",
    "median_intvty",
    "p90_intvty",
    "median_ttft",
    "p90_ttft",
    "median_tpot",
    "median_e2el",
    "p90_e2el",
)


def require_columns(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raise ``KeyError`` naming the columns that ``frame`` lacks."""
    lacking = sorted(set(columns) - set(frame.columns))
    if lacking:
        raise KeyError(f"the frame lacks {', '.join(lacking)}")
