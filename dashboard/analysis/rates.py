"""Rates over GPUs: which GPUs a stored rate was divided by."""

import numpy as np
import pandas as pd

from dashboard.analysis.frames import require_columns
from dashboard.vocabulary.scenarios import AGENTIC


def with_cluster_output(points: pd.DataFrame) -> pd.DataFrame:
    """Return ``points`` with ``output_tput_per_cluster_gpu``, in tok/s/GPU."""
    cluster = over_all_gpus(points, "output_tput_per_gpu", "decode_gpus")
    return points.assign(output_tput_per_cluster_gpu=cluster)


def over_all_gpus(points: pd.DataFrame, rate: str, role_gpus: str) -> pd.Series:
    """Return the column ``rate`` over all GPUs of each point, in tok/s/GPU.

    A disaggregated fixed-length point's output is stored per decode GPU and its input
    per prefill GPU: it is multiplied by the GPUs of that role and divided by all. A
    deployment without decode GPUs (aggregated over several nodes) and everything else
    is stored over all GPUs. NaN where a GPU count is unknown.
    """
    require_columns(points, (rate, "gpus", role_gpus))
    of_role = points[role_gpus].astype("float64")
    share = of_role / points["gpus"].astype("float64")
    values = points[rate].astype("float64")
    # Output without decode GPUs was divided by all of them.
    spread: pd.Series = values.where(
        ~is_per_role(points) | of_role.eq(0), values * share
    )
    return spread.replace([np.inf, -np.inf], np.nan)


def is_per_role(points: pd.DataFrame) -> pd.Series:
    """Return for each point whether input and output are stored per GPU of a role."""
    require_columns(points, ("disagg", "scenario", "decode_gpus"))
    has_roles = points["disagg"].astype(bool) | points["decode_gpus"].astype(
        "float64"
    ).gt(0)
    per_role: pd.Series = has_roles & points["scenario"].ne(AGENTIC)
    return per_role
