"""Where a metric stands among those of a stored point.

A point holds its metrics as an array, so a name has a place for good. What a row tells
beyond these names is kept beside the array, by name.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import itemgetter

# Append only: rows hold values by place, and a migration froze what was here first.
# In the order of how many rows have them, since an array ends with its last value.
STORED_METRICS = (
    # Rows of fixed lengths.
    *("tput_per_gpu", "output_tput_per_gpu", "input_tput_per_gpu"),
    *("mean_intvty", "median_intvty", "p90_intvty", "p99_intvty", "p99.9_intvty"),
    *("mean_ttft", "median_ttft", "p90_ttft", "p99_ttft", "p99.9_ttft", "std_ttft"),
    *("mean_tpot", "median_tpot", "p90_tpot", "p99_tpot", "p99.9_tpot", "std_tpot"),
    *("mean_itl", "median_itl", "p90_itl", "p99_itl", "p99.9_itl", "std_itl"),
    *("mean_e2el", "median_e2el", "p90_e2el", "p99_e2el", "p99.9_e2el", "std_e2el"),
    *("avg_power_w", "avg_total_gpu_power_w", "total_gpu_energy_j"),
    *("joules_per_successful_query", "joules_per_total_token"),
    *("joules_per_input_token", "joules_per_output_token"),
    # Those of them with prefill and decode apart.
    *("prefill_gpu_energy_j", "decode_gpu_energy_j"),
    *("prefill_avg_power_w", "decode_avg_power_w"),
    *("prefill_joules_per_input_token", "decode_joules_per_output_token"),
    # Replayed traces.
    *("p75_intvty", "p95_intvty", "p75_ttft", "p95_ttft", "p75_tpot", "p95_tpot"),
    *("p75_itl", "p95_itl", "p75_e2el", "p95_e2el"),
    *("duration_seconds", "total_tput_tps", "output_tput_tps", "input_tput_tps"),
    *("total_requests_completed", "total_prompt_tokens", "total_generation_tokens"),
    *("theoretical_cache_hit_rate", "server_overall_cache_hit_rate"),
    *("server_gpu_cache_hit_rate", "gpu_kv_cache_usage_pct"),
    *("mean_input_tokens", "median_input_tokens", "p75_input_tokens"),
    *("p90_input_tokens", "p95_input_tokens", "std_input_tokens"),
    *("mean_output_tokens_actual", "median_output_tokens_actual"),
    *("p75_output_tokens_actual", "p90_output_tokens_actual"),
    *("p95_output_tokens_actual", "std_output_tokens_actual"),
    *("mean_qps", "median_qps", "p75_qps", "p90_qps", "p95_qps", "std_qps"),
    *("mean_e2e_norm_intvty", "median_e2e_norm_intvty", "p75_e2e_norm_intvty"),
    *("p90_e2e_norm_intvty", "p95_e2e_norm_intvty"),
    *("mean_full_response_itl", "median_full_response_itl", "p75_full_response_itl"),
    *("p90_full_response_itl", "p95_full_response_itl", "std_full_response_itl"),
    # What few rows tell.
    *("server_cpu_cache_hit_rate", "server_external_cache_hit_rate"),
    *("cpu_kv_cache_usage_pct", "mean_full_response_intvty"),
    *("median_full_response_intvty", "p75_full_response_intvty"),
    *("p90_full_response_intvty", "p95_full_response_intvty"),
    *("p99_full_response_intvty", "p99.9_full_response_intvty"),
    *("p99_full_response_itl", "p99.9_full_response_itl"),
    *("p99_e2e_norm_intvty", "p99.9_e2e_norm_intvty"),
    *("p99_input_tokens", "p99.9_input_tokens"),
    *("p99_output_tokens_actual", "p99.9_output_tokens_actual"),
    *("mean_output_tokens_expected", "median_output_tokens_expected"),
    *("p75_output_tokens_expected", "p90_output_tokens_expected"),
    *("p95_output_tokens_expected", "p99_output_tokens_expected"),
    *("p99.9_output_tokens_expected", "std_output_tokens_expected"),
    *("p99_qps", "p99.9_qps"),
    *("avg_util_pct", "avg_mem_used_mb", "avg_temp_c", "peak_temp_c"),
)
_PLACES = {name: place for place, name in enumerate(STORED_METRICS)}

Values = tuple[float | None, ...]
Reader = Callable[[Mapping[str, float]], Values]


def place_of(name: str) -> int:
    """Return the place of a metric, the first being 0.

    Raises `ValueError` for a name that has none.
    """
    place = _PLACES.get(name)
    if place is None:
        raise ValueError(f"{name} is no stored metric: see STORED_METRICS")
    return place


def parted(metrics: Mapping[str, float]) -> tuple[Values, dict[str, float] | None]:
    """Return the array of a point's metrics, and those that have no place in it.

    None where all have one. The array ends with its last value.
    """
    read, others = _shape(tuple(metrics))
    return read(metrics), {n: metrics[n] for n in others} if others else None


def array_of(metrics: Mapping[str, float | None]) -> list[float | None]:
    """Return the array of metrics; None is not measured.

    Raises `ValueError` for a name that has no place in it.
    """
    measured = {name: float(v) for name, v in metrics.items() if v is not None}
    values, others = parted(measured)
    for name in others or ():
        place_of(name)
    return [*values]


def metrics_of(values: Iterable[float | None]) -> dict[str, float]:
    """Return the metrics of an array by name, those that were measured.

    Values that are whole may be integers; those returned are not.
    """
    named = zip(STORED_METRICS, values, strict=False)
    return {name: float(value) for name, value in named if value is not None}


def as_doubles(others: Mapping[str, float] | None) -> dict[str, float]:
    """Return metrics without a place, as JSON of the database holds them.

    It writes 1e20 with all its digits, which is read as an integer that JSON for others
    may not be able to hold.
    """
    return {name: float(value) for name, value in (others or {}).items()}


@lru_cache(maxsize=256)
def _shape(names: tuple[str, ...]) -> tuple[Reader, tuple[str, ...]]:
    """Return what reads an array from metrics of these names, and names it cannot hold.

    Rows of one file have the same names.
    """
    others = tuple(name for name in names if name not in _PLACES)
    end = max((_PLACES[name] + 1 for name in names if name in _PLACES), default=0)
    listed = STORED_METRICS[:end]
    # Faster, where there are no gaps; one name would be read without a tuple.
    if len(listed) > 1 and set(listed) <= set(names):
        return itemgetter(*listed), others
    return lambda metrics: tuple(map(metrics.get, listed)), others
