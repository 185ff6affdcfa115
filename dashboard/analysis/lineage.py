"""Why a curve shows this sweep: the former and the held sweeps beside it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboard.analysis.curves import Curve, SweepFacts, curves


@dataclass(frozen=True, slots=True)
class Lineage:
    """A curve and what stands beside it, each newest first.

    ``held`` are the held sweeps that are newer than the curve, ``former`` the sweeps
    that it replaced. ``former_curve`` is the one before it, with what extended that.
    """

    curve: Curve
    held: tuple[SweepFacts, ...]
    former: tuple[SweepFacts, ...]
    former_curve: Curve | None


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
    return Lineage(curve, tuple(held), tuple(former), _former_curve(former))


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
