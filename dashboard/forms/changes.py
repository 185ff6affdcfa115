"""The query string of the list of changes; every complaint names its parameter."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from dashboard.forms.fields import (
    ModelChoice,
    NamedChoice,
    NamedChoices,
    date_field,
)
from dashboard.forms.filters import FilterForm
from dashboard.vocabulary.changes import KINDS
from dashboard.vocabulary.hardware import hardware_label, hardware_order
from dashboard.vocabulary.models import model_group

LONGEST_KEY = 200
# Each list of the page has its own pages.
PAGES = ("swaps", "measured", "changelog", "configs", "files", "unread")


class ChangeFilterForm(FilterForm):
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
        self.models = tuple(sorted({name for name in models if name}))
        groups = sorted({model_group(name) for name in self.models}, key=str.lower)
        self.offer("model", [(group, group) for group in groups])
        gpus = sorted({name for name in hardware if name}, key=hardware_order)
        self.offer("hardware", [(name, hardware_label(name)) for name in gpus])

    def clean(self) -> dict[str, Any]:
        """Refuse a first day after the last one."""
        self._refuse_reversed_days()
        return self.cleaned_data

    @property
    def asked(self) -> Mapping[str, Any]:
        """Return every filter of a valid form, by the names of the query's filters."""
        asked = self.cleaned_data
        return {
            "key": asked["key"],
            "models": self.families,
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
        return self.in_words(("key", "model", "hardware", "kind", "from", "to"))
