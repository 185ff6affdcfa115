"""A curve: what is known of the sweeps that make one line of the frontier chart."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from dashboard.analysis.segments import CHECKPOINT, Change
from dashboard.vocabulary.acceptance import acceptance_label, is_configured


@dataclass(frozen=True, slots=True)
class SweepFacts:
    """One sweep. ``planned`` is None where no plan is known.

    ``segment`` counts the stretches of its key's history, None where it has no place in
    it; ``breaks`` says why it began one.
    """

    sweep_id: int
    config_key: str
    model: str
    precision: str
    hardware: str
    framework: str
    scenario: str
    checkpoint: str
    image: str
    run_id: int
    run_url: str
    measured_at: datetime
    official_at: datetime
    received: int
    planned: int | None
    extends: int | None
    spec_methods: tuple[str, ...]
    acceptance_source: str
    acceptance_length: float | None
    is_held: bool = False
    state_reason: str = ""
    segment: int | None = None
    breaks: tuple[Change, ...] = field(default=(), hash=False)

    @property
    def swap(self) -> Change | None:
        """Return from which to which checkpoint it was swapped, if it was."""
        return next((b for b in self.breaks if b["kind"] == CHECKPOINT), None)

    @property
    def checkpoint_short(self) -> str:
        """Return the checkpoint without its publisher or path."""
        return self.checkpoint.rstrip("/").rpartition("/")[2]

    @property
    def is_complete(self) -> bool:
        """Tell whether every planned point came; true where no plan is known."""
        return self.planned is None or self.received >= self.planned

    @property
    def is_speculative(self) -> bool:
        """Tell whether some deployment decoded speculatively."""
        return any(method != "none" for method in self.spec_methods)

    @property
    def is_synthetic(self) -> bool:
        """Tell whether the acceptance length was configured rather than measured."""
        return is_configured(self.acceptance_source, self.acceptance_length, self.model)

    @property
    def acceptance_label(self) -> str:
        """Say where the acceptance length comes from; empty without speculation."""
        return acceptance_label(
            self.acceptance_source, self.acceptance_length, self.model
        )

    def speculates(self, deployment: str) -> bool:
        """Tell by its label whether a deployment of the sweep decodes speculatively."""
        methods = (method for method in self.spec_methods if method != "none")
        return any(deployment.endswith(f" {method}") for method in methods)


@dataclass(frozen=True, slots=True)
class Curve:
    """One config key's current sweep and the sweeps that extend it, oldest first."""

    sweep: SweepFacts
    extensions: tuple[SweepFacts, ...] = ()

    @property
    def config_key(self) -> str:
        """Return the key that names the curve."""
        return self.sweep.config_key

    @property
    def sweeps(self) -> tuple[SweepFacts, ...]:
        """Return all sweeps of the curve, the one that is extended first."""
        return (self.sweep, *self.extensions)

    @property
    def received(self) -> int:
        """Return how many points the curve holds."""
        return sum(sweep.received for sweep in self.sweeps)


def curves(sweeps: Iterable[SweepFacts]) -> list[Curve]:
    """Group the current sweeps of one scenario into a curve per config key.

    A sweep that extends another one joins it; where the extended sweep is not among
    ``sweeps`` the oldest stands in its place.
    """
    by_key: dict[str, list[SweepFacts]] = {}
    for sweep in sorted(sweeps, key=_base_first):
        by_key.setdefault(sweep.config_key, []).append(sweep)
    return [Curve(first, tuple(rest)) for first, *rest in by_key.values()]


def by_sweep(drawn: Iterable[Curve]) -> Mapping[int, SweepFacts]:
    """Return every sweep of the curves by its id."""
    return {sweep.sweep_id: sweep for curve in drawn for sweep in curve.sweeps}


def _base_first(sweep: SweepFacts) -> tuple[bool, datetime, int]:
    return (sweep.extends is not None, sweep.official_at, sweep.sweep_id)
