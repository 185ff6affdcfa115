"""A load model of agentic sessions: long prompts, mostly cached, users who pause."""

from dataclasses import dataclass

from demo.closed_loop import Pool
from demo.machines import gain, gpu_speed
from demo.noise import noise
from demo.recipes import Recipe

DURATION_S = 3590.0
WARM_UP_S = 240.0
MEAN_INPUT = 71_400
MEAN_OUTPUT = 812
# Seconds between an answer and the next request of the same user.
PAUSE_S = 7.5
# Share of a prompt found in the cache as long as all sessions fit into memory.
CACHED = 0.957
# Users that fit per GPU; memory of the host holds more, at the price of copying.
USERS_PER_GPU = {"none": 4.0, "dram": 8.0}
COPY_COST = 1.35
MODEL_SHARE = 0.6
# Attention to a long cached prompt makes each new token dearer than in a short one.
LONG_CONTEXT = 2.4


@dataclass(frozen=True, slots=True)
class Sessions:
    """What a run of agentic sessions measured; times in s, rates per second."""

    ttft_s: float
    itl_s: float
    e2e_s: float
    requests: int
    cached: float
    input_rate: float
    output_rate: float


def sessions(recipe: Recipe, users: int, run: str) -> Sessions:
    """Play sessions of so many users against a recipe, with the noise of a run."""
    drawn = noise(run, f"{recipe.deployment}|{users}")
    factor = gain(recipe.image, recipe.checkpoint, 1)
    cached = _cached(recipe, users)
    ttft, itl = _service(recipe, users, cached)
    ttft, itl = ttft / factor * drawn.ttft, itl / factor / drawn.interactivity
    e2e = ttft + MEAN_OUTPUT * itl
    rate = users / (PAUSE_S / factor + e2e) * drawn.throughput
    requests = round(rate * DURATION_S)
    return Sessions(
        ttft_s=ttft,
        itl_s=itl,
        e2e_s=e2e,
        requests=requests,
        cached=cached,
        input_rate=requests * MEAN_INPUT / DURATION_S,
        output_rate=requests * MEAN_OUTPUT / DURATION_S,
    )


def _cached(recipe: Recipe, users: int) -> float:
    """Let the cache lose sessions once more users come than fit into memory."""
    full = users / (USERS_PER_GPU[recipe.offloading] * recipe.gpus)
    return CACHED / (1 + 0.06 * full**5)


def _service(recipe: Recipe, users: int, cached: float) -> tuple[float, float]:
    speed = gpu_speed(recipe.hardware, recipe.precision, recipe.model, recipe.framework)
    role = recipe.roles[0]
    if role.ep > 1:
        speed = speed.scaled(1.06, 1.04)
    pool = Pool(speed, 1, role.gpus)
    read = LONG_CONTEXT * pool.prefill_s((1 - cached) * MEAN_INPUT)
    if recipe.offloading != "none":
        read *= COPY_COST
    busy = users * MODEL_SHARE
    itl = pool.step_s(busy, speculative=recipe.spec == "mtp")
    itl += max(0.0, busy - 1) * read / MEAN_OUTPUT * 0.5
    return read * (1.1 + 0.12 * busy) + 0.15, itl
