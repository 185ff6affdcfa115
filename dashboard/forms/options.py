"""The choices that the filters of the inference page show."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dashboard.analysis.curves import SweepFacts
from dashboard.forms.selection import Selection
from dashboard.vocabulary.deployment_kinds import KINDS, OFFLOADS
from dashboard.vocabulary.frameworks import canonical_framework, framework_label
from dashboard.vocabulary.hardware import (
    hardware_label,
    hardware_order,
    vendor_of,
)
from dashboard.vocabulary.metrics import AXES, METRICS
from dashboard.vocabulary.models import model_group
from dashboard.vocabulary.scenarios import scenario_label, scenario_order

# The families that a chart is usually read across come first.
FAMILIES = ("Interactivity", "Latency", "Throughput")


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a filter."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Group:
    """The check boxes of one parameter."""

    name: str
    legend: str
    options: list[Option]


def filter_options(
    chosen: Selection, offered: Sequence[SweepFacts]
) -> dict[str, list[Option]]:
    """Return the choices of models, scenarios and config keys."""
    here = _nearest(chosen, offered)
    models = {model_group(sweep.model) for sweep in offered} | {chosen.model}
    scenarios = {
        sweep.scenario for sweep in offered if model_group(sweep.model) == chosen.model
    }
    scenarios.add(chosen.scenario)
    keys = {sweep.config_key for sweep in here} | set(chosen.filters.key)
    return {
        "models": _options(sorted(models, key=str.lower), {chosen.model}),
        "scenarios": _options(
            sorted(scenarios, key=scenario_order), {chosen.scenario}, scenario_label
        ),
        "keys": _options(sorted(keys), chosen.filters.key),
    }


def check_groups(chosen: Selection, offered: Sequence[SweepFacts]) -> list[Group]:
    """Return the check boxes of the sweeps that could be shown here."""
    here = _nearest(chosen, offered)
    return [group for group in _groups(chosen, here) if group.options]


def _nearest(chosen: Selection, offered: Sequence[SweepFacts]) -> list[SweepFacts]:
    """Return the sweeps of model and scenario, else of the model, else all."""
    here = [sweep for sweep in offered if chosen.offers(sweep)]
    of_model = (s for s in offered if model_group(s.model) == chosen.model)
    return here or list(of_model) or list(offered)


def _groups(chosen: Selection, here: Sequence[SweepFacts]) -> Iterator[Group]:
    filters = chosen.filters
    vendors = {vendor_of(sweep.hardware) for sweep in here} | set(filters.vendor)
    yield Group("vendor", "Vendor", _options(sorted(vendors), filters.vendor))
    hardware = {sweep.hardware for sweep in here} | set(filters.hardware)
    ordered = sorted(hardware, key=hardware_order)
    yield Group(
        "hardware", "Hardware", _options(ordered, filters.hardware, hardware_label)
    )
    frameworks = {canonical_framework(sweep.framework) for sweep in here}
    named = sorted(frameworks | set(filters.framework))
    yield Group(
        "framework", "Framework", _options(named, filters.framework, framework_label)
    )
    precisions = {sweep.precision for sweep in here} | set(filters.precision)
    yield Group(
        "precision", "Precision", _options(sorted(precisions), filters.precision)
    )
    methods = {method for sweep in here for method in sweep.spec_methods}
    yield Group(
        "spec",
        "Speculative decoding",
        _options(sorted(methods | set(filters.spec)), filters.spec),
    )
    kinds = _options(KINDS, filters.deployment, KINDS.__getitem__)
    yield Group("deployment", "Deployment", kinds)


def offload_options(chosen: Selection) -> list[Option]:
    """Return the choices of KV offload; the empty one filters nothing."""
    anything = Option("", "any", not chosen.filters.offload)
    named = _options(OFFLOADS, [chosen.filters.offload], OFFLOADS.__getitem__)
    return [anything, *named]


def axis_options(chosen: str, present: set[str]) -> list[tuple[str, list[Option]]]:
    """Return the metrics that an axis may show, family by family.

    Those that no point shown has are left out, but for the one chosen.
    """
    families: dict[str, list[Option]] = {name: [] for name in FAMILIES}
    for name in AXES:
        if name in present or name == chosen:
            metric = METRICS[name]
            option = Option(name, metric.label, name == chosen)
            families.setdefault(metric.family, []).append(option)
    return [(name, options) for name, options in families.items() if options]


def _options(
    values: Iterable[str],
    chosen: Iterable[str],
    label: Callable[[str], str] = str,
) -> list[Option]:
    marked = set(chosen)
    return [Option(v, label(v), v in marked) for v in values if v]
