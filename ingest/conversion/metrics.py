"""Numbers of rows: which fields are metrics, and what a number may look like."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from ingest.conversion.identity import Warnings
from ingest.conversion.records import RefusedError

Reader = Callable[[Mapping[str, object]], tuple[object, ...]]

STATS = ("mean", "median", "p75", "p90", "p95", "p99", "p99.9")

_TPOTS = tuple((f"{stat}_tpot", f"{stat}_intvty") for stat in STATS)

_METRIC = re.compile(
    r"(?:mean|median|std|p\d{1,2}(?:\.\d{1,3})?)_"
    r"(?:ttft|tpot|itl|e2el|intvty|e2e_norm_intvty|full_response_itl"
    r"|full_response_intvty|qps|input_tokens|output_tokens_actual"
    r"|output_tokens_expected)"
    r"|(?:output_|input_|total_)?tput_(?:per_gpu|tps)"
    r"|(?:prefill_|decode_)?avg_power_w|avg_total_gpu_power_w"
    r"|total_gpu_energy_j|(?:prefill|decode)_gpu_energy_j"
    r"|(?:prefill_|decode_)?joules_per_[a-z_]+"
    r"|duration_seconds|theoretical_cache_hit_rate"
    r"|server_(?:gpu|cpu|external|overall)_cache_hit_rate"
    r"|(?:gpu|cpu)_kv_cache_usage_pct"
    r"|total_(?:prompt_tokens|generation_tokens|requests_completed)"
)
# 1000 / std(TPOT) and its like say nothing.
_MEANINGLESS = re.compile(r"std_.*intvty")


@lru_cache(maxsize=4096)
def is_metric(name: str) -> bool:
    """Tell whether a flat field is a metric that is kept."""
    return bool(_METRIC.fullmatch(name)) and not is_meaningless(name)


def is_meaningless(name: str) -> bool:
    """Tell whether a field is the reciprocal of a deviation, which is dropped."""
    return bool(_MEANINGLESS.fullmatch(name))


class Named(NamedTuple):
    """Some fields of rows, and what reads their values from a row."""

    names: tuple[str, ...]
    values_of: Reader


@lru_cache(maxsize=256)
def metrics_among(fields: tuple[str, ...]) -> Named:
    """Return the metrics among fields: rows of one file have the same."""
    return named(filter(is_metric, fields))


def named(names: Iterable[str]) -> Named:
    """Return fields of these names."""
    names = tuple(names)
    return Named(names, reader_of(names))


def reader_of(names: Sequence[str]) -> Reader:
    """Return what reads the values of names, in their order, from a row."""
    if len(names) < 2:  # noqa: PLR2004  one name would be read without a tuple
        return lambda record: tuple(record[name] for name in names)
    return itemgetter(*names)


def flat_metrics(record: Mapping[str, object], warnings: Warnings) -> dict[str, float]:
    """Return the finite metrics of a flat row; NaN becomes missing, with a warning.

    Raises `RefusedError` ``wrong_type`` where a metric is no number.
    """
    return read_metrics(metrics_among(tuple(record)), record, warnings)


def read_metrics(
    metrics: Named, record: Mapping[str, object], warnings: Warnings
) -> dict[str, float]:
    """Return what `flat_metrics` does, of a row of which the metrics are known."""
    names, values_of = metrics
    values = values_of(record)
    if set(map(type, values)) == {float} and math.isfinite(sum(values)):  # type: ignore[arg-type]
        return dict(zip(names, values, strict=True))  # type: ignore[arg-type]
    return finite(zip(names, values, strict=True), warnings)


def finite(items: Iterable[tuple[str, object]], warnings: Warnings) -> dict[str, float]:
    """Return what is a finite number; null is missing, NaN is missing and warned of.

    Raises `RefusedError` ``wrong_type`` for anything that is no number.
    """
    found: dict[str, float] = {}
    for name, value in items:
        if value is None:
            continue
        number = _number(name, value)
        if math.isfinite(number):
            found[name] = number
        else:
            warnings.append(("nan_token", f"{name} is {number}"))
    return found


def _number(name: str, value: object) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    shown = repr(value)[:60]
    raise RefusedError("wrong_type", f"{name}: not a number (got {shown})")


def drop_undefined_interactivity(metrics: dict[str, float], warnings: Warnings) -> None:
    """Remove interactivity whose time per output token is not positive."""
    for name, interactivity in _TPOTS:
        tpot = metrics.get(name)
        if tpot is not None and tpot <= 0:
            metrics.pop(interactivity, None)
            warnings.append(("zero_tpot", f"{name} is {tpot:g}: no interactivity"))
