"""The made-up history of a key: what each day served, lost and got back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import sha256

import numpy as np

from dashboard.analysis.segments import Placed, SweepIdentity, segments
from dashboard.vocabulary import acceptance
from dashboard.vocabulary.scenarios import AGENTIC
from ingest.scale.keys import Key
from ingest.scale.measurements import Values

# A new image every so many days; every other one is faster.
IMAGE_DAYS = 8
GAIN = 0.03
# Of keys whose checkpoint is swapped once; of sweeps that are held; of days on which a
# key begins to lose, by how much, from which concurrency on, and for how many days.
SWAPPED, HELD, FALLS = 0.10, 0.01, 0.01
LOSS, LOSS_FROM, LOSS_DAYS = 0.08, 64, 5
# What an incomplete sweep was planned to measure beside what arrived.
NEVER_CAME = ("TP16", (1, 2, 4, 8))


@dataclass(frozen=True, slots=True)
class Moment:
    """A day of the history: its number, and when the run of a group began."""

    day: int
    at: datetime


@dataclass
class Day:
    """What a key's official sweep of a day served and how it fared."""

    key: Key
    moment: Moment
    sweep_id: int
    run_id: int
    image: str
    checkpoint: str
    speed: float
    is_held: bool
    is_losing: bool
    begins: bool  # to lose, against the sweep before
    ends: bool
    gains: bool
    placed: Placed | None = None
    baseline: "Day | None" = field(default=None, repr=False)

    @cached_property
    def lost(self) -> Values:
        """Return the share that each place of the key loses on this day."""
        share = LOSS if self.is_losing else 0.0
        return np.array([share * (c >= LOSS_FROM) for _, c in self.key.places])

    @property
    def missing(self) -> int:
        """Return how many planned points never came."""
        return len(NEVER_CAME[1]) if self.is_held else 0

    @property
    def fingerprints(self) -> list[str]:
        """Return the recipes that it ran: one per deployment and image."""
        return [recipe(self.key, n, self.image) for n in range(len(self.key.shapes))]

    @property
    def acceptance_source(self) -> str:
        """Return where its acceptance length comes from, empty without drafts."""
        if self.key.spec == "none":
            return acceptance.NONE
        is_synthetic = self.key.scenario == AGENTIC
        return acceptance.POLICY if is_synthetic else acceptance.REAL

    @property
    def is_swap(self) -> bool:
        """Tell whether other weights were served than before."""
        return self.placed is not None and self.placed.is_swap


def recipe(key: Key, shape: int, image: str) -> str:
    """Return a fingerprint as long as real ones, the same for the same recipe."""
    return _digest(f"{key.name} {shape} {image}")


def image(key: Key, version: int) -> str:
    """Return the image that a key's framework is served with."""
    vendor = "rocm" if key.hardware.startswith("mi") else "cuda"
    return f"example/{key.framework}-{vendor}:v0.5.{version}"


def checkpoint(key: Key, version: int) -> str:
    """Return the weights that a key serves."""
    suffix = f"-V{version}" if version > 1 else ""
    return f"example/{key.model}-{key.precision.upper()}{suffix}"


def history(
    key: Key, moments: Sequence[Moment], ids: Sequence[tuple[int, int]], seed: int
) -> list[Day]:
    """Return the official sweeps of a key, oldest first, placed in segments.

    ``ids`` are the (sweep, run) ids of each day.
    """
    rng = np.random.default_rng([seed, key.number])
    swap = rng.integers(1, len(moments)) if len(moments) > 1 else 0
    swap = int(swap) if rng.random() < SWAPPED else len(moments)
    # The first sweep of a key is current even when incomplete.
    draws = rng.random((2, len(moments))).tolist()
    held = [bool(n and draw < HELD) for n, draw in enumerate(draws[0])]
    losing = list(_losing(draws[1], held))
    days = []
    for n, (moment, (sweep_id, run_id)) in enumerate(zip(moments, ids, strict=True)):
        version = n // IMAGE_DAYS
        days.append(
            Day(
                key=key,
                moment=moment,
                sweep_id=sweep_id,
                run_id=run_id,
                image=image(key, version),
                checkpoint=checkpoint(key, 2 if n >= swap else 1),
                speed=1 + GAIN * ((version + 1) // 2),
                is_held=held[n],
                is_losing=losing[n],
                begins=losing[n] and not losing[n - 1],
                ends=n > 0 and losing[n - 1] and not losing[n],
                gains=n > 0 and n % IMAGE_DAYS == 0 and version % 2 == 1,
            )
        )
    _place(days)
    return days


def _losing(draws: Sequence[float], held: Sequence[bool]) -> Iterator[bool]:
    """Yield whether a key loses on each day; held sweeps neither begin nor end it."""
    left = 0
    for n, draw in enumerate(draws):
        if left == 0 and n and not held[n] and draw < FALLS:
            left = LOSS_DAYS
        elif left and not (left == 1 and held[n]):
            left -= 1
        yield left > 0


def _place(days: Sequence[Day]) -> None:
    """Give each day its place in the history and its baseline."""
    counted = [day for day in days if not day.is_held]
    for day, place in zip(counted, segments(map(identity, counted)), strict=True):
        day.placed = place
    before = None
    for day in days:
        day.baseline = before
        if day.placed is not None:
            before = day


def identity(day: Day) -> SweepIdentity:
    """Return what history compares of a sweep."""
    return SweepIdentity(
        sweep_id=day.sweep_id,
        at=day.moment.at,
        checkpoint=day.checkpoint,
        precision=day.key.precision,
        spec_methods=frozenset({day.key.spec}),
        acceptance_source=day.acceptance_source,
        harness="traces" if day.key.is_agentic else "",
        images=(day.image,),
        recipes=frozenset(day.fingerprints),
        pools=frozenset({day.key.hardware}),
        grid={str(label): frozenset(found) for label, found in day.key.grid},  # type: ignore[call-overload]
    )


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
