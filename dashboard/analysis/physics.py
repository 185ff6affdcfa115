"""Physical checks of one measurement: what cannot be true is flagged, with numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter, le
from typing import NamedTuple

from dashboard.vocabulary.deployments import Deployment

PERCENTILES = ("median", "p75", "p90", "p95", "p99", "p99.9")
LATENCIES = ("ttft", "tpot", "itl", "e2el")
LITTLE_RANGE = (0.60, 1.15)
SUM_TOLERANCE = 0.01
# Producers round aggregates to five decimals.
ROUNDING = 1e-5
# In tok/s per GPU or user, and in s: a thousand times what any system does.
LARGEST_RATE = 1e7
LONGEST_S = 30 * 86_400.0
_RATES = ("tput_per_gpu", "intvty")

# Written once: 20,000 rows ask for each of them.
_PERCENTILE_KEYS = {
    name: tuple(f"{percentile}_{name}" for percentile in PERCENTILES)
    for name in LATENCIES
} | {"intvty": tuple(f"{percentile}_intvty" for percentile in reversed(PERCENTILES))}

FlagText = tuple[str, str]
Values = Callable[[Mapping[str, float]], tuple[float, ...]]


class Measurement(NamedTuple):
    """What the checks look at. Throughput in tok/s/GPU, latencies in s.

    ``osl`` is None for agentic replays: their users pause between requests, so
    Little's law says nothing there. ``role_denominators`` is true where input and
    output are per prefill and decode GPU, not per GPU of the whole deployment.
    """

    metrics: Mapping[str, float]
    deployment: Deployment
    concurrency: int
    osl: int | None
    gpus: int | None
    prefill_gpus: int | None
    decode_gpus: int | None
    role_denominators: bool
    power_valid: bool | None = None


def physical_flags(m: Measurement) -> list[FlagText]:
    """Return (code, text) of every check that the measurement fails."""
    checks = _USUAL_CHECKS if _has_usual_values(m.metrics) else _CHECKS
    return [flag for check in checks for flag in check(m)]


def _has_usual_values(values: Mapping[str, float]) -> bool:
    """Tell at once of nearly every row that each value by itself raises no doubt."""
    look = _look(tuple(values))
    return (
        min(values.values(), default=0) >= 0
        and values.get("tput_per_gpu") != 0
        and max(look.rates(values), default=0) <= LARGEST_RATE
        and max(look.times(values), default=0) <= LONGEST_S
        and all(map(le, look.lower(values), look.higher(values)))
    )


class _Look(NamedTuple):
    """What reads values of rows with the same metrics: rates, times, what rises."""

    rates: Values
    times: Values
    lower: Values
    higher: Values


@lru_cache(maxsize=256)
def _look(names: tuple[str, ...]) -> _Look:
    rising = [pair for _, keys in _percentiles(names) for pair in pairwise(keys)]
    return _Look(
        rates=_values([name for name in names if name.endswith(_RATES)]),
        times=_values([name for name in names if name.endswith(LATENCIES)]),
        lower=_values([low for low, _ in rising]),
        higher=_values([high for _, high in rising]),
    )


def _values(names: Sequence[str]) -> Values:
    if len(names) < 2:  # noqa: PLR2004  one name would be read without a tuple
        return lambda values: tuple(values[name] for name in names)
    return itemgetter(*names)


def topology_gpus(d: Deployment) -> tuple[int | None, int | None]:
    """Return the GPUs that the topology needs: (prefill or all, decode).

    tp x pp x pcp per worker; decode context parallelism and expert parallelism
    share the same GPUs.
    """
    if not d.multinode:
        return _product(1, d.tp, d.pp, d.pcp), None
    prefill = _product(d.prefill_workers, d.prefill_tp, d.prefill_pp, d.prefill_pcp)
    if not d.decode_workers:
        return prefill, 0
    return prefill, _product(d.decode_workers, d.decode_tp, d.decode_pp, d.decode_pcp)


def _product(*factors: int | None) -> int | None:
    result = 1
    for factor in factors:
        if factor is None:
            return None
        result *= factor
    return result


def _gpu_count(m: Measurement) -> Iterator[FlagText]:
    prefill, decode = topology_gpus(m.deployment)
    pairs = [("", m.gpus, prefill)]
    if m.deployment.multinode:
        roles = (
            ("prefill ", m.prefill_gpus, prefill),
            ("decode ", m.decode_gpus, decode),
        )
        pairs = list(roles)
    for role, counted, needed in pairs:
        if counted is not None and needed is not None and counted != needed:
            yield (
                "gpu_count_mismatch",
                f"{counted} {role}GPUs counted, the topology needs {needed}",
            )


def _signs(m: Measurement) -> Iterator[FlagText]:
    if min(m.metrics.values(), default=0) < 0:
        negative = sorted(name for name, value in m.metrics.items() if value < 0)
        yield "negative_value", f"negative: {', '.join(negative[:5])}"
    if m.metrics.get("tput_per_gpu") == 0:
        yield "zero_throughput", "throughput is zero"


def _magnitudes(m: Measurement) -> Iterator[FlagText]:
    values = m.metrics
    rates = [n for n, v in values.items() if n.endswith(_RATES) and v > LARGEST_RATE]
    times = [n for n, v in values.items() if n.endswith(LATENCIES) and v > LONGEST_S]
    large = rates + times
    if large:
        large.sort()
        yield "implausible_value", f"beyond anything physical: {', '.join(large[:5])}"


def _denominators(m: Measurement) -> tuple[float, float, float] | None:
    """Return GPUs behind (total, input, output) throughput, or None if unknown."""
    if not m.role_denominators:
        return (1, 1, 1)
    if m.prefill_gpus is None or m.decode_gpus is None:
        return None
    total = m.prefill_gpus + m.decode_gpus
    return (total, m.prefill_gpus, m.decode_gpus or total)


def _throughput_sum(m: Measurement) -> Iterator[FlagText]:
    names = ("tput_per_gpu", "input_tput_per_gpu", "output_tput_per_gpu")
    values = [m.metrics.get(name) for name in names]
    gpus = _denominators(m)
    if gpus is None or values[0] is None or values[1] is None or values[2] is None:
        return
    total = values[0] * gpus[0]
    parts = values[1] * gpus[1] + values[2] * gpus[2]
    if abs(total - parts) > SUM_TOLERANCE * abs(total):
        text = f"total is {total:.4g} tok/s, input plus output {parts:.4g} tok/s"
        yield "throughput_sum", text


def _littles_law(m: Measurement) -> Iterator[FlagText]:
    """Check output_tput x GPUs x e2e / (osl x concurrency): about one by Little."""
    output = m.metrics.get("output_tput_per_gpu")
    e2e = m.metrics.get("mean_e2el", m.metrics.get("median_e2el"))
    gpus: float | None = m.gpus
    if m.role_denominators:
        denominators = _denominators(m)
        gpus = denominators[2] if denominators else None
    if output is None or e2e is None or not m.osl or not gpus or output <= 0:
        return
    ratio = output * gpus * e2e / (m.osl * m.concurrency)
    if LITTLE_RANGE[0] <= ratio <= LITTLE_RANGE[1]:
        return
    text = f"Little's law ratio is {ratio:.2f}"
    if e2e > 0:
        expected = m.osl * m.concurrency / (gpus * e2e)
        text += f"; expected ≈ {expected:.1f} output tok/s/GPU for {gpus:.0f} GPUs"
    yield "littles_law", text


def _percentile_order(m: Measurement) -> Iterator[FlagText]:
    values = m.metrics
    found = _percentiles(tuple(values))
    wrong = [name for name, keys in found if not _rising([values[k] for k in keys])]
    if wrong:
        yield "percentile_order", f"percentiles out of order: {', '.join(wrong)}"


def _percentiles(names: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    """Return the percentiles, as they rise, of each metric that has at least two."""
    held = frozenset(names)
    kept = {
        name: [key for key in keys if key in held]
        for name, keys in _PERCENTILE_KEYS.items()
    }
    return [(name, keys) for name, keys in kept.items() if len(keys) > 1]


def _rising(found: Sequence[float]) -> bool:
    """Tell whether percentiles rise; those of interactivity are of the slow tail."""
    return all(
        low <= high + ROUNDING * max(1.0, abs(high)) for low, high in pairwise(found)
    )


def _power(m: Measurement) -> Iterator[FlagText]:
    if m.power_valid is False:
        yield "power_invalid", "power telemetry failed validation: no energy figures"


_USUAL_CHECKS = (_gpu_count, _throughput_sum, _littles_law, _power)
_CHECKS = (
    _gpu_count,
    _signs,
    _magnitudes,
    _throughput_sum,
    _littles_law,
    _percentile_order,
    _power,
)
