"""The query string of the list of changes; every complaint names its parameter."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from dashboard.forms.fields import (
    ModelChoice,
    NamedChoice,
    NamedChoices,
    allowed_values,
    cut,
    date_field,
)
from dashboard.vocabulary.changes import KINDS
from dashboard.vocabulary.hardware import hardware_label, hardware_order
from dashboard.vocabulary.models import model_group

LONGEST_KEY = 200
MOST_NAMED = 10
# Each list of the page has its own pages.
PAGES = ("swaps", "measured", "changelog", "configs", "files", "unread")


class ChangeFilterForm(forms.Form):
    """The filters of changes, over the models and hardware that are stored."""

    key = forms.CharField(
        max_length=LONGEST_KEY,
        required=False,
        label="Config key, or a part of some",
        widget=forms.TextInput(attrs={"list": "known-keys", "autocomplete": "off"}),
    )
    model = ModelChoice(required=False)
    hardware = NamedChoice(required=False)
    kind = NamedChoices(
        choices=list(KINDS.items()),
        required=False,
        label="Kind",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(
        self, query: QueryDict, models: Iterable[str], hardware: Iterable[str]
    ) -> None:
        """Read ``query`` and offer what is stored."""
        super().__init__(query, label_suffix="")
        self.fields["from"] = date_field("From")
        self.fields["to"] = date_field("To")
        for name in PAGES:
            self.fields[f"{name}_page"] = forms.IntegerField(
                min_value=1, required=False, widget=forms.HiddenInput
            )
        self._models = sorted({name for name in models if name})
        groups = sorted({model_group(name) for name in self._models}, key=str.lower)
        self._offer("model", [(group, group) for group in groups])
        gpus = sorted({name for name in hardware if name}, key=hardware_order)
        self._offer("hardware", [(name, hardware_label(name)) for name in gpus])

    def _offer(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, NamedChoice)  # noqa: S101  # declared above
        field.choices = [("", "all"), *choices]

    def clean(self) -> dict[str, Any]:
        """Refuse a first day after the last one."""
        asked = self.cleaned_data
        since, until = asked.get("from"), asked.get("to")
        if since and until and since > until:
            self.add_error("from", f"{since} is after to, {until}.")
        return asked

    @property
    def faults(self) -> list[tuple[str, str, list[str]]]:
        """Return each complaint: the parameter, why, and what it would take."""
        return [
            (name, str(error), allowed_values(self.fields[name]))
            for name, errors in self.errors.items()
            for error in errors
        ]

    @property
    def ignored(self) -> list[str]:
        """Return the parameters that mean nothing here, long names cut."""
        unknown = [name for name in self.data if name not in self.fields]
        return [cut(name) for name in unknown[:MOST_NAMED]]

    @property
    def asked(self) -> Mapping[str, Any]:
        """Return every filter of a valid form, by the names of the query's filters."""
        asked = self.cleaned_data
        group = asked["model"]
        return {
            "key": asked["key"],
            "models": tuple(
                m for m in self._models if group and model_group(m) == group
            ),
            "hardware": asked["hardware"],
            "kinds": tuple(asked["kind"]),
            "since": asked["from"],
            "until": asked["to"],
        }

    def page(self, name: str) -> int | None:
        """Return which page of a list is asked for."""
        number: int | None = self.cleaned_data[f"{name}_page"]
        return number

    @property
    def active(self) -> list[str]:
        """Return the filters that narrow the lists, in words."""
        asked = self.cleaned_data
        named = ("key", "model", "hardware", "kind", "from", "to")
        return [f"{name} {_text(asked[name])}" for name in named if asked.get(name)]


def _text(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
