"""Doubts about a stored point: their codes, what they mean, and which weigh enough."""

import re
from collections.abc import Collection
from typing import NamedTuple


class Flag(NamedTuple):
    """A doubt; ``is_out`` keeps the point off the frontier."""

    code: str
    title: str
    is_out: bool
    meaning: str


FLAGS = {
    flag.code: flag
    for flag in (
        Flag(
            "gpu_count_mismatch",
            "GPU count and topology disagree",
            is_out=True,
            meaning=(
                "The row counts another number of GPUs than its topology needs, so "
                "every value per GPU is wrong by that factor."
            ),
        ),
        Flag(
            "gpu_count_unknown",
            "GPU count unknown",
            is_out=False,
            meaning="Neither the row nor its topology tells how many GPUs were used.",
        ),
        Flag(
            "throughput_sum",
            "input and output do not add up",
            is_out=True,
            meaning=(
                "Input and output throughput, each times its GPUs, differ from the "
                "total by more than 1 %."
            ),
        ),
        Flag(
            "littles_law",
            "more requests in flight than allowed",
            is_out=True,
            meaning=(
                "Throughput times latency gives the requests in flight. They are "
                "more, or far fewer, than the concurrency allows."
            ),
        ),
        Flag(
            "implausible_value",
            "beyond anything physical",
            is_out=True,
            meaning=(
                "More than ten million tokens per second and GPU or user, or a latency "
                "above a month: no machine measured that."
            ),
        ),
        Flag(
            "percentile_order",
            "percentiles out of order",
            is_out=True,
            meaning=(
                "A higher percentile of a latency is smaller than a lower one, or "
                "the reverse for interactivity."
            ),
        ),
        Flag(
            "negative_value",
            "a negative measurement",
            is_out=True,
            meaning="A rate, time or count below zero.",
        ),
        Flag(
            "zero_throughput",
            "zero throughput",
            is_out=True,
            meaning="The row reports success without having produced a token.",
        ),
        Flag(
            "published",
            "published, not measured from artifacts",
            is_out=False,
            meaning=(
                "The row is what the official dashboard published. No artifact of its "
                "run was read, so checkpoint, runner and job are not known."
            ),
        ),
        Flag(
            "power_invalid",
            "power telemetry failed validation",
            is_out=False,
            meaning=(
                "The run's own check of its power readings failed. Energy values "
                "are not to be trusted, the others are not touched."
            ),
        ),
        Flag(
            "nan_token",
            "a value was not a number",
            is_out=False,
            meaning=(
                "The artifact held NaN or Infinity where a number belongs. That "
                "value counts as missing."
            ),
        ),
        Flag(
            "zero_tpot",
            "no time per output token",
            is_out=False,
            meaning="A time per output token of zero gives no interactivity.",
        ),
        Flag(
            "bad_fingerprint",
            "recipe fingerprint not readable",
            is_out=False,
            meaning="The fingerprint of the recipe is malformed and was not used.",
        ),
        Flag(
            "unmapped_precision",
            "unknown precision",
            is_out=False,
            meaning=(
                "The precision is none that is known here, and is shown as it was "
                "written."
            ),
        ),
        Flag(
            "outside_changelog",
            "key not named by the changelog",
            is_out=False,
            meaning="The run measured a key that its changelog does not mention.",
        ),
        Flag(
            "config_key_ambiguous",
            "several config keys match",
            is_out=False,
            meaning=(
                "What is known of the row fits several config keys, which are all "
                "listed."
            ),
        ),
        Flag(
            "config_key_unmapped",
            "no config key matches",
            is_out=False,
            meaning=(
                "No published key fits; the row stands under a made-up key that "
                "says what is known."
            ),
        ),
        Flag(
            "spec_differs_from_key",
            "spec method and key disagree",
            is_out=False,
            meaning=(
                "The speculative method that was measured is not the one its config "
                "key is defined with."
            ),
        ),
    )
}


def is_out(code: str) -> bool:
    """Tell whether a flag keeps its point off the frontier."""
    flag = FLAGS.get(code)
    return flag is not None and flag.is_out


# Parts of the names of the metrics that a flag casts doubt on.
_ABOUT = {
    "power_invalid": ("power", "joules"),
    "zero_tpot": ("tpot", "intvty"),
    "gpu_count_unknown": ("_per_gpu", "_per_cluster_gpu"),
}


def is_about(code: str, text: str, metrics: Collection[str]) -> bool:
    """Tell whether a flag weighs for what is shown of its point.

    So it is if it keeps the point off the frontier, or if it is about one of the
    ``metrics``: by its code, or because its text names the metric.
    """
    parts = _ABOUT.get(code, ())
    named = {word.rstrip(".") for word in re.findall(r"[\w.]+", text)}
    return is_out(code) or any(
        name in named or any(part in name for part in parts) for name in metrics
    )


def flag_title(code: str) -> str:
    """Return what a flag says, or its code where it is not known."""
    flag = FLAGS.get(code)
    return flag.title if flag else code.replace("_", " ")
