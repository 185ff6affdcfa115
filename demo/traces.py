"""Single requests of agentic sessions, as the client of a job writes them."""

import json
import math
import random
from collections.abc import Iterator
from typing import Any

from demo.agentic_load import DURATION_S, MEAN_INPUT, MEAN_OUTPUT, WARM_UP_S, sessions
from demo.agentic_rows import OUTPUT
from demo.noise import generator
from demo.recipes import Recipe

MEMBER = "aiperf_artifacts/profile_export.jsonl"
TURNS = 14
# How far single requests lie around their median: deviations of the logarithm.
TTFT_SPREAD, OUTPUT_SPREAD, ITL_SPREAD = 0.55, 1.1, 0.05
FIRST_INPUT = 0.35  # of the mean: a session begins short and grows
NS = 1_000_000_000


def profile_export(recipe: Recipe, users: int, run: str, begun_ns: int) -> str:
    """Write a line per request of a point, as many as its row counts.

    Each user plays one conversation after the other, a request at a time. Lines stand
    by their start, and the first ones are warm-up.
    """
    measured = sessions(recipe, users, run)
    warm_up = round(measured.requests * WARM_UP_S / DURATION_S)
    count = measured.requests + warm_up
    draw = generator(f"requests|{run}|{recipe.deployment}|{users}")
    shapes = [_shape(draw, measured.ttft_s, measured.itl_s) for _ in range(count)]
    played = enumerate(_played(shapes, users, draw, begun_ns))
    lines = (_of_phase(line, is_warm_up=n < warm_up) for n, line in played)
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def _of_phase(line: dict[str, Any], *, is_warm_up: bool) -> dict[str, Any]:
    """Mark a request; as many are warm-up as the row dropped for it."""
    line["metadata"]["benchmark_phase"] = "warmup" if is_warm_up else "profiling"
    return line


def _shape(
    draw: random.Random, ttft_s: float, itl_s: float
) -> tuple[float, float, int]:
    """Draw time to first token, time per token and tokens of one request."""
    tokens = MEAN_OUTPUT / OUTPUT[0] * math.exp(draw.gauss(0, OUTPUT_SPREAD))
    return (
        ttft_s * math.exp(draw.gauss(0, TTFT_SPREAD)),
        itl_s * math.exp(draw.gauss(0, ITL_SPREAD)),
        max(2, round(min(tokens, 20 * MEAN_OUTPUT))),
    )


def _played(
    shapes: list[tuple[float, float, int]],
    users: int,
    draw: random.Random,
    begun_ns: int,
) -> Iterator[dict[str, Any]]:
    """Let users take turns; pauses fill what answers leave of the whole time."""
    busy = sum(ttft + itl * (tokens - 1) for ttft, itl, tokens in shapes)
    whole = WARM_UP_S + DURATION_S
    pause = max(0.2, (whole * users - busy) / len(shapes))
    clocks = [draw.uniform(0, pause) for _ in range(users)]
    turns = [0] * users
    for shape in shapes:
        user = min(range(users), key=clocks.__getitem__)
        start = clocks[user]
        yield _line(shape, (user, turns[user]), start, begun_ns)
        ttft, itl, tokens = shape
        clocks[user] = (
            start + ttft + itl * (tokens - 1) + draw.uniform(0.2, 1.8) * pause
        )
        turns[user] += 1


def _line(
    shape: tuple[float, float, int], place: tuple[int, int], start: float, begun_ns: int
) -> dict[str, Any]:
    ttft, itl, tokens = shape
    user, played = place
    whole = ttft + itl * (tokens - 1)
    turn = played % TURNS
    read = MEAN_INPUT * (FIRST_INPUT + 1.3 * turn / TURNS)
    start_ns = begun_ns + round(start * NS)
    values = {
        "input_sequence_length": (round(read), "tokens"),
        "output_sequence_length": (tokens, "tokens"),
        "time_to_first_token": (round(1000 * ttft, 3), "ms"),
        "request_latency": (round(1000 * whole, 3), "ms"),
        "inter_token_latency": (round(1000 * itl, 4), "ms"),
        "full_response_inter_token_latency": (round(1000 * itl, 4), "ms"),
    }
    return {
        "metadata": {
            "conversation_id": f"session-{user + 1:02}-{played // TURNS + 1:02}",
            "turn_index": turn,
            "request_start_ns": start_ns,
            "request_end_ns": start_ns + round(whole * NS),
            "was_cancelled": False,
        },
        "metrics": {n: {"value": v, "unit": unit} for n, (v, unit) in values.items()},
        "error": None,
    }
