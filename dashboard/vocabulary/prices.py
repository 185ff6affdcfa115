"""What an hour of a GPU costs and which power it is provisioned: editions by day.

Knows no table: rows come in, and an answer says from when its row is, or why there
is no number. A placeholder is never a number.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

from dashboard.vocabulary.hardware import HARDWARE, hardware_label, hardware_order

# How a GPU is paid for, by the name of its column.
TIERS = {"hyperscaler": "hyperscaler", "neocloud": "neocloud", "rental": "rental"}
CUSTOM = "custom"
POWER = "power_kw"
FIELDS = (*TIERS, POWER)
# More is a slip of the keyboard.
LARGEST = 10_000.0

_Given = Mapping[str, float]
_NOTHING: _Given = MappingProxyType({})


class PriceRow(NamedTuple):
    """One GPU from a day on: USD per GPU and hour in each tier, all-in kW per GPU.

    None is not known; ``placeholders`` names values that only hold a place.
    """

    hardware: str
    valid_from: date
    hyperscaler: float | None
    neocloud: float | None
    rental: float | None
    power_kw: float | None
    placeholders: tuple[str, ...] = ()
    note: str = ""


class Custom(NamedTuple):
    """What a reader sets for some GPUs: USD per GPU and hour, all-in kW per GPU."""

    price: _Given = _NOTHING
    kw: _Given = _NOTHING


NO_CUSTOM = Custom()


class Quote(NamedTuple):
    """A number with its origin, or no number and the ``reason``.

    ``since`` is the day from which its row counts, None of a reader's own number.
    ``note`` is what the row says of itself.
    """

    value: float | None
    since: date | None = None
    reason: str = ""
    note: str = ""

    @property
    def is_custom(self) -> bool:
        """Tell whether a reader set it."""
        return self.value is not None and self.since is None


class Prices:
    """The rows that count on one day, and what a reader set over them."""

    def __init__(
        self, rows: Iterable[PriceRow], day: date, custom: Custom = NO_CUSTOM
    ) -> None:
        """Take rows in any order; of a GPU the newest by ``day`` counts."""
        self.day = day
        self.custom = custom
        self._rows: dict[str, PriceRow] = {}
        for row in sorted(rows, key=lambda row: row.valid_from):
            if row.valid_from <= day:
                self._rows[row.hardware] = row

    def rate(self, hardware: str, tier: str) -> Quote:
        """Return USD per GPU and hour; of the tier ``custom`` only a reader's own."""
        if hardware in self.custom.price:
            return Quote(self.custom.price[hardware])
        if tier == CUSTOM:
            label = hardware_label(hardware)
            return Quote(None, reason=f"no price of {label} in the address")
        return self._listed(hardware, tier, f"{TIERS[tier]} price")

    def power(self, hardware: str, *, is_custom: bool = False) -> Quote:
        """Return the all-in kW per GPU; ``is_custom`` takes only a reader's own."""
        if hardware in self.custom.kw:
            return Quote(self.custom.kw[hardware])
        if is_custom:
            label = hardware_label(hardware)
            return Quote(None, reason=f"no power of {label} in the address")
        return self._listed(hardware, POWER, "all-in power")

    def _listed(self, hardware: str, field: str, what: str) -> Quote:
        label = hardware_label(hardware)
        row = self._rows.get(hardware)
        if row is None:
            why = f"no {what} of {label} is valid on {self.day:%Y-%m-%d}"
            return Quote(None, reason=why)
        value = getattr(row, field)
        if value is None or field in row.placeholders:
            kind = "unknown" if value is None else "a placeholder"
            of = edition(row.valid_from)
            return Quote(None, row.valid_from, f"{what} of {label} of {of} is {kind}")
        return Quote(value, row.valid_from, note=row.note)


def edition(day: date) -> str:
    """Return how an edition is called: by its month where it begins with one."""
    return f"{day:%Y-%m}" if day.day == 1 else f"{day:%Y-%m-%d}"


def read_custom(name: str, texts: Iterable[str], unit: str) -> dict[str, float]:
    """Read numbers such as ``mi355x:1.85``, several with commas between them.

    Raises ``ValueError`` with a sentence that names the parameter ``name``.
    """
    found: dict[str, float] = {}
    for part in ",".join(texts).split(","):
        if not part.strip():
            continue
        hardware, colon, number = part.strip().lower().partition(":")
        hardware = hardware.strip()
        if not colon:
            raise ValueError(f"{name}: {part.strip()[:40]} is not like mi355x:1.85.")
        if hardware not in HARDWARE:
            known = ", ".join(sorted(HARDWARE, key=hardware_order))
            raise ValueError(f"{name}: {hardware[:40]} is not known. Allowed: {known}.")
        if hardware in found:
            raise ValueError(f"{name}: {hardware} is given twice.")
        found[hardware] = _positive(name, number.strip(), unit)
    return found


def custom_text(given: Mapping[str, float]) -> str:
    """Return given numbers as they are typed: ``mi355x:1.85, b200:2``."""
    return ", ".join(f"{name}:{value:g}" for name, value in given.items())


def _positive(name: str, text: str, unit: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= LARGEST:
        raise ValueError(
            f"{name}: {text[:40] or 'nothing'} is no {unit} above 0 "
            f"and up to {LARGEST:g}."
        )
    return number
