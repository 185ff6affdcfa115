"""The filters of the evaluation page, under their own and the official names."""

from datetime import date
from typing import Any, cast

from django import forms
from django.http import QueryDict

from dashboard.forms.official_names import STARTS
from dashboard.forms.unofficial import Asked, asked_runs
from dashboard.vocabulary.models import MODELS, model_group
from dashboard.vocabulary.texts import one_line

_OFFICIAL = {
    "g_model": "model",
    "e_bench": "task",
    "e_rundate": "date",
    "g_rundate": "date",
}
_EVERYTHING = frozenset({"", "all", "any"})
_GROUPS = {
    spelling.lower(): model.group
    for model in MODELS.values()
    for spelling in (model.name, model.label, model.group)
}
_LONGEST_QUOTE = 80


class EvaluationForm(forms.Form):
    """Model, task and day. What only the official names say is never refused.

    ``ignored`` names, as ``name=value``, what means nothing here.
    """

    model = forms.ChoiceField(required=False)
    task = forms.ChoiceField(required=False)
    date = forms.DateField(
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": "date: not a date such as 2026-08-01."},
    )

    def __init__(self, query: QueryDict, models: list[str], tasks: list[str]) -> None:
        self.unofficial: Asked = asked_runs(query)
        self.ignored: list[str] = []
        allowed = {"model": {*models, *_GROUPS.values()}, "task": set(tasks)}
        super().__init__(self._read(query, allowed))
        self.shown = {"model": models, "task": tasks}
        for name, values in allowed.items():
            choices = [(value, value) for value in sorted(values)]
            field = cast("forms.ChoiceField", self.fields[name])
            field.choices = [("", "all"), *choices]
            known = ", ".join(sorted(values)).replace("%", "%%") or "nothing yet"
            field.error_messages["invalid_choice"] = (
                f"{name}: %(value)s is not known. Allowed: {known}."
            )

    def _read(self, query: QueryDict, allowed: dict[str, set[str]]) -> dict[str, str]:
        asked: dict[str, str] = {}
        for name in query:
            value = str(query[name]).strip()
            target = _OFFICIAL.get(name.lower(), name.lower())
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
        if meant in allowed.get(target, ()) or is_date:
            asked.setdefault(target, meant)
        else:
            quoted = f"{name}={value}"
            self.ignored.append(one_line(quoted, _LONGEST_QUOTE))

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
    spelled = {known.lower(): known for known in allowed.get(target, ())}
    return spelled.get(value.lower(), value)


def _is_day(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
