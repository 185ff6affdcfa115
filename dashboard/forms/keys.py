"""The query strings of the catalogue of keys and of the page of one key."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from dashboard.analysis.catalogue import SORTS, KeyFilters, KeyRow
from dashboard.analysis.history import HistorySweep
from dashboard.forms.fields import date_field
from dashboard.vocabulary.deployments import label_order
from dashboard.vocabulary.frameworks import canonical_framework, framework_label
from dashboard.vocabulary.hardware import hardware_label, hardware_order
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.models import model_group
from dashboard.vocabulary.scenarios import scenario_label, scenario_order
from dashboard.vocabulary.texts import one_line

LONGEST_TEXT = 200
LONGEST_QUOTE = 80
MOST_NAMED = 40
MOST_TARGETS = 6

BEST, AREA, POINT, EVALS = "best", "area", "point", "evals"
SHOWN = {
    BEST: "best throughput at interactivities",
    AREA: "hypervolume",
    POINT: "one deployment and concurrency",
    EVALS: "evals",
}
Choices = Iterable[tuple[str, str]]


class QueryForm(forms.Form):
    """A form over a query string whose complaints name parameter and allowed values."""

    @property
    def sentences(self) -> list[str]:
        """Return what is wrong with the query, a sentence per complaint."""
        return list(self._complaints())

    def _complaints(self) -> Iterator[str]:
        for name, errors in self.errors.as_data().items():
            for error in errors:
                params = {
                    n: one_line(str(v), LONGEST_QUOTE)
                    for n, v in cast("Mapping[str, Any]", error.params or {}).items()
                }
                said = str(error.message % params if params else error.message)
                yield f"{name}: {said}"

    @property
    def ignored(self) -> list[str]:
        """Return the parameters that mean nothing here."""
        unknown = [name for name in self.data if name not in self.fields]
        return [one_line(name, LONGEST_QUOTE) for name in unknown[:MOST_NAMED]]

    def offer(self, name: str, choices: Choices, empty: str | None = "all") -> None:
        """Say what a parameter may be; ``empty`` is what leaving it out is called."""
        offered = list(choices)
        field = cast("forms.ChoiceField", self.fields[name])
        field.choices = [*([("", empty)] if empty is not None else []), *offered]
        values = [one_line(value, LONGEST_QUOTE) for value, _ in offered]
        named = ", ".join(values[:MOST_NAMED]).replace("%", "%%")
        more = len(values) - MOST_NAMED
        allowed = f"{named} and {more} more" if more > 0 else named or "nothing yet"
        field.error_messages["invalid_choice"] = (
            f"%(value)s is not known. Allowed: {allowed}."
        )


class GroupChoice(forms.ChoiceField):
    """A model, by the name of its group or of a family in it."""

    def to_python(self, value: object) -> str:
        """Return the group."""
        return model_group(super().to_python(value))


class FrameworkChoice(forms.ChoiceField):
    """A framework, by any of its names."""

    def to_python(self, value: object) -> str:
        """Return the one name of it."""
        return canonical_framework(super().to_python(value))


class KeysForm(QueryForm):
    """The filters of the catalogue, over the rows that there are."""

    q = forms.CharField(
        required=False,
        max_length=LONGEST_TEXT,
        label="Key, checkpoint or image",
        widget=forms.TextInput(attrs={"type": "search"}),
        error_messages={"max_length": f"longer than {LONGEST_TEXT} characters."},
    )
    model = GroupChoice(required=False)
    hardware = forms.ChoiceField(required=False)
    framework = FrameworkChoice(required=False)
    precision = forms.ChoiceField(required=False)
    swap = forms.ChoiceField(required=False, label="Has a swap")
    sort = forms.ChoiceField(required=False, widget=forms.HiddenInput)
    page = forms.IntegerField(
        required=False,
        min_value=1,
        widget=forms.HiddenInput,
        error_messages=dict.fromkeys(("invalid", "min_value"), "not a page number."),
    )

    def __init__(self, query: QueryDict, rows: Sequence[KeyRow]) -> None:
        super().__init__(query, label_suffix="")
        groups = {model_group(row.model) for row in rows} - {""}
        hardware = sorted({row.hardware for row in rows} - {""}, key=hardware_order)
        frameworks = {canonical_framework(row.framework) for row in rows} - {""}
        precisions = {row.precision for row in rows} - {""}
        self.offer("model", _same(sorted(groups, key=str.lower)))
        self.offer("hardware", [(name, hardware_label(name)) for name in hardware])
        named = sorted(frameworks)
        self.offer("framework", [(name, framework_label(name)) for name in named])
        self.offer("precision", _same(sorted(precisions)))
        self.offer("swap", [("yes", "yes"), ("no", "no")])
        self.offer("sort", _same(f"{sign}{n}" for n in SORTS for sign in ("", "-")))

    @property
    def filters(self) -> KeyFilters:
        """Return every filter of a valid form."""
        asked = self.cleaned_data
        plain = ("model", "hardware", "framework", "precision", "swap")
        return KeyFilters(
            text=asked["q"],
            sort=asked["sort"] or "key",
            **{name: asked[name] for name in plain},
        )

    @property
    def active(self) -> list[str]:
        """Return the filters that narrow the list, in words."""
        names = ("q", "model", "hardware", "framework", "precision", "swap")
        asked = {name: self.cleaned_data[name] for name in names}
        return [f"{name} {one_line(v)}" for name, v in asked.items() if v]


@dataclass(frozen=True, slots=True)
class KeyView:
    """What the page of a key shows; ``targets`` is empty for the usual ones."""

    scenario: str
    show: str
    targets: tuple[float, ...]
    metric: str
    deployment: str
    concurrency: int | None
    gate: bool = False
    as_of: date | None = None

    def holds(self, sweep: HistorySweep) -> bool:
        """Tell whether a sweep was official by the day that the page is as of."""
        return self.as_of is None or sweep.at.astimezone(UTC).date() <= self.as_of


class TargetsField(forms.CharField):
    """Interactivities, as ``20,50`` or several parameters."""

    widget = forms.TextInput(attrs={"placeholder": "20, 50, 100"})

    def to_python(self, value: object) -> Any:
        """Return the numbers, smallest first, none twice."""
        text = str(super().to_python(value) or "")
        parts = text.replace(";", ",").replace(",", " ").split()
        try:
            found = sorted({float(part) for part in parts})
        except ValueError:
            found = [math.nan]
        if any(not math.isfinite(at) or at <= 0 for at in found):
            raise ValidationError("allowed are numbers above 0, such as 20,50,100.")
        if len(found) > MOST_TARGETS:
            raise ValidationError(f"at most {MOST_TARGETS} values, not {len(found)}.")
        return tuple(found)


class KeyForm(QueryForm):
    """What the page of a key shows, over its official sweeps."""

    scenario = forms.ChoiceField(required=False)
    show = forms.ChoiceField(required=False, label="History of")
    at = TargetsField(required=False, label="Interactivities", max_length=LONGEST_TEXT)
    metric = forms.ChoiceField(required=False)
    deployment = forms.ChoiceField(required=False)
    concurrency = forms.ChoiceField(required=False)
    gate = forms.ChoiceField(required=False)
    as_of = date_field("As of")

    def __init__(self, query: QueryDict, sweeps: Sequence[HistorySweep]) -> None:
        asked = query.copy()
        asked["at"] = ",".join(query.getlist("at"))
        super().__init__(asked, label_suffix="")
        self.sweeps = sweeps
        scenarios = sorted({s.facts.scenario for s in sweeps}, key=scenario_order)
        self.offer("scenario", [(s, scenario_label(s)) for s in scenarios], None)
        self.offer("show", SHOWN.items(), None)
        self.offer("gate", [("0", "no"), ("1", "yes")], None)
        self.offer("metric", [(m.name, m.title) for m in METRICS.values()], None)
        places = {
            (label, concurrency)
            for sweep in sweeps
            for label, found in sweep.grid.items()
            for concurrency in found
        }
        labels = sorted({label for label, _ in places}, key=label_order)
        self.offer("deployment", _same(labels), None)
        counts = sorted({concurrency for _, concurrency in places})
        self.offer("concurrency", _same(map(str, counts)), None)

    @property
    def view(self) -> KeyView:
        """Return what a valid form asks to show, defaults filled in."""
        asked = self.cleaned_data
        scenario = asked["scenario"] or self._fullest()
        deployment, concurrency = asked["deployment"], asked["concurrency"]
        return KeyView(
            scenario=scenario,
            show=asked["show"] or BEST,
            targets=asked["at"],
            metric=asked["metric"] or "tput_per_gpu",
            deployment=deployment,
            concurrency=int(concurrency) if concurrency else None,
            gate=asked["gate"] == "1",
            as_of=asked["as_of"],
        )

    def _fullest(self) -> str:
        """Return the scenario whose current sweep has most points, else the first."""
        current = [s for s in self.sweeps if s.state == "current"] or self.sweeps
        best = min(
            current,
            key=lambda s: (-s.facts.received, scenario_order(s.facts.scenario)),
            default=None,
        )
        return best.facts.scenario if best else ""


def _same(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(value, value) for value in values]
