"""The query string of the list of regressions, and the forms that triage them."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict

from dashboard.forms.fields import ModelChoice, NamedChoice, NamedChoices
from dashboard.forms.filters import FilterForm
from dashboard.models import Regression
from dashboard.vocabulary.frameworks import framework_label
from dashboard.vocabulary.hardware import hardware_label, hardware_order
from dashboard.vocabulary.inputs import LARGEST_ID, LONGEST_NOTE, NOBODY
from dashboard.vocabulary.models import model_group

LONGEST_KEY = 200
REGRESSIONS, IMPROVEMENTS = "regressions", "improvements"
# Of the select of owners: leave it, take it away.
KEEP, NO_OWNER = "", "0"


class RegressionFilterForm(FilterForm):
    """The filters of the list, over what is stored."""

    show = NamedChoice(
        choices=[(REGRESSIONS, REGRESSIONS), (IMPROVEMENTS, IMPROVEMENTS)],
        required=False,
        widget=forms.HiddenInput,
    )
    key = forms.CharField(
        max_length=LONGEST_KEY,
        required=False,
        label="Config key, or a part of some",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    state = NamedChoices(
        choices=Regression.State.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    kind = NamedChoices(
        choices=Regression.Kind.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    model = ModelChoice(required=False)
    hardware = NamedChoice(required=False)
    framework = NamedChoice(required=False)
    owner = NamedChoice(required=False)
    recovered = NamedChoice(
        choices=[("", "all"), ("no", "not recovered"), ("yes", "recovered")],
        required=False,
    )
    active = NamedChoice(
        choices=[
            ("", "what the data shows"),
            ("no", "what it no longer shows"),
            ("all", "both"),
        ],
        required=False,
        label="Shown by the data",
    )
    run = forms.IntegerField(
        min_value=1, max_value=LARGEST_ID, required=False, label="Run id"
    )
    page = forms.IntegerField(
        min_value=1, max_value=LARGEST_ID, required=False, widget=forms.HiddenInput
    )

    def __init__(
        self,
        query: QueryDict,
        *,
        models: Iterable[str],
        hardware: Iterable[str],
        frameworks: Iterable[str],
        owners: Iterable[str],
    ) -> None:
        """Read ``query`` and offer what is stored."""
        super().__init__(query, label_suffix="")
        self.models = tuple(models)
        groups = sorted({model_group(name) for name in self.models}, key=str.lower)
        self.offer("model", [(group, group) for group in groups])
        gpus = sorted(hardware, key=hardware_order)
        self.offer("hardware", [(name, hardware_label(name)) for name in gpus])
        self.offer("framework", [(n, framework_label(n)) for n in frameworks])
        named = [name for name in owners if name != NOBODY]
        self.offer("owner", [(name, name) for name in (NOBODY, *named)])

    @property
    def shows_improvements(self) -> bool:
        """Tell whether the improvements are asked for."""
        return bool(self.cleaned_data["show"] == IMPROVEMENTS)

    @property
    def asked(self) -> Mapping[str, Any]:
        """Return every filter of a valid form, by the names of the query's filters."""
        asked = self.cleaned_data
        truth = {"": None, "yes": True, "no": False}
        return {
            "states": tuple(asked["state"]),
            "kinds": tuple(asked["kind"]),
            "key": asked["key"],
            "models": self.families,
            "hardware": asked["hardware"],
            "framework": asked["framework"],
            "owner": asked["owner"],
            "recovered": truth[asked["recovered"]],
            "is_active": {"": True, "no": False, "all": None}[asked["active"]],
            "run_id": asked["run"],
        }

    @property
    def has_more(self) -> bool:
        """Tell whether one of the filters that are folded away is used."""
        folded = ("owner", "recovered", "active", "run", "state", "kind")
        return any(self.data.get(name) for name in folded)

    @property
    def active_filters(self) -> list[str]:
        """Return the filters that narrow the list, in words."""
        named = (
            *("key", "state", "kind", "model", "hardware", "framework"),
            *("owner", "recovered", "active", "run"),
        )
        return self.in_words(named)


class TriageForm(forms.Form):
    """What is decided of one or many regressions: state, owner, note."""

    state = forms.ChoiceField(
        choices=[("", "leave as it is"), *Regression.State.choices],
        required=False,
        error_messages={
            "invalid_choice": "The state is one of "
            f"{', '.join(Regression.State.values)}."
        },
    )
    owner = forms.ChoiceField(
        required=False,
        error_messages={"invalid_choice": "An owner must be one who may triage."},
    )
    note = forms.CharField(
        max_length=LONGEST_NOTE,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, owners: Iterable[User], data: QueryDict | None = None) -> None:
        """Offer the users who may triage."""
        super().__init__(data, auto_id="triage_%s", label_suffix="")
        self._owners = {str(user.pk): user for user in owners}
        named = [(pk, user.get_username()) for pk, user in self._owners.items()]
        cast("forms.ChoiceField", self.fields["owner"]).choices = [
            (KEEP, "leave as it is"),
            (NO_OWNER, NOBODY),
            *named,
        ]

    @property
    def sentences(self) -> list[str]:
        """Return what is wrong, a line each."""
        return [str(line) for lines in self.errors.values() for line in lines]

    @property
    def decided(self) -> Mapping[str, Any]:
        """Return a valid form's parts, by the names of the decision's fields."""
        asked = self.cleaned_data
        return {
            "state": asked["state"],
            "sets_owner": asked["owner"] != KEEP,
            "owner": self._owners.get(asked["owner"]),
            "note": asked["note"],
        }
