"""Metrics made of others: rates over all GPUs, per MW, cost, energy; row by row.

A point whose prefill and decode GPUs differ is priced as a whole: the cost or power of
all of its GPUs stands over all tokens that they served together.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dashboard.analysis.frames import require_columns
from dashboard.analysis.pareto import Floats
from dashboard.analysis.rates import over_all_gpus
from dashboard.vocabulary.derivations import Derivation
from dashboard.vocabulary.hardware import HARDWARE
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.prices import Prices, Quote, edition

# Which GPUs a point ran on.
HARDWARE_COLUMNS = ("hardware", "prefill_hardware", "decode_hardware")
GPU_COLUMNS = ("disagg", "scenario", "gpus", "prefill_gpus", "decode_gpus")
SECONDS_PER_HOUR = 3600
MILLION = 1_000_000
Columns = dict[str, Any]  # of numbers, or of texts
THOUSAND = 1000


def with_derived(
    points: pd.DataFrame, names: Iterable[str], prices: Prices | None = None
) -> pd.DataFrame:
    """Return ``points`` with a column for each of ``names`` that is derived.

    Needs the stored metrics that they are made of, ``GPU_COLUMNS`` and
    ``HARDWARE_COLUMNS``. A value is NaN where something of it is missing or its
    throughput is not above 0. A priced metric also has the column ``<name>_terms``:
    the number it was made with and where that is from, or why there is none. Raises
    ``ValueError`` for a priced metric without ``prices``.
    """
    made: Columns = {}
    for name in names:
        _make(points, name, prices, made)
    # All at once: each assignment copies the frame.
    return points.assign(**made)


def _make(
    points: pd.DataFrame, name: str, prices: Prices | None, made: Columns
) -> None:
    """Add the columns of a derived metric, and of the one that it is made of."""
    derivation = METRICS[name].derivation
    if derivation is None or name in made:
        return
    _make(points, derivation.basis, None, made)
    if derivation.basis in made:
        basis = made[derivation.basis]
    else:
        basis = points[derivation.basis].to_numpy(dtype=np.float64, na_value=np.nan)
    if derivation.is_priced:
        made |= _priced(points, name, basis, prices)
    else:
        made[name] = _PLAIN[derivation.kind](points, derivation, basis)


def _priced(
    points: pd.DataFrame, name: str, basis: Floats, prices: Prices | None
) -> Columns:
    derivation = METRICS[name].derivation
    if derivation is None or prices is None:
        raise ValueError(f"{name} needs prices")
    terms = terms_of(points, partial(quote, prices, derivation))
    numbers = np.array([np.nan if t.value is None else t.value for t in terms])
    values = made_of(derivation, numbers, basis)
    unit = "USD per GPU and hour" if derivation.needs_rate else "kW per GPU"
    said = [_said(term, unit) for term in terms]
    return {name: values, f"{name}_terms": said}


def quote(prices: Prices, derivation: Derivation, hardware: str) -> Quote:
    """Return the price or power of one GPU that a metric is made with."""
    if derivation.needs_rate:
        return prices.rate(hardware, derivation.tier)
    return prices.power(hardware, is_custom=bool(derivation.tier))


def made_of(derivation: Derivation, numbers: Floats, basis: Floats) -> Floats:
    """Return the metric of a price or power per GPU, and a rate per GPU over all."""
    above = np.where(basis > 0, basis, np.nan)
    return _PRICED[derivation.kind](numbers, above)


def _per_mw(kw: Floats, rate: Floats) -> Floats:
    return rate * THOUSAND / kw


def _cost(usd_per_hour: Floats, rate: Floats) -> Floats:
    return usd_per_hour * MILLION / (rate * SECONDS_PER_HOUR)


def _joules(kw: Floats, rate: Floats) -> Floats:
    return kw * THOUSAND / rate


def _spread(points: pd.DataFrame, made: Derivation, _basis: Floats) -> Floats:
    role = "decode_gpus" if METRICS[made.basis].over == "decode" else "prefill_gpus"
    return over_all_gpus(points, made.basis, role).to_numpy(dtype=np.float64)


def _watt_hours(_points: pd.DataFrame, _made: Derivation, joules: Floats) -> Floats:
    hours: Floats = joules / SECONDS_PER_HOUR
    return hours


def _tdp_share(points: pd.DataFrame, _made: Derivation, watts: Floats) -> Floats:
    known = terms_of(points, _tdp)
    limits = [np.nan if t.value is None else t.value for t in known]
    share: Floats = watts / np.array(limits, dtype=np.float64)
    return share


def _tdp(hardware: str) -> Quote:
    found = HARDWARE.get(hardware)
    return Quote(float(found.tdp_w) if found else None)


_PRICED: dict[str, Callable[[Floats, Floats], Floats]] = {
    "per_mw": _per_mw,
    "cost": _cost,
    "joules": _joules,
}
_PLAIN: dict[str, Callable[[pd.DataFrame, Derivation, Floats], Floats]] = {
    "spread": _spread,
    "watt_hours": _watt_hours,
    "tdp_share": _tdp_share,
}


class _Ran(NamedTuple):
    """The GPUs of one point; the roles are empty where they do not differ."""

    hardware: str
    prefill: str
    decode: str
    prefill_gpus: float
    decode_gpus: float

    def quote(self, of: Callable[[str], Quote]) -> Quote:
        """Return the mean per GPU, weighed by the GPUs of each role."""
        roles = (self.prefill or self.hardware, self.decode or self.hardware)
        if roles[0] == roles[1]:
            return of(roles[0])
        counts = (self.prefill_gpus, self.decode_gpus)
        if not np.isfinite(counts).all() or sum(counts) <= 0:
            return Quote(None, reason="GPUs of the roles unknown")
        quotes = [of(name) for name in roles]
        lacking = next((q for q in quotes if q.value is None), None)
        if lacking:
            return lacking
        values = [q.value for q in quotes if q.value is not None]
        days = [q.since for q in quotes if q.since]
        mean = float(np.average(values, weights=counts))
        notes = "; ".join(dict.fromkeys(q.note for q in quotes if q.note))
        return Quote(mean, max(days, default=None), note=notes)


def terms_of(points: pd.DataFrame, of: Callable[[str], Quote]) -> list[Quote]:
    """Return what ``of`` says of the GPUs of each row, once per kind of row."""
    ran = _ran(points)
    known = {one: one.quote(of) for one in set(ran)}
    return [known[one] for one in ran]


def _ran(points: pd.DataFrame) -> list[_Ran]:
    require_columns(points, (*HARDWARE_COLUMNS, *GPU_COLUMNS))
    # Where the roles are alike their GPUs do not matter. One NaN for all: it equals
    # no other one.
    differ = points["prefill_hardware"].ne(points["decode_hardware"])
    prefill, decode = (
        points[name].astype("float64").where(differ, 0.0)
        for name in ("prefill_gpus", "decode_gpus")
    )
    rows = zip(
        *(points[name].tolist() for name in HARDWARE_COLUMNS),
        *(prefill.tolist(), decode.tolist()),
        strict=True,
    )
    return [
        _Ran(hardware, of_prefill, of_decode, _one_nan(before), _one_nan(after))
        for hardware, of_prefill, of_decode, before, after in rows
    ]


def _one_nan(count: float) -> float:
    return np.nan if np.isnan(count) else count


def ran_on(points: pd.DataFrame) -> list[str]:
    """Return the GPUs that the points ran on, each once."""
    found: dict[str, None] = {}
    for one in dict.fromkeys(_ran(points)):
        found[one.prefill or one.hardware] = None
        found[one.decode or one.hardware] = None
    return list(found)


def _said(term: Quote, unit: str) -> str:
    if term.value is None:
        return term.reason
    origin = edition(term.since) if term.since else "as given"
    return "; ".join(filter(None, (f"{term.value:g} {unit}, {origin}", term.note)))
