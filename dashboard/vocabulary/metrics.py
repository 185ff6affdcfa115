"""The metrics: name, label, unit, better direction and formula of each.

Nobody else decides what a metric is called, in which unit it is, or which way is
better. Names are the flat ones of the stored points.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from dashboard.vocabulary import derivations
from dashboard.vocabulary.derivations import (
    PER_MW,
    TDP_SHARE,
    USD_PER_MILLION,
    Derivation,
)

Direction = Literal["higher", "lower", "none"]
# Which GPUs of a disaggregated fixed-length point a value is divided by.
Over = Literal["", "all", "prefill", "decode"]

TOKENS_PER_GPU = "tok/s/GPU"
TOKENS_PER_USER = "tok/s/user"


class Metric(NamedTuple):
    """One measured quantity.

    ``direction`` says which way is better; ``none`` is a description, such as a
    duration, that no frontier is drawn over. ``unit`` is empty for a plain fraction.
    ``over`` is empty where no GPUs are divided by, ``derivation`` None where stored.
    """

    name: str
    label: str
    unit: str
    direction: Direction
    formula: str
    over: Over = ""
    derivation: Derivation | None = None

    @property
    def title(self) -> str:
        """Return the label with its unit, as axes and table headers show it."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def phrase(self) -> str:
        """Return the label as it stands inside a sentence."""
        return self.label[:1].lower() + self.label[1:]

    @property
    def family(self) -> str:
        """Return the group that the metric is offered in."""
        return _FAMILIES.get(self.unit, "Other")

    @property
    def column(self) -> str:
        """Return the name with its unit as a suffix, as exports name the column."""
        suffix = _SUFFIXES.get(self.unit, "")
        return self.name if self.name.endswith(suffix) else self.name + suffix


_SUFFIXES = {
    "s": "_s",
    TOKENS_PER_GPU: "_tok_s",
    TOKENS_PER_USER: "_tok_s_user",
    "tok/s": "_tok_s",
    "requests/s": "_per_s",
    PER_MW: "_tok_s",
    USD_PER_MILLION: "_usd_per_m_tok",
}

_FAMILIES = {
    TOKENS_PER_USER: "Interactivity",
    TOKENS_PER_GPU: "Throughput",
    "tok/s": "Throughput",
    "requests/s": "Throughput",
    PER_MW: "Throughput",
    USD_PER_MILLION: "Cost",
    "s": "Latency",
    "W": "Power and energy",
    "J": "Power and energy",
    "J/request": "Power and energy",
    "J/tok": "Power and energy",
    "Wh/request": "Power and energy",
    TDP_SHARE: "Power and energy",
}

_STATISTICS = {
    "mean": "Mean",
    "median": "Median",
    "p75": "p75",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99.9": "p99.9",
}

_TIMES = {
    "ttft": ("time to first token", "request sent to first token received"),
    "tpot": ("time per output token", "(E2E - TTFT) / (output tokens - 1)"),
    "itl": ("inter-token latency", "time between two received tokens"),
    "e2el": ("end-to-end latency", "request sent to last token received"),
    "full_response_itl": (
        "inter-token latency of the full response",
        "time between two tokens, reasoning included",
    ),
}

_RATES = {
    "intvty": (
        "interactivity",
        "1 / that statistic of time per output token; of traces: inter-token latency",
    ),
    "full_response_intvty": (
        "interactivity of the full response",
        "1 / the same statistic of the full response's inter-token latency",
    ),
    "e2e_norm_intvty": (
        "end-to-end interactivity",
        "1 / the same statistic of request latency / output tokens",
    ),
}

_COUNTS = {
    "input_tokens": "input tokens per request",
    "output_tokens_actual": "output tokens per request",
    "output_tokens_expected": "expected output tokens per request",
}

