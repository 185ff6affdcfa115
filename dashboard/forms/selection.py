"""What the inference page shows: every filter with its default filled in."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from dashboard.analysis.curves import SweepFacts
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.hardware import vendor_of
from dashboard.vocabulary.metrics import PRICED
from dashboard.vocabulary.models import model_group
from dashboard.vocabulary.prices import NO_CUSTOM, Custom


@dataclass(frozen=True, slots=True)
class Filters:
    """Which sweeps and points are shown. An empty tuple filters nothing."""

    precision: tuple[str, ...] = ()
    hardware: tuple[str, ...] = ()
    vendor: tuple[str, ...] = ()
    framework: tuple[str, ...] = ()
    spec: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    deployment: tuple[str, ...] = ()
    offload: str = ""
    since: datetime | None = None

    def take(self, sweep: SweepFacts) -> bool:
        """Tell whether a sweep passes; its points are filtered on their own."""
        return (
            _passes(self.precision, sweep.precision)
            and _passes(self.hardware, sweep.hardware)
            and _passes(self.vendor, vendor_of(sweep.hardware))
            and _passes(self.framework, canonical_framework(sweep.framework))
            and _passes(self.key, sweep.config_key)
            and (not self.spec or not set(self.spec).isdisjoint(sweep.spec_methods))
            and (self.since is None or sweep.official_at >= self.since)
        )

    def named(self) -> Iterator[str]:
        """Yield each filter that is set, as ``name value, value``."""
        for name in ("precision", "hardware", "vendor", "framework", "spec", "key"):
            if values := getattr(self, name):
                yield f"{name} {', '.join(values)}"
        if self.deployment:
            yield f"deployment {', '.join(self.deployment)}"
        if self.offload:
            yield f"offload {self.offload}"
        if self.since:
            yield f"from {self.since:%Y-%m-%d}"


ALL_ROWS = "all"


@dataclass(frozen=True, slots=True)
class Selection:
    """Model, scenario, metrics and filters; ``moment`` is None for today.

    ``zoom`` is the shown rectangle (x from, x to, y from, y to) in the metrics' units,
    ``at`` the value of x at which keys are ranked, ``hidden`` the keys switched off.
    ``gate`` leaves only points whose key and checkpoint passed their evals.
    ``all_rows`` lists every point in the table, however many there are.
    ``custom`` holds prices and power that the reader gave.
    Without either word on ghosts, those of keys whose history broke lately are drawn.
    """

    model: str
    scenario: str
    x: str
    y: str
    filters: Filters = Filters()
    moment: datetime | None = None
    asof_run: int | None = None
    log_x: bool = False
    log_y: bool = False
    only_frontier: bool = False
    has_ghosts: bool = False
    no_ghosts: bool = False
    gate: bool = False
    at: float | None = None
    sort: str = ""
    all_rows: bool = False
    zoom: tuple[float, float, float, float] | None = None
    hidden: tuple[str, ...] = ()
    custom: Custom = NO_CUSTOM

    @property
    def is_priced(self) -> bool:
        """Tell whether an axis depends on prices or power of GPUs."""
        return not PRICED.isdisjoint((self.x, self.y))

    def told(self) -> Iterator[str]:
        """Yield what is chosen beside model, scenario and metrics, in a few words."""
        yield from self.filters.named()
        switches = {
            "only the frontier": self.only_frontier,
            "former sweeps": self.has_ghosts,
            "eval-gated": self.gate,
            "log x": self.log_x,
            "log y": self.log_y,
            "my prices": bool(self.custom.price or self.custom.kw),
        }
        yield from (words for words, is_on in switches.items() if is_on)
        if self.asof_run is not None:
            yield f"as of run {self.asof_run}"
        elif self.moment is not None:
            yield f"as of {self.moment:%Y-%m-%d}"

    def takes(self, sweep: SweepFacts) -> bool:
        """Tell whether a sweep is shown."""
        return self.offers(sweep) and self.filters.take(sweep)

    def offers(self, sweep: SweepFacts) -> bool:
        """Tell whether a sweep is of the model and scenario shown."""
        return (
            model_group(sweep.model) == self.model and sweep.scenario == self.scenario
        )


def _passes(chosen: tuple[str, ...], value: str) -> bool:
    return not chosen or value in chosen
