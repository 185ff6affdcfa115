"""What is said beside a metric's axis: which GPUs divide, whose prices count."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import pandas as pd

from dashboard.analysis.derived import quote, ran_on
from dashboard.analysis.rates import is_per_role
from dashboard.vocabulary.derivations import Derivation
from dashboard.vocabulary.hardware import hardware_label
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.prices import CUSTOM, TIERS, Prices, Quote, edition

_OVER = {
    "": "",
    "all": "disaggregated points: over all GPUs, prefill and decode",
    "decode": "disaggregated points: per decode GPU",
    "prefill": "disaggregated points: per prefill GPU",
}


class AxisNote(NamedTuple):
    """What an axis rests on, and for which GPUs there is nothing to rest on."""

    terms: str = ""
    over: str = ""
    missing: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return what stands at the axis."""
        return "; ".join(filter(None, (self.terms, self.over)))

    @property
    def sentences(self) -> list[str]:
        """Return all of it, for what stands under a chart or in a file."""
        lacking = f"no value: {', '.join(self.missing)}" if self.missing else ""
        return [part for part in (self.terms, self.over, lacking) if part]


def axis_note(points: pd.DataFrame, name: str, prices: Prices | None) -> AxisNote:
    """Return what the axis of a metric says of these points.

    ``points`` has the columns that ``derived.with_derived`` needs. How disaggregated
    points are divided is said where there are some; in traces all GPUs always divide.
    """
    metric = METRICS[name]
    over = _OVER[metric.over] if bool(is_per_role(points).any()) else ""
    if metric.derivation is None or not metric.derivation.is_priced or prices is None:
        return AxisNote(over=over)
    of = partial(quote, prices, metric.derivation)
    quotes = {hardware: of(hardware) for hardware in ran_on(points)}
    missing = tuple(q.reason for q in quotes.values() if q.value is None)
    return AxisNote(_terms(metric.derivation, quotes), over, missing)


def _terms(derivation: Derivation, quotes: Mapping[str, Quote]) -> str:
    what = "prices" if derivation.needs_rate else "all-in power"
    tier = "" if derivation.tier in {"", CUSTOM} else f", {TIERS[derivation.tier]}"
    listed = _listed(quotes)
    unit = "$/GPU-h" if derivation.needs_rate else "kW per GPU"
    given = ", ".join(
        f"{hardware_label(name)} {found.value:g} {unit} as given"
        for name, found in quotes.items()
        if found.is_custom
    )
    of_edition = f"{what} of {listed}{tier}" if listed else ""
    notes = (f"{hardware_label(n)}: {q.note}" for n, q in quotes.items() if q.note)
    return "; ".join(filter(None, (of_edition, given, *notes)))


def _listed(quotes: Mapping[str, Quote]) -> str:
    """Return of which editions numbers are; of several, whose."""
    by_edition: dict[str, list[str]] = {}
    for name, found in quotes.items():
        if found.value is not None and found.since:
            by_edition.setdefault(edition(found.since), []).append(hardware_label(name))
    if len(by_edition) == 1:
        return next(iter(by_edition))
    named = (f"{day} ({', '.join(who)})" for day, who in sorted(by_edition.items()))
    return " and ".join(named)
