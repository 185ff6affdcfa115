"""The filters of the evaluation page, under their own and the official names."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, cast

from django import forms
from django.http import QueryDict

from dashboard.analysis.evals import Outcome
from dashboard.forms.moment import asof_run_field, day_field
from dashboard.forms.official_names import STARTS
from dashboard.forms.unofficial import Asked, asked_runs
from dashboard.vocabulary.frameworks import LABELS, canonical_framework
from dashboard.vocabulary.hardware import HARDWARE
from dashboard.vocabulary.models import MODELS, model_group
from dashboard.vocabulary.texts import one_line

_OFFICIAL = {
    "g_model": "model",
    "e_bench": "task",
    "e_rundate": "date",
    "g_rundate": "date",
    "g_runid": "asof_run",
}
_EVERYTHING = frozenset({"", "all", "any"})
_GROUPS = {
    spelling.lower(): model.group
    for model in MODELS.values()
    for spelling in (model.name, model.label, model.group)
}
_LONGEST_QUOTE = 80
_MOST_NAMED = 100
STATES: tuple[Outcome, ...] = (
    *("pass", "thin margin", "borderline", "fail"),
    *("too few questions", "not measured"),
)


# What the choices are read from; the rest of the fields have fixed ones.
_OFFERED = ("model", "task", "hardware", "framework", "key")


class EvaluationForm(forms.Form):
    """Filters, day and order. What only the official names say is never refused.

    ``ignored`` names, as ``name=value``, what means nothing here; ``said`` are the
    fields that the query names, also where it narrows nothing.
    """

    model = forms.ChoiceField(required=False)
    task = forms.ChoiceField(required=False)
    hardware = forms.ChoiceField(required=False)
    framework = forms.ChoiceField(required=False)
    key = forms.ChoiceField(required=False)
    state = forms.ChoiceField(required=False)
    sort = forms.ChoiceField(required=False)
    date = day_field("date")
    asof_run = asof_run_field()

    def __init__(
        self,
        query: QueryDict,
        offered: Mapping[str, list[str]],
        sorts: Iterable[str],
        moment_of: Callable[[int], datetime | None],
    ) -> None:
        self._moment_of = moment_of
        self.unofficial: Asked = asked_runs(query)
        self.ignored: list[str] = []
        self.said: set[str] = set()
        allowed: dict[str, set[str]] = {name: set(offered[name]) for name in _OFFERED}
        allowed["model"] |= set(_GROUPS.values())
        allowed["hardware"] |= set(HARDWARE)
        allowed["framework"] |= set(LABELS)
        allowed |= {"state": set(STATES), "sort": set(sorts)}
        super().__init__(self._read(query, allowed))
        self.shown = {**offered, "state": list(STATES)}
        for name, values in allowed.items():
            choices = [(value, value) for value in sorted(values)]
            field = cast("forms.ChoiceField", self.fields[name])
            field.choices = [("", "all"), *choices]
            named = ", ".join(sorted(values)[:_MOST_NAMED])
            known = named.replace("%", "%%") or "nothing yet"
            field.error_messages["invalid_choice"] = (
                f"{name}: %(value)s is not known. Allowed: {known}."
            )

    def _read(self, query: QueryDict, allowed: dict[str, set[str]]) -> dict[str, str]:
        asked: dict[str, str] = {}
        for name in query:
            value = str(query[name]).strip()
            target = _OFFICIAL.get(name.lower(), name.lower())
            self.said.add(target)
            if value.lower() in _EVERYTHING:
                continue
            if name.lower().startswith(STARTS):
                self._take_official(name, target, value, allowed, asked)
            elif target in self.base_fields:
                asked[target] = _meant(target, value, allowed)
        return asked

    def _take_official(
        self,
        name: str,
        target: str,
        value: str,
        allowed: dict[str, set[str]],
        asked: dict[str, str],
    ) -> None:
        meant = _meant(target, value, allowed)
        is_date = target == "date" and _is_day(value)
        is_run = target == "asof_run" and value.isascii() and value.isdecimal()
        if meant in allowed.get(target, ()) or is_date or is_run:
            asked.setdefault(target, meant)
        else:
            quoted = f"{name}={value}"
            self.ignored.append(one_line(quoted, _LONGEST_QUOTE))

    def clean(self) -> dict[str, Any]:
        """Read as of when scores are shown: the whole of a day, or a run."""
        asked = self.cleaned_data
        run_id = asked.get("asof_run")
        if asked.get("date") and run_id:
            self.add_error("asof_run", "asof_run: give a run or a date, not both.")
        elif run_id:
            asked["moment"] = self._moment_of(run_id)
            if asked["moment"] is None:
                self.add_error("asof_run", f"asof_run: run {run_id} is not stored.")
        elif asked.get("date"):
            asked["moment"] = datetime.combine(asked["date"], time.max, UTC)
        return asked

    def is_valid(self) -> bool:
        """Tell whether every filter was understood, of several runs at least one."""
        return super().is_valid() and not self.unofficial.is_unusable

    @property
    def sentences(self) -> list[str]:
        """Return what is wrong with the query, a sentence per parameter."""
        found: list[str] = []
        for errors in self.errors.as_data().values():
            for error in errors:
                params: dict[str, Any] = error.params or {}
                quoted = {
                    n: one_line(str(v), _LONGEST_QUOTE) for n, v in params.items()
                }
                found.append(str(error.message % quoted if quoted else error.message))
        if self.unofficial.is_unusable:
            found += self.unofficial.refused
        return found


def _meant(target: str, value: str, allowed: dict[str, set[str]]) -> str:
    if target == "model":
        return _GROUPS.get(value.lower(), model_group(value))
    if target == "framework":
        return canonical_framework(value)
    spelled = {known.lower(): known for known in allowed.get(target, ())}
    return spelled.get(value.lower(), value)


def _is_day(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
