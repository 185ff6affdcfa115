"""Rows of agentic measurements, shaped as an agentic job writes them."""

from typing import Any

from demo.agentic_load import (
    DURATION_S,
    MEAN_INPUT,
    MEAN_OUTPUT,
    WARM_UP_S,
    Sessions,
    sessions,
)
from demo.fixed_rows import role_fields
from demo.recipes import Recipe

POOL_TOKENS_PER_GPU = 690_000
STATISTICS = ("mean", "p50", "p75", "p90", "p95", "std")
# Statistics as multiples of the median, in the order of STATISTICS.
TTFT = (1.28, 1.0, 1.45, 2.3, 3.0, 0.95)
E2E = (1.6, 1.0, 1.75, 3.4, 5.2, 2.0)
ITL = (1.004, 1.0, 1.035, 1.08, 1.11, 0.06)
NORMALISED = (1.9, 1.0, 1.5, 2.4, 3.3, 0.9)
INPUT = (1.12, 1.0, 1.55, 2.1, 2.3, 0.66)
OUTPUT = (1.95, 1.0, 2.2, 4.7, 7.9, 3.0)
DATASET = {
    "source_type": "public_dataset",
    "loader": "frontierboard_demo_sessions",
    "hf_dataset_name": "frontierboard/demo-coding-sessions",
    "hf_split": "train",
    "num_dataset_entries": 240,
}


def agentic_row(recipe: Recipe, users: int, run: str) -> dict[str, Any]:
    """Measure one point; latencies in s, all rates divided by all GPUs."""
    measured = sessions(recipe, users, run)
    warm_up = round(measured.requests * WARM_UP_S / DURATION_S)
    row = _identity(recipe, users)
    row |= _accounting(measured.requests, warm_up, errors=0)
    row["request_metrics"] = _request_metrics(recipe, measured)
    row["server_metrics"] = _server_metrics(recipe, users, measured)
    row["kv_cache_pool_tokens"] = POOL_TOKENS_PER_GPU * recipe.gpus
    return row


def failed_row(recipe: Recipe, users: int) -> dict[str, Any]:
    """Write the row of a server that answered every request with an error."""
    row = _identity(recipe, users)
    row |= _accounting(0, 0, errors=4 * users)
    latencies = ("ttft", "e2el", "itl", "tpot", "intvty", "full_response_itl")
    row["request_metrics"] = {
        "qps": {},
        "latency": {name: {} for name in latencies},
        "tokens": {"input": {}, "output_actual": {}, "output_expected": {}},
        "throughput": {},
        "cache": {"theoretical_cache_hit_rate": None},
    }
    row["server_metrics"] = {"present": False, "adapter": "none", "metric_count": 0}
    row["warnings"] = ["no metrics were exported by the server"]
    return row


def _identity(recipe: Recipe, users: int) -> dict[str, Any]:
    backend = {"name": recipe.backend} if recipe.backend else None
    return {
        "hw": recipe.label,
        "conc": users,
        "image": recipe.image,
        "recipe_fingerprint": recipe.fingerprint,
        "model": recipe.checkpoint,
        "infmax_model_prefix": recipe.model,
        "framework": recipe.framework,
        "precision": recipe.precision,
        "spec_decoding": recipe.spec,
        "disagg": recipe.disagg,
        "scenario_type": "agentic-coding",
        "is_multinode": False,
        **role_fields(recipe.roles[0]),
        "kv_offloading": recipe.offloading,
        "kv_offload_backend": backend,
        "allocated_cpu_dram_gb": recipe.dram_gb,
        "dataset": DATASET,
    }


def _accounting(profiled: int, warm_up: int, errors: int) -> dict[str, Any]:
    total = profiled + warm_up + errors
    return {
        "num_requests_total": total,
        "num_requests_successful": profiled,
        "request_accounting": {
            "records_total": total,
            "records_profiled": profiled,
            "records_dropped_total": warm_up + errors,
            "records_warmup_dropped": warm_up,
            "records_error_dropped": errors,
            "error_categories": {"http_500": errors} if errors else {},
        },
    }


