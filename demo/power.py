"""Energy fields of a row: what the telemetry of the imaginary boards would say."""

from enum import Enum
from typing import Any

from demo.closed_loop import MEAN_LENGTH
from demo.machines import gpu_speed
from demo.recipes import Recipe

IDLE_SHARE = 0.42


class Power(Enum):
    """What became of the telemetry of a point."""

    MEASURED = "measured"
    INVALID = "invalid"
    ABSENT = "absent"


def power_fields(
    recipe: Recipe, requests_per_s: float, requests: int, power: Power
) -> dict[str, Any]:
    """Return energy fields in W and J; rows with invalid telemetry say only that."""
    if power is Power.ABSENT or recipe.lengths is None:
        return {}
    if power is Power.INVALID:
        return {"power_metric_schema_version": 2, "power_valid": 0}
    watts = _board_power(recipe, requests_per_s)
    energy = watts * recipe.gpus * requests / requests_per_s
    tokens_in, tokens_out = (MEAN_LENGTH * n * requests for n in recipe.lengths)
    return {
        "power_metric_schema_version": 2,
        "power_valid": 1,
        "avg_power_w": round(watts, 3),
        "avg_total_gpu_power_w": round(watts * recipe.gpus, 3),
        "total_gpu_energy_j": round(energy, 3),
        "joules_per_successful_query": round(energy / requests, 6),
        "joules_per_input_token": round(energy / tokens_in, 6),
        "joules_per_output_token": round(energy / tokens_out, 6),
        "joules_per_total_token": round(energy / (tokens_in + tokens_out), 6),
    }


def _board_power(recipe: Recipe, requests_per_s: float) -> float:
    """Rise from idle to full power with the share of prefill time in use."""
    speed = gpu_speed(recipe.hardware, recipe.precision, recipe.model, recipe.framework)
    lengths = recipe.lengths or (0, 0)
    read = requests_per_s * MEAN_LENGTH * lengths[0] / recipe.gpus
    busy = min(1.0, 0.25 + read / speed.prefill)
    return speed.power_w * (IDLE_SHARE + (0.92 - IDLE_SHARE) * busy)
