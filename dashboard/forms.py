"""Query strings, validated: an unknown value names its parameter and the allowed."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.http import QueryDict

from dashboard.analysis.curves import SweepFacts
from dashboard.vocabulary.metrics import AXES, METRICS, default_axes
from dashboard.vocabulary.models import MODELS, model_group
from dashboard.vocabulary.scenarios import (
    AGENTIC,
    scenario_label,
    scenario_order,
)

MOST_NAMED = 100
SCENARIOS = ("8k/1k", "1k/1k", "1k/8k", AGENTIC)
PRECISIONS = ("fp4", "fp8", "bf16", "int4")

# Parameters of the official dashboard, and what they are called here.
OFFICIAL_NAMES = {
    "g_model": "model",
    "i_seq": "scenario",
    "i_prec": "precision",
    "i_metric": "y",
}
OFFICIAL_METRICS = {
    "y_tpPerGpu": "tput_per_gpu",
    "y_outputTputPerGpu": "output_tput_per_gpu",
    "y_inputTputPerGpu": "input_tput_per_gpu",
}
# What the official dashboard's names begin with; those not known here are said.
OFFICIAL_STARTS = ("g_", "i_", "e_", "unofficialrun")
LISTS = frozenset({"precision", "key"})


_GROUPS = frozenset(model.group for model in MODELS.values())


@dataclass(frozen=True, slots=True)
class Selection:
    """What the inference page shows. An empty tuple filters nothing."""

    model: str
    scenario: str
    precisions: tuple[str, ...]
    keys: tuple[str, ...]
    x: str
    y: str

    def takes(self, sweep: SweepFacts) -> bool:
        """Tell whether a sweep is shown."""
        return (
            self.offers(sweep)
            and (not self.precisions or sweep.precision in self.precisions)
            and (not self.keys or sweep.config_key in self.keys)
        )

    def offers(self, sweep: SweepFacts) -> bool:
        """Tell whether a sweep is of the model and scenario shown."""
        return (
            model_group(sweep.model) == self.model and sweep.scenario == self.scenario
        )


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a filter."""

    value: str
    label: str
    is_chosen: bool


class InferenceForm(forms.Form):
    """The filters of the inference page, over the sweeps that it could show.

    ``known_keys`` answers which of some names are config keys, measured or not.
    """

    model = forms.ChoiceField(required=False)
    scenario = forms.ChoiceField(required=False)
    precision = forms.MultipleChoiceField(required=False)
    key = forms.MultipleChoiceField(required=False)
    x = forms.ChoiceField(required=False)
    y = forms.ChoiceField(required=False)

    def __init__(
        self,
        query: QueryDict,
        offered: Sequence[SweepFacts],
        known_keys: Callable[[Iterable[str]], set[str]],
    ) -> None:
        """Read ``query``, with the official dashboard's names accepted."""
        asked = translated(query)
        super().__init__(asked)
        self.ignored = ignored(query)
        self.offered = offered
        keys = {sweep.config_key for sweep in offered}
        others = [key for key in asked.getlist("key") if key not in keys]
        self._allow("model", {model_group(sweep.model) for sweep in offered}, _GROUPS)
        self._allow("scenario", {s.scenario for s in offered}, SCENARIOS)
        self._allow("precision", {s.precision for s in offered}, PRECISIONS)
        self._allow("key", keys, known_keys(others) if others else ())
        self._allow("x", AXES)
        self._allow("y", AXES)

    def _allow(self, name: str, *allowed: Iterable[str]) -> None:
        values = sorted({value for some in allowed for value in some if value})
        field = self.fields[name]
        cast("forms.ChoiceField", field).choices = [(value, value) for value in values]
        field.error_messages["invalid_choice"] = (
            f"{name}: %(value)s is not known. Allowed: {_named(values)}."
        )

    @property
    def sentences(self) -> list[str]:
        """Return what is wrong with the query, a sentence per parameter."""
        return [str(error) for errors in self.errors.values() for error in errors]

    @property
    def selection(self) -> Selection:
        """Return every filter of a valid form, defaults filled in.

        Without a model the one with most points is shown, then its fullest scenario;
        of all that is offered where the other filters leave nothing.
        """
        asked = self.cleaned_data
        keys, precisions = tuple(asked["key"]), tuple(asked["precision"])
        pool = [
            sweep
            for sweep in self.offered
            if (not keys or sweep.config_key in keys)
            and (not precisions or sweep.precision in precisions)
            and asked["scenario"] in {"", sweep.scenario}
        ] or self.offered
        model = asked["model"] or _fullest(pool, lambda s: model_group(s.model))
        pool = [sweep for sweep in pool if model_group(sweep.model) == model]
        scenario = asked["scenario"] or _fullest(pool, lambda s: s.scenario)
        x, y = default_axes(agentic=scenario == AGENTIC)
        return Selection(
            model, scenario, precisions, keys, asked["x"] or x, asked["y"] or y
        )