def _request_metrics(recipe: Recipe, measured: Sessions) -> dict[str, Any]:
    per_second = measured.requests / DURATION_S
    return {
        "qps": {
            "window_seconds": 1,
            "samples": round(DURATION_S),
            **_rates(per_second),
        },
        "latency": _latency(measured),
        "tokens": {
            "input": _block(MEAN_INPUT / INPUT[0], INPUT),
            "output_actual": _block(MEAN_OUTPUT / OUTPUT[0], OUTPUT),
            "output_expected": {},
        },
        "throughput": _throughput(recipe, measured),
        "cache": {"theoretical_cache_hit_rate": 0.971},
    }


def _rates(mean: float) -> dict[str, float]:
    """Describe completions per second as a count with that mean."""
    values = (
        mean,
        round(mean),
        round(mean),
        round(mean + 1),
        round(mean + 1),
        mean**0.5,
    )
    return {name: _short(value) for name, value in zip(STATISTICS, values, strict=True)}


def _latency(measured: Sessions) -> dict[str, Any]:
    itl = _block(measured.itl_s, ITL)
    per_token = measured.itl_s + measured.ttft_s * OUTPUT[0] / MEAN_OUTPUT
    return {
        "ttft": _block(measured.ttft_s, TTFT),
        "e2el": _block(measured.e2e_s / E2E[0], E2E),
        "itl": itl,
        "tpot": itl,
        "intvty": _inverse(measured.itl_s, ITL),
        "e2e_norm_intvty": _inverse(per_token, NORMALISED),
        "full_response_itl": itl,
        "full_response_intvty": _inverse(measured.itl_s, ITL),
    }


def _block(median: float, shape: tuple[float, ...]) -> dict[str, float]:
    return {
        name: _short(median * by) for name, by in zip(STATISTICS, shape, strict=True)
    }


def _inverse(median: float, shape: tuple[float, ...]) -> dict[str, float]:
    """Invert each statistic, so that high percentiles are the slow tail."""
    values = {
        name: _short(1 / (median * by))
        for name, by in zip(STATISTICS, shape, strict=True)
    }
    return values | {"std": _short(shape[-1] / median)}


def _throughput(recipe: Recipe, measured: Sessions) -> dict[str, Any]:
    rates = {"input": measured.input_rate, "output": measured.output_rate}
    rates["total"] = sum(rates.values())
    per_gpu = {
        f"{name}_tput_tps": _short(rates[name] / recipe.gpus)
        for name in ("total", "output", "input")
    }
    totals: dict[str, Any] = {
        name: {"tokens_per_second": _short(rate)} for name, rate in rates.items()
    }
    return totals | {"duration_seconds": DURATION_S, "per_gpu": per_gpu}


def _server_metrics(recipe: Recipe, users: int, measured: Sessions) -> dict[str, Any]:
    prompt = measured.requests * MEAN_INPUT
    hits = round(prompt * measured.cached)
    offloaded = recipe.offloading != "none"
    return {
        "present": True,
        "adapter": recipe.framework,
        "metric_count": 12,
        "cache": {
            "gpu_cache_hit_rate": _short(measured.cached * (0.8 if offloaded else 1)),
            "cpu_cache_hit_rate": _short(measured.cached * 0.2) if offloaded else None,
            "external_cache_hit_rate": None,
            "overall_cache_hit_rate": _short(measured.cached),
        },
        "kv_cache": {
            "gpu_usage_pct": _short(min(0.985, 0.04 + users / (4.6 * recipe.gpus))),
            "gpu_total_tokens": POOL_TOKENS_PER_GPU * recipe.gpus,
        },
        "tokens": {
            "prompt_total": prompt,
            "generation_total": measured.requests * MEAN_OUTPUT,
            "requests_completed": measured.requests,
            "prompt_by_source": {"gpu_cache_hit": hits, "computed": prompt - hits},
        },
        "sources": [],
    }


def _short(value: float) -> float:
    """Keep 5 decimals; whole values become integers, as their producer writes them."""
    short = round(value, 5)
    return int(short) if short >= 1 and short == int(short) else short
