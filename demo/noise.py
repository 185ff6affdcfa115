"""Run-to-run noise: small, repeatable deviations from what the model predicts."""

import math
import random
from dataclasses import dataclass

# Standard deviations of one run's value, as fractions.
THROUGHPUT_NOISE = 0.0075
INTERACTIVITY_NOISE = 0.006
TTFT_NOISE = 0.03
# No draw lies further out than this many standard deviations, so that chance alone
# never writes a chapter of the story.
LIMIT = 2.2


@dataclass(frozen=True, slots=True)
class Noise:
    """Factors near 1 for one point of one run."""

    throughput: float
    interactivity: float
    ttft: float


def noise(run: str, point: str) -> Noise:
    """Draw the noise of a point; half of its variance is shared by the whole run."""
    shared, own = generator(run), generator(f"{run}|{point}")
    return Noise(
        throughput=_factor(shared, own, THROUGHPUT_NOISE),
        interactivity=_factor(shared, own, INTERACTIVITY_NOISE),
        ttft=_factor(shared, own, TTFT_NOISE),
    )


def generator(seed: str) -> random.Random:
    """Return a generator whose draws depend on nothing but the text."""
    return random.Random(seed)  # noqa: S311  # a simulation, not a secret


def _factor(shared: random.Random, own: random.Random, deviation: float) -> float:
    draw = (shared.gauss(0, 1) + own.gauss(0, 1)) / math.sqrt(2)
    return math.exp(deviation * max(-LIMIT, min(LIMIT, draw)))