_SINGLE = (
    Metric(
        "tput_per_gpu",
        "Total throughput per GPU",
        TOKENS_PER_GPU,
        "higher",
        "(input + output tokens) / wall time / all GPUs",
        over="all",
    ),
    Metric(
        "output_tput_per_gpu",
        "Output throughput per GPU",
        TOKENS_PER_GPU,
        "higher",
        "output tokens / wall time / GPUs; of a disaggregated fixed-length point: "
        "per decode GPU",
        over="decode",
    ),
    Metric(
        "input_tput_per_gpu",
        "Input throughput per GPU",
        TOKENS_PER_GPU,
        "higher",
        "input tokens / wall time / GPUs; of a disaggregated fixed-length point: "
        "per prefill GPU",
        over="prefill",
    ),
    Metric("total_tput_tps", "Total throughput", "tok/s", "higher", "whole deployment"),
    Metric(
        "output_tput_tps", "Output throughput", "tok/s", "higher", "whole deployment"
    ),
    Metric("input_tput_tps", "Input throughput", "tok/s", "higher", "whole deployment"),
    Metric(
        "duration_seconds",
        "Measured time",
        "s",
        "none",
        "first request start to last request end",
    ),
    Metric(
        "theoretical_cache_hit_rate",
        "Theoretical cache hit rate",
        "",
        "none",
        "share of prompt tokens that a perfect prefix cache would hold",
    ),
    Metric(
        "server_overall_cache_hit_rate",
        "Cache hit rate",
        "",
        "higher",
        "share of prompt tokens",
    ),
    Metric(
        "server_gpu_cache_hit_rate",
        "GPU cache hit rate",
        "",
        "higher",
        "share of prompt tokens found in GPU memory",
    ),
    Metric(
        "server_cpu_cache_hit_rate",
        "CPU cache hit rate",
        "",
        "higher",
        "share of prompt tokens found in host memory",
    ),
    Metric(
        "server_external_cache_hit_rate",
        "External cache hit rate",
        "",
        "higher",
        "share of prompt tokens found outside the node",
    ),
    Metric(
        "gpu_kv_cache_usage_pct", "KV cache usage", "", "none", "share of GPU KV blocks"
    ),
    Metric(
        "total_prompt_tokens", "Prompt tokens", "tokens", "none", "sum over requests"
    ),
    Metric(
        "total_generation_tokens",
        "Generated tokens",
        "tokens",
        "none",
        "sum over requests",
    ),
    Metric(
        "total_requests_completed", "Completed requests", "requests", "none", "count"
    ),
    Metric(
        "avg_power_w",
        "Power per GPU",
        "W",
        "lower",
        "mean board power of a GPU over the benchmark window",
    ),
    Metric(
        "avg_total_gpu_power_w",
        "Power of all GPUs",
        "W",
        "lower",
        "mean board power of the whole deployment",
    ),
    Metric(
        "total_gpu_energy_j",
        "Energy of all GPUs",
        "J",
        "lower",
        "board energy of the whole deployment over the benchmark window",
    ),
    Metric(
        "joules_per_successful_query",
        "Energy per request",
        "J/request",
        "lower",
        "energy of all GPUs / successful requests",
    ),
    Metric(
        "joules_per_input_token",
        "Energy per input token",
        "J/tok",
        "lower",
        "energy of all GPUs / input tokens",
    ),
    Metric(
        "joules_per_output_token",
        "Energy per output token",
        "J/tok",
        "lower",
        "energy of all GPUs / output tokens",
    ),
    Metric(
        "joules_per_total_token",
        "Energy per token",
        "J/tok",
        "lower",
        "energy of all GPUs / (input + output tokens)",
    ),
    Metric(
        "prefill_gpu_energy_j",
        "Energy of prefill GPUs",
        "J",
        "lower",
        "board energy of the prefill GPUs over the full window",
    ),
    Metric(
        "decode_gpu_energy_j",
        "Energy of decode GPUs",
        "J",
        "lower",
        "board energy of the decode GPUs over the full window",
    ),
    Metric(
        "prefill_avg_power_w",
        "Power per prefill GPU",
        "W",
        "lower",
        "mean board power of a prefill GPU over the full window",
    ),
    Metric(
        "decode_avg_power_w",
        "Power per decode GPU",
        "W",
        "lower",
        "mean board power of a decode GPU over the full window",
    ),
    Metric(
        "prefill_joules_per_input_token",
        "Prefill energy per input token",
        "J/tok",
        "lower",
        "energy of the prefill GPUs / input tokens",
    ),
    Metric(
        "decode_joules_per_output_token",
        "Decode energy per output token",
        "J/tok",
        "lower",
        "energy of the decode GPUs / output tokens",
    ),
    Metric("avg_util_pct", "GPU utilisation", "%", "none", "mean over GPUs"),
    Metric("avg_mem_used_mb", "GPU memory used", "MB", "none", "mean over GPUs"),
    Metric("avg_temp_c", "GPU temperature", "°C", "lower", "mean over GPUs"),
    Metric("peak_temp_c", "Peak GPU temperature", "°C", "lower", "highest of all GPUs"),
)


def _times() -> list[Metric]:
    named = {**_STATISTICS, "std": "Standard deviation of"}
    return [
        Metric(f"{key}_{name}", f"{word} {label}", "s", "lower", formula)
        for name, (label, formula) in _TIMES.items()
        for key, word in named.items()
    ]


def _rates() -> list[Metric]:
    # No deviation here: the reciprocal of a deviation means nothing.
    return [
        Metric(f"{key}_{name}", f"{word} {label}", TOKENS_PER_USER, "higher", formula)
        for name, (label, formula) in _RATES.items()
        for key, word in _STATISTICS.items()
    ]


def _counts() -> list[Metric]:
    tokens = [
        Metric(f"{key}_{name}", f"{word} {label}", "tokens", "none", "client's count")
        for name, label in _COUNTS.items()
        for key, word in _STATISTICS.items()
    ]
    requests = [
        Metric(
            f"{key}_qps",
            f"{word} completed requests",
            "requests/s",
            "higher",
            "completions in windows of one second",
        )
        for key, word in _STATISTICS.items()
    ]
    return tokens + requests


def _derived() -> list[Metric]:
    return [
        Metric(
            *(made.name, made.label, made.unit, made.direction, made.formula),
            over="" if made.derivation.kind in _UNDIVIDED else "all",
            derivation=made.derivation,
        )
        for made in derivations.ALL
    ]


# What a whole deployment, or one GPU alone, is measured for.
_UNDIVIDED = frozenset({"watt_hours", "tdp_share"})

METRICS = {
    metric.name: metric
    for metric in [*_SINGLE, *_derived(), *_rates(), *_times(), *_counts()]
}

# A frontier needs a better direction on both axes.
AXES = tuple(name for name, metric in METRICS.items() if metric.direction != "none")

# Metrics that are made of others when points are read, never stored.
DERIVED = frozenset(name for name, metric in METRICS.items() if metric.derivation)
# Those of them that take a price or the provisioned power.
PRICED = frozenset(d.name for d in derivations.ALL if d.derivation.is_priced)


def inputs(names: Iterable[str]) -> list[str]:
    """Return the stored metrics that these are made of, each once."""
    found: dict[str, None] = {}
    for name in names:
        while derivation := METRICS[name].derivation:
            name = derivation.basis  # noqa: PLW2901  # down to what is stored
        found[name] = None
    return list(found)


def default_axes(*, agentic: bool) -> tuple[str, str]:
    """Return the (x, y) that a scenario is first shown with.

    Traces are judged by their slow tail, fixed lengths by their median.
    """
    return ("p90_intvty" if agentic else "median_intvty", "tput_per_gpu")
