"""Rates over GPUs: which GPUs a stored rate was divided by."""

import pandas as pd

from dashboard.analysis.frames import require_columns
from dashboard.vocabulary.scenarios import AGENTIC


def with_cluster_output(points: pd.DataFrame) -> pd.DataFrame:
    """Return ``points`` with ``output_tput_per_cluster_gpu``, in tok/s/GPU.

    A disaggregated fixed-length point's output is stored per decode GPU: it is
    multiplied by the decode GPUs and divided by all. Everywhere else the stored value
    is already over all GPUs. NaN where a GPU count is unknown.
    """
    require_columns(
        points, ("output_tput_per_gpu", "disagg", "scenario", "decode_gpus", "gpus")
    )
    share = points["decode_gpus"].astype("float64") / points["gpus"].astype("float64")
    per_decode = points["disagg"].astype(bool) & (points["scenario"] != AGENTIC)
    output = points["output_tput_per_gpu"]
    cluster = output.where(~per_decode, output * share)
    return points.assign(output_tput_per_cluster_gpu=cluster)
