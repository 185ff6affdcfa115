"""Doubts about a stored point: their codes, what they mean, and which weigh enough."""

from typing import NamedTuple


class Flag(NamedTuple):
    """A doubt; ``is_out`` keeps the point off the frontier."""

    code: str
    title: str
    is_out: bool


FLAGS = {
    flag.code: flag
    for flag in (
        Flag("gpu_count_mismatch", "GPU count and topology disagree", is_out=True),
        Flag("gpu_count_unknown", "GPU count unknown", is_out=False),
        Flag("throughput_sum", "input and output do not add up", is_out=True),
        Flag("littles_law", "more requests in flight than allowed", is_out=True),
        Flag("percentile_order", "percentiles out of order", is_out=True),
        Flag("negative_value", "a negative measurement", is_out=True),
        Flag("zero_throughput", "zero throughput", is_out=True),
        Flag("power_invalid", "power telemetry failed validation", is_out=False),
        Flag("nan_token", "a value was not a number", is_out=False),
        Flag("unmapped_precision", "unknown precision", is_out=False),
        Flag("outside_changelog", "key not named by the changelog", is_out=False),
        Flag("config_key_ambiguous", "several config keys match", is_out=False),
        Flag("config_key_unmapped", "no config key matches", is_out=False),
        Flag("spec_differs_from_key", "spec method and key disagree", is_out=False),
    )
}


def is_out(code: str) -> bool:
    """Tell whether a flag keeps its point off the frontier."""
    flag = FLAGS.get(code)
    return flag is not None and flag.is_out


def flag_title(code: str) -> str:
    """Return what a flag says, or its code where it is not known."""
    flag = FLAGS.get(code)
    return flag.title if flag else code.replace("_", " ")
