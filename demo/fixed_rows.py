"""Rows of fixed-length measurements, shaped as a benchmark job writes them."""

from typing import Any

from demo.closed_loop import MEAN_LENGTH, Load, Pool, aggregated, disaggregated
from demo.machines import gain, gpu_speed
from demo.noise import noise
from demo.power import Power, power_fields
from demo.recipes import Recipe, Role

# Requests per client of one measurement.
PROMPTS = 10
# Percentiles and moments as multiples of the median: decode times are narrow,
# first tokens wide; end-to-end times follow the spread of the lengths.
TPOT = {"mean": 0.985, "std": 0.07, "p90": 1.06, "p99": 1.11, "p99.9": 1.14}
ITL = {"mean": 1.04, "std": 0.9, "p90": 1.25, "p99": 3.4, "p99.9": 7.5}
TTFT = {"mean": 1.5, "std": 1.3, "p90": 2.1, "p99": 5.2, "p99.9": 6.4}
E2E = {"mean": 0.995, "std": 0.07, "p90": 1.09, "p99": 1.14, "p99.9": 1.19}
# Weights that one cluster serves from its own disk: rows then name a path.
LOCAL_PATHS = {"dsr1-fp4-gb200-dynamo-trt": "/weights/deepseek-r1-0528-fp4"}


def fixed_row(
    recipe: Recipe, concurrency: int, run: str, power: Power
) -> dict[str, Any]:
    """Measure one point of a recipe in a run; latencies in s, rates in tok/s/GPU."""
    load = measured(recipe, concurrency, run)
    row = _identity(recipe, concurrency) | _topology(recipe)
    row |= _rates(recipe, load) | _latencies(load, recipe.spec)
    requests = PROMPTS * concurrency
    return row | power_fields(recipe, load.requests_per_s, requests, power)


def measured(recipe: Recipe, concurrency: int, run: str) -> Load:
    """Return what the model predicts, with the noise of this run.

    Throughput and interactivity are tied by the closed loop: the noise of the one
    that is not drawn by both stays small enough for Little's law to hold.
    """
    load = _predicted(recipe, concurrency)
    factor = gain(recipe.image, recipe.checkpoint, concurrency)
    drawn = noise(run, f"{recipe.deployment}|{concurrency}")
    tpot = load.tpot_s / factor / drawn.interactivity
    ttft = load.ttft_s / factor * drawn.ttft
    tokens = (load.e2e_s - load.ttft_s) / load.tpot_s
    rate = load.requests_per_s * factor * drawn.throughput
    return Load(ttft, tpot, ttft + tokens * tpot, rate)


def _predicted(recipe: Recipe, concurrency: int) -> Load:
    if recipe.lengths is None:
        raise ValueError(f"{recipe.key} has no fixed lengths")
    pools = [_pool(recipe, role) for role in recipe.roles]
    if recipe.disagg:
        return disaggregated(pools[0], pools[1], recipe.lengths, concurrency)
    speculative = recipe.spec == "mtp"
    return aggregated(pools[0], recipe.lengths, concurrency, speculative=speculative)


def _pool(recipe: Recipe, role: Role) -> Pool:
    speed = gpu_speed(recipe.hardware, recipe.precision, recipe.model, recipe.framework)
    if role.dp_attention:
        speed = speed.scaled(1.15, 1.06)
    return Pool(speed, role.workers, role.gpus // max(role.workers, 1))


def _identity(recipe: Recipe, concurrency: int) -> dict[str, Any]:
    isl, osl = recipe.lengths or (0, 0)
    return {
        "hw": recipe.label,
        "conc": concurrency,
        "image": recipe.image,
        "model": LOCAL_PATHS.get(recipe.key, recipe.checkpoint),
        "infmax_model_prefix": recipe.model,
        "framework": recipe.framework,
        "precision": recipe.precision,
        "spec_decoding": recipe.spec,
        "disagg": recipe.disagg,
        "recipe_fingerprint": recipe.fingerprint,
        "isl": isl,
        "osl": osl,
    }


def _topology(recipe: Recipe) -> dict[str, Any]:
    if not recipe.multinode:
        return {"is_multinode": False} | role_fields(recipe.roles[0])
    prefill, decode = recipe.roles
    fields: dict[str, Any] = {"is_multinode": True}
    if recipe.router:
        fields["router"] = dict(recipe.router)
    if recipe.transfer:
        fields["kv_p2p_transfer"] = recipe.transfer
    for name, role in (("prefill", prefill), ("decode", decode)):
        served = role if role.workers else Role(0, 0, 1, 1, 1, 0, role.dp_attention)
        fields |= {f"{name}_{key}": value for key, value in role_fields(served).items()}
        fields[f"{name}_num_workers"] = served.workers
        fields[f"num_{name}_gpu"] = served.gpus
    return fields


def role_fields(role: Role) -> dict[str, Any]:
    """Write parallel sizes as rows do; data-parallel attention is a text there."""
    return {
        "tp": role.tp,
        "pp": role.pp,
        "dcp_size": role.dcp,
        "pcp_size": role.pcp,
        "ep": role.ep,
        "dp_attention": str(role.dp_attention).lower(),
    }


def _rates(recipe: Recipe, load: Load) -> dict[str, float]:
    """Divide by all GPUs; input and output by those of their role where roles differ.

    Aggregated workers decode on their prefill GPUs, so every rate has all of them.
    """
    isl, osl = recipe.lengths or (0, 0)
    tokens_in = load.requests_per_s * MEAN_LENGTH * isl
    tokens_out = load.requests_per_s * MEAN_LENGTH * osl
    readers = recipe.roles[0].gpus
    writers = recipe.roles[-1].gpus or readers
    return {
        "tput_per_gpu": (tokens_in + tokens_out) / recipe.gpus,
        "output_tput_per_gpu": tokens_out / writers,
        "input_tput_per_gpu": tokens_in / readers,
    }


def _latencies(load: Load, spec: str) -> dict[str, float]:
    # With speculation several tokens arrive at once, further apart from each other.
    gap = load.tpot_s * (0.93 if spec == "none" else 1.8)
    fields = _spread("ttft", load.ttft_s, TTFT)
    for name, value in _spread("tpot", load.tpot_s, TPOT).items():
        fields |= {name: value, name.replace("tpot", "intvty"): 1 / value}
    fields |= _spread("itl", gap, ITL)
    return fields | _spread("e2el", load.e2e_s, E2E)


def _spread(metric: str, median: float, shape: dict[str, float]) -> dict[str, float]:
    fields = {f"median_{metric}": median}
    return fields | {f"{name}_{metric}": median * by for name, by in shape.items()}
