"""Physical checks of one measurement: what cannot be true is flagged, with numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
_THROUGHPUTS = ("tput_per_gpu", "input_tput_per_gpu", "output_tput_per_gpu")

# Written once: 20,000 rows ask for each of them.
_PERCENTILE_KEYS = {
    name: tuple(f"{percentile}_{name}" for percentile in PERCENTILES)
    for name in LATENCIES
} | {"intvty": tuple(f"{percentile}_intvty" for percentile in reversed(PERCENTILES))}

# With fewer measurements alike, looking at each by itself takes less time.
_FEW = 8

FlagText = tuple[str, str]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


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


_GPU_PLACES = [
    Measurement._fields.index(n) for n in ("gpus", "prefill_gpus", "decode_gpus")
]
_MISSING = np.array(np.nan)


def physical_flags(m: Measurement) -> list[FlagText]:
    """Return (code, text) of every check that the measurement fails."""
    return [flag for check in _CHECKS for flag in check(m)]


def flags_of_all(measurements: Sequence[Measurement]) -> list[list[FlagText]]:
    """Return the `physical_flags` of each measurement.

    Nearly none has any, which columns of numbers tell in a third of the time.
    """
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, m in enumerate(measurements):
        alike.setdefault(tuple(m.metrics), []).append(place)
    flags: list[list[FlagText]] = [[] for _ in measurements]
    for names, places in alike.items():
        group = [measurements[place] for place in places]
        doubted = _doubted(names, group) if len(group) >= _FEW else range(len(group))
        for index in doubted:
            flags[places[index]] = physical_flags(group[index])
    return flags


def _doubted(names: tuple[str, ...], group: Sequence[Measurement]) -> Iterable[int]:
    """Return the indexes of measurements of these metrics that may have a flag."""
    shape = len(group), len(names)
    numbers = chain.from_iterable(m.metrics.values() for m in group)
    values = np.fromiter(numbers, float, len(group) * len(names)).reshape(shape)
    columns = dict(zip(names, values.T, strict=True))
    # What is missing is NaN, which no comparison finds true; so are infinities' sums.
    with np.errstate(all="ignore"):
        found = (
            _unusual_values(names, values, columns)
            | _unusual_circumstances(group)
            | _unusual_throughput(columns, _Gpus.of(group), group)
        )
    return np.flatnonzero(found).tolist()


def _unusual_values(
    names: tuple[str, ...], values: Floats, columns: Mapping[str, Floats]
) -> Truths:
    """Tell of which measurements a value by itself, or beside its kind, is in doubt."""
    look = _look(names)
    found: Truths = (
        (values < 0).any(axis=1)
        | (values[:, look.rates] > LARGEST_RATE).any(axis=1)
        | (values[:, look.times] > LONGEST_S).any(axis=1)
        | (values[:, look.lower] > values[:, look.higher]).any(axis=1)
        | (columns.get("tput_per_gpu", _MISSING) == 0)
    )
    return found


def _unusual_circumstances(group: Sequence[Measurement]) -> Truths:
    return np.array(
        [
            m.power_valid is False
            or bool(_gpu_faults(m.deployment, m.gpus, m.prefill_gpus, m.decode_gpus))
            for m in group
        ]
    )


def _unusual_throughput(
    columns: Mapping[str, Floats], gpus: "_Gpus", group: Sequence[Measurement]
) -> Truths:
    """Tell of which measurements throughput fits neither its parts nor latency."""
    total, inputs, outputs = (columns.get(name, _MISSING) for name in _THROUGHPUTS)
    sums, parts = total * gpus.total, inputs * gpus.inputs + outputs * gpus.outputs
    e2e = columns.get("mean_e2el", columns.get("median_e2el", _MISSING))
    osl = np.array([m.osl for m in group], float)
    concurrency = np.array([m.concurrency for m in group], float)
    ratio = outputs * gpus.behind_outputs * e2e / (osl * concurrency)
    found: Truths = (
        (abs(sums - parts) > SUM_TOLERANCE * abs(sums))
        | (ratio < LITTLE_RANGE[0])
        | (ratio > LITTLE_RANGE[1])
    )
    return found


class _Gpus(NamedTuple):
    """What multiplies throughputs of each measurement, as `_denominators` says it."""

    total: Floats
    inputs: Floats
    outputs: Floats
    behind_outputs: Floats

    @classmethod
    def of(cls, group: Sequence[Measurement]) -> "_Gpus":
        """Return the columns of a group; NaN is unknown."""
        role = np.array([m.role_denominators for m in group])
        gpus, prefill, decode = (
            np.array([m[place] for m in group], float) for place in _GPU_PLACES
        )
        both = prefill + decode
        outputs = np.where(decode == 0, both, decode)
        return cls(
            total=np.where(role, both, 1),
            inputs=np.where(role, prefill, 1),
            outputs=np.where(role, outputs, 1),
            behind_outputs=np.where(role, outputs, gpus),
        )


class _Look(NamedTuple):
    """Which columns of metrics are rates, times, and what does not fall."""

    rates: list[int]
    times: list[int]
    lower: list[int]
    higher: list[int]


@lru_cache(maxsize=256)
def _look(names: tuple[str, ...]) -> _Look:
    places = {name: place for place, name in enumerate(names)}
    rising = [pair for _, keys in _percentiles(names) for pair in pairwise(keys)]
    return _Look(
        rates=[places[name] for name in names if name.endswith(_RATES)],
        times=[places[name] for name in names if name.endswith(LATENCIES)],
        lower=[places[low] for low, _ in rising],
        higher=[places[high] for _, high in rising],
    )


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
    yield from _gpu_faults(m.deployment, m.gpus, m.prefill_gpus, m.decode_gpus)


@lru_cache(maxsize=4096)
def _gpu_faults(
    deployment: Deployment, gpus: int | None, prefill: int | None, decode: int | None
) -> list[FlagText]:
    """Return which counts differ from the topology's; thousands of rows share them."""
    needed = topology_gpus(deployment)
    roles = zip(("prefill ", "decode "), (prefill, decode), needed, strict=True)
    counts = list(roles) if deployment.multinode else [("", gpus, needed[0])]
    return [
        (
            "gpu_count_mismatch",
            f"{counted} {role}GPUs counted, the topology needs {wanted}",
        )
        for role, counted, wanted in counts
        if counted is not None and wanted is not None and counted != wanted
    ]


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
    values = [m.metrics.get(name) for name in _THROUGHPUTS]
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


_CHECKS = (
    _gpu_count,
    _signs,
    _magnitudes,
    _throughput_sum,
    _littles_law,
    _percentile_order,
    _power,
)
