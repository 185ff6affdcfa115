"""A closed-loop load model: C clients, each with one request in flight."""

import math
from dataclasses import dataclass

from demo.machines import Speed

# The client draws lengths uniformly between 80 and 100 % of the nominal ones.
MEAN_LENGTH = 0.9
# Parallel efficiency: n GPUs are worth n to this power.
PREFILL_SCALING = 0.94
STEP_SCALING = 0.58
BATCH_SCALING = 0.86
# Speculation: tokens accepted per step, and what verifying them costs.
ACCEPTED = 1.95
VERIFY_STEP = 1.14
VERIFY_BATCH = 1.75
# Share of the time in which the last requests of a run leave servers half empty.
TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Load:
    """What the model predicts: seconds, and finished requests per second."""

    ttft_s: float
    tpot_s: float
    e2e_s: float
    requests_per_s: float


@dataclass(frozen=True, slots=True)
class Pool:
    """Workers of one role: ``workers`` instances of ``gpus`` GPUs each."""

    speed: Speed
    workers: int
    gpus: int

    def prefill_s(self, tokens: float) -> float:
        """Return how long one worker takes to read a prompt."""
        return tokens / (self.speed.prefill * math.pow(self.gpus, PREFILL_SCALING))

    def step_s(self, requests: float, *, speculative: bool) -> float:
        """Return the time per output token with so many requests on one worker."""
        base = self.speed.step_s / math.pow(self.gpus, STEP_SCALING)
        batch = self.speed.per_request_s * requests / math.pow(self.gpus, BATCH_SCALING)
        if speculative:
            return (base * VERIFY_STEP + batch * VERIFY_BATCH) / ACCEPTED
        return base + batch


def aggregated(
    pool: Pool, lengths: tuple[int, int], clients: int, *, speculative: bool
) -> Load:
    """Load workers that prefill and decode: each prefill delays all other requests."""
    tokens_in, tokens_out = (MEAN_LENGTH * length for length in lengths)
    share = clients / pool.workers
    prefill = pool.prefill_s(tokens_in)
    others = max(0.0, share - 1) * prefill
    tpot = pool.step_s(share, speculative=speculative) + others / tokens_out
    ttft = prefill * (1.25 + 0.05 * share**0.5) + 0.04
    return _load(ttft, tpot, tokens_out, clients)


def disaggregated(
    prefill: Pool, decode: Pool, lengths: tuple[int, int], clients: int
) -> Load:
    """Load separate roles: prompts queue before the prefill workers.

    The rate is found by bisection: more requests per second mean longer queues and
    larger decode batches, so the number in flight grows with the rate.
    """
    tokens_in, tokens_out = (MEAN_LENGTH * length for length in lengths)
    one = prefill.prefill_s(tokens_in)
    capacity = prefill.workers / one

    def at(rate: float) -> Load:
        waiting = one * (1.2 + rate / (capacity - rate)) + 0.06
        tpot = _decode_step(decode, rate, tokens_out)
        return Load(waiting, tpot, waiting + tokens_out * tpot, rate)

    low, high = 0.0, min(capacity, _decode_capacity(decode, tokens_out)) * 0.999
    for _ in range(60):
        middle = at((low + high) / 2)
        if middle.requests_per_s * middle.e2e_s < clients:
            low = middle.requests_per_s
        else:
            high = middle.requests_per_s
    found = at(low)
    return _load(found.ttft_s, found.tpot_s, tokens_out, clients)


def _decode_step(pool: Pool, rate: float, tokens_out: float) -> float:
    """Solve step = base + slope * (requests in flight per worker) for the step."""
    base = pool.step_s(0, speculative=False)
    slope = pool.step_s(1, speculative=False) - base
    return base / (1 - slope * rate * tokens_out / pool.workers)


def _decode_capacity(pool: Pool, tokens_out: float) -> float:
    slope = pool.step_s(1, speculative=False) - pool.step_s(0, speculative=False)
    return pool.workers / (slope * tokens_out)


def _load(ttft: float, tpot: float, tokens_out: float, clients: int) -> Load:
    e2e = ttft + tokens_out * tpot
    return Load(ttft, tpot, e2e, clients / e2e * (1 - TAIL))
