"""Made-up measurements: a closed loop of clients, with the noise of a run."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.vocabulary.scenarios import lengths_of
from ingest.scale.keys import Key

Values = npt.NDArray[np.float64]

# Tokens in and out of a request: 90 % of fixed lengths on average; of traces, all.
MEAN_LENGTH = 0.9
TRACE_LENGTHS = (82_000, 920)
# Of one GPU: prompt tokens per s, s per output token, and s more per request.
_SPEEDS: Mapping[str, tuple[float, float, float]] = {
    "gb300": (60_000, 0.009, 0.00016),
    "gb200": (50_000, 0.010, 0.00018),
    "b300": (46_000, 0.0105, 0.0002),
    "b200": (40_000, 0.011, 0.00022),
    "mi355x": (36_000, 0.0125, 0.00024),
    "h200": (18_000, 0.017, 0.00045),
    "mi325x": (15_000, 0.02, 0.0005),
    "h100": (13_000, 0.019, 0.00055),
}
# Percentiles and moments as multiples of the median.
_SPREADS: Mapping[str, Mapping[str, float]] = {
    "ttft": {"mean": 1.5, "std": 1.3, "p90": 2.1, "p99": 5.2, "p99.9": 6.4},
    "tpot": {"mean": 0.985, "std": 0.07, "p90": 1.06, "p99": 1.11, "p99.9": 1.14},
    "itl": {"mean": 1.04, "std": 0.9, "p90": 1.25, "p99": 3.4, "p99.9": 7.5},
    "e2el": {"mean": 0.995, "std": 0.07, "p90": 1.09, "p99": 1.14, "p99.9": 1.19},
}
# A replay cuts its traces into other percentiles, and tells of its requests.
_TRACE_SPREADS: Mapping[str, Mapping[str, float]] = {
    name: {"mean": 1.02, "std": 0.3, "p75": 1.1, "p90": 1.3, "p95": 1.5}
    for name in _SPREADS
}
NOISE = {"rate": 0.0075, "tpot": 0.006, "ttft": 0.03}
TRACE_SECONDS = 3600.0
MOST_CACHED = 0.96


def measured(
    key: Key, speed: float, lost: Values, seed: list[int]
) -> dict[str, Values]:
    """Return the metrics of a sweep by name, one value per place of the key.

    ``speed`` multiplies what the key's software makes of its machines, ``lost`` is the
    share that each place loses. Times in s, throughput in tok/s/GPU.
    """
    tokens_in, tokens_out = _lengths(key)
    factor = speed * (1 - lost)
    rng = np.random.default_rng(seed)
    noise = {name: _noise(rng, deviation, lost) for name, deviation in NOISE.items()}
    times = _times(key, tokens_in, tokens_out)
    tpot = times["tpot"] / factor * noise["tpot"]
    ttft = times["ttft"] / factor * noise["ttft"]
    e2el = ttft + tokens_out * tpot
    rate = times["clients"] / e2el * noise["rate"] * 0.975
    medians = {"ttft": ttft, "tpot": tpot, "itl": 1.02 * tpot, "e2el": e2el}
    found = dict(_statistics(medians, _TRACE_SPREADS if key.is_agentic else _SPREADS))
    found |= _rates(key, rate, tokens_in, tokens_out)
    found |= _requests(rate, times) if key.is_agentic else _power(key, rate)
    return found


def facts(key: Key, requests: float) -> dict[str, Any]:
    """Return what a row tells beside its metrics."""
    if not key.is_agentic:
        return {"power_valid": True, "power_metric_schema_version": 2}
    count = int(requests)
    return {
        "adapter": key.framework,
        "dataset": {
            "loader": "made_up_traces",
            "hf_split": "train",
            "hf_dataset_name": "example/traces",
            "num_dataset_entries": 393,
        },
        "num_requests_total": count,
        "num_requests_successful": count,
        "request_accounting": {
            "records_total": count,
            "error_categories": {},
            "records_profiled": count,
            "records_error_dropped": 0,
        },
    }


def _lengths(key: Key) -> tuple[float, float]:
    tokens_in, tokens_out = lengths_of(key.scenario)
    if tokens_in is None or tokens_out is None:
        return TRACE_LENGTHS
    return MEAN_LENGTH * tokens_in, MEAN_LENGTH * tokens_out


def _times(key: Key, tokens_in: float, tokens_out: float) -> dict[str, Values]:
    """Return clients and the times that they see, without noise."""
    prefill_speed, step, each = _SPEEDS[key.hardware]
    slower = 1.0 if key.precision == "fp4" else 1.45
    of_framework = 1 + 0.03 * (len(key.framework) % 4)
    shape = np.array([shape for shape, _ in key.places])
    clients = np.array([c for _, c in key.places], dtype=float)
    decode = np.array([s.decode_gpus or s.prefill_gpus for s in key.shapes])[shape]
    reading = np.array([s.prefill_gpus for s in key.shapes])[shape]
    is_apart = np.array([s.decode_gpus > 0 for s in key.shapes])[shape]
    # Most of a trace's prompt is in the cache already.
    prompt = tokens_in * (1 - MOST_CACHED) if key.is_agentic else tokens_in
    prefill = prompt * slower / (prefill_speed * of_framework * reading**0.94)
    spoken = 1.95 if key.spec == "mtp" else 1.0
    tpot = slower * (step / decode**0.58 + each * clients / decode**0.86) / spoken
    waiting = np.where(is_apart, 0.0, (clients - 1) * prefill / tokens_out)
    queue = np.where(is_apart, 0.4 * clients**0.5, 0.05 * clients**0.5)
    ttft = prefill * (1.25 + queue) + 0.04
    return {"clients": clients, "tpot": tpot + waiting, "ttft": ttft}


def _noise(rng: np.random.Generator, deviation: float, like: Values) -> Values:
    """Draw factors near 1; half of their variance is shared by the sweep."""
    draws = rng.standard_normal(len(like)) + rng.standard_normal()
    return np.exp(deviation * np.clip(draws / math.sqrt(2), -2.2, 2.2))


def _statistics(
    medians: Mapping[str, Values], spreads: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, Values]]:
    for name, median in medians.items():
        yield f"median_{name}", median
        for statistic, times in spreads[name].items():
            yield f"{statistic}_{name}", times * median
    for statistic, times in {"median": 1.0, **spreads["tpot"]}.items():
        if statistic != "std":
            yield f"{statistic}_intvty", 1 / (times * medians["tpot"])


def _rates(
    key: Key, rate: Values, tokens_in: float, tokens_out: float
) -> dict[str, Values]:
    """Return throughput; of roles per GPU of the role, the total per all GPUs."""
    shape = np.array([shape for shape, _ in key.places])
    gpus = np.array([s.gpus for s in key.shapes])[shape]
    reading = np.array([s.prefill_gpus for s in key.shapes])[shape]
    writing = np.array([s.decode_gpus or s.gpus for s in key.shapes])[shape]
    return {
        "tput_per_gpu": rate * (tokens_in + tokens_out) / gpus,
        "input_tput_per_gpu": rate * tokens_in / reading,
        "output_tput_per_gpu": rate * tokens_out / writing,
    }


def _requests(rate: Values, times: Mapping[str, Values]) -> dict[str, Values]:
    completed = np.floor(rate * TRACE_SECONDS)
    tokens_in, tokens_out = TRACE_LENGTHS
    hits = np.full_like(rate, 0.952)
    return {
        "total_requests_completed": completed,
        "total_prompt_tokens": completed * tokens_in,
        "total_generation_tokens": completed * tokens_out,
        "duration_seconds": np.full_like(rate, TRACE_SECONDS - 1),
        "server_gpu_cache_hit_rate": hits,
        "server_overall_cache_hit_rate": hits,
        "theoretical_cache_hit_rate": np.full_like(rate, MOST_CACHED),
        "gpu_kv_cache_usage_pct": np.minimum(0.9, 0.01 * times["clients"]),
        "mean_input_tokens": np.full_like(rate, tokens_in),
        "mean_output_tokens_actual": np.full_like(rate, tokens_out),
    }


def _power(key: Key, rate: Values) -> dict[str, Values]:
    shape = np.array([shape for shape, _ in key.places])
    gpus = np.array([s.gpus for s in key.shapes])[shape]
    clients = np.array([c for _, c in key.places], dtype=float)
    tokens_in, tokens_out = _lengths(key)
    watts = np.round(600 + 400 * clients / (clients + 64), 3)
    per_query = watts * gpus / rate
    return {
        "avg_power_w": watts,
        "avg_total_gpu_power_w": watts * gpus,
        "total_gpu_energy_j": np.round(per_query * 10 * clients, 3),
        "joules_per_input_token": np.round(per_query / tokens_in, 6),
        "joules_per_output_token": np.round(per_query / tokens_out, 6),
        "joules_per_total_token": np.round(per_query / (tokens_in + tokens_out), 6),
        "joules_per_successful_query": np.round(per_query, 6),
    }