def ignored(query: QueryDict) -> list[str]:
    """Return the parameters of the official dashboard that change nothing here."""
    return [
        f"{name}={value}"
        for name, value in query.items()
        if name.lower().startswith(OFFICIAL_STARTS) and not _is_understood(name, value)
    ]


def _is_understood(name: str, value: object) -> bool:
    if name == "i_metric":
        return value in OFFICIAL_METRICS
    return name in OFFICIAL_NAMES


def filter_options(
    chosen: Selection, offered: Sequence[SweepFacts]
) -> dict[str, list[Option]]:
    """Return the choices that the filters show: models, scenarios, precisions, keys."""
    here = [sweep for sweep in offered if chosen.offers(sweep)]
    models = {model_group(sweep.model) for sweep in offered} | {chosen.model}
    scenarios = {
        sweep.scenario for sweep in offered if model_group(sweep.model) == chosen.model
    }
    scenarios.add(chosen.scenario)
    precisions = {sweep.precision for sweep in here} | set(chosen.precisions)
    keys = {sweep.config_key for sweep in here} | set(chosen.keys)
    return {
        "models": _options(sorted(models, key=str.lower), {chosen.model}),
        "scenarios": _options(
            sorted(scenarios, key=scenario_order), {chosen.scenario}, scenario_label
        ),
        "precisions": _options(sorted(precisions), chosen.precisions),
        "keys": _options(sorted(keys), chosen.keys),
    }


def axis_options(chosen: str) -> list[tuple[str, list[Option]]]:
    """Return the metrics that an axis may show, family by family."""
    families: dict[str, list[Option]] = {}
    for name in AXES:
        metric = METRICS[name]
        option = Option(name, metric.label, name == chosen)
        families.setdefault(metric.family, []).append(option)
    return list(families.items())


def translated(query: QueryDict) -> QueryDict:
    """Return the query in this site's names, blanks dropped and lists split.

    A parameter under its own name wins over the official dashboard's name for it.
    """
    asked = QueryDict(mutable=True)
    for name, given in query.lists():
        target = OFFICIAL_NAMES.get(name, name)
        if target == name or target not in query:
            values = _split(target, given)
            asked.setlist(target, [v for v in map(_translation(name), values) if v])
    return asked


def _split(name: str, given: Iterable[Any]) -> list[str]:
    texts = [str(value) for value in given]
    if name in LISTS:
        texts = [part for text in texts for part in text.split(",")]
    return [text.strip() for text in texts if text.strip()]


def _translation(name: str) -> Callable[[str], str]:
    if name == "i_metric":
        return lambda value: OFFICIAL_METRICS.get(value, "")
    return model_group if name in {"model", "g_model"} else str


def _fullest(sweeps: Iterable[SweepFacts], of: Callable[[SweepFacts], str]) -> str:
    points: Counter[str] = Counter()
    for sweep in sweeps:
        points[of(sweep)] += sweep.received
    return min(points, key=lambda name: (-points[name], name), default="")


def _options(
    values: Iterable[str],
    chosen: Iterable[str],
    label: Callable[[str], str] = str,
) -> list[Option]:
    marked = set(chosen)
    return [Option(v, label(v), v in marked) for v in values if v]


def _named(values: Sequence[str]) -> str:
    shown = ", ".join(values[:MOST_NAMED]).replace("%", "%%")
    more = len(values) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown or "nothing yet"
