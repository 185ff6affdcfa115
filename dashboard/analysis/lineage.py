"""Why a curve shows this sweep: former and held ones beside it, where it began."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from dashboard.analysis.changes import badge, sentence
from dashboard.analysis.curves import Curve, SweepFacts, curves


@dataclass(frozen=True, slots=True)
class Opening:
    """The sweep at which a history broke, so that nothing before it is comparable."""

    sweep: SweepFacts

    @property
    def at(self) -> datetime:
        """Return since when the segment goes."""
        return self.sweep.official_at

    @property
    def swapped_from(self) -> str:
        """Return the checkpoint before it, empty where another thing broke."""
        swap = self.sweep.swap
        return swap["from"] if swap else ""

    @property
    def badge(self) -> str:
        """Return in a few words why it broke."""
        return badge(self.sweep.breaks)

    @property
    def words(self) -> str:
        """Return why it broke: each break from what to what."""
        return "; ".join(map(sentence, self.sweep.breaks))

    @property
    def sentence(self) -> str:
        """Return why it broke, and since which run."""
        return f"{self.words}, since run {self.sweep.run_id}, {self.at:%Y-%m-%d}"

    @property
    def former_name(self) -> str:
        """Return what the segment before it is called beside the present one."""
        swapped_from = self.swapped_from
        return (
            f"{swapped_from}, before the swap" if swapped_from else "before the break"
        )


@dataclass(frozen=True, slots=True)
class Lineage:
    """A curve and what stands beside it, each newest first.

    ``held`` are the held sweeps that are newer than the curve, ``former`` the sweeps
    that it replaced. ``former_curve`` is the one before it, with what extended that:
    where the curve's segment began with a break, the last one before the break.
    ``opening`` is that break, None in the first segment.
    """

    curve: Curve
    held: tuple[SweepFacts, ...]
    former: tuple[SweepFacts, ...]
    former_curve: Curve | None
    opening: Opening | None = None


def lineages(
    drawn: Iterable[Curve], history: Iterable[SweepFacts]
) -> Mapping[str, Lineage]:
    """Return the lineage of each curve by its key, from the sweeps of these keys."""
    by_key: dict[str, list[SweepFacts]] = {}
    for sweep in sorted(history, key=_age):
        by_key.setdefault(sweep.config_key, []).append(sweep)
    return {
        curve.config_key: _lineage(curve, by_key.get(curve.config_key, []))
        for curve in drawn
    }


def _lineage(curve: Curve, known: list[SweepFacts]) -> Lineage:
    """Sort what is known of a key, given newest first."""
    shown = {sweep.sweep_id for sweep in curve.sweeps}
    newest = max(_moment(sweep) for sweep in curve.sweeps)
    first = _moment(curve.sweep)
    held = [s for s in known if s.is_held and _moment(s) > newest]
    former = [
        s
        for s in known
        if not s.is_held and s.sweep_id not in shown and _moment(s) < first
    ]
    opening = _opening(curve, known)
    before = [s for s in former if not opening or _moment(s) < _moment(opening.sweep)]
    former_curve = _former_curve(before)
    return Lineage(curve, tuple(held), tuple(former), former_curve, opening)


def _opening(curve: Curve, known: list[SweepFacts]) -> Opening | None:
    """Return the break that began the curve's segment, if it is known."""
    segment = curve.sweep.segment
    broke = (s for s in (curve.sweep, *known) if s.breaks and s.segment == segment)
    found = next(broke, None)
    return None if found is None or segment is None else Opening(found)


def _former_curve(former: list[SweepFacts]) -> Curve | None:
    base = next((sweep for sweep in former if sweep.extends is None), None)
    if base is None:
        return None
    (curve,) = curves([base, *(s for s in former if s.extends == base.sweep_id)])
    return curve


def _moment(sweep: SweepFacts) -> tuple[float, int]:
    return sweep.official_at.timestamp(), sweep.run_id


def _age(sweep: SweepFacts) -> tuple[float, int]:
    at, run_id = _moment(sweep)
    return -at, -run_id
