"""What the forms that narrow a list have in common: complaints, offers, their words."""

from collections.abc import Iterable
from typing import cast

from django import forms

from dashboard.forms.fields import NamedChoice, allowed_values, cut
from dashboard.vocabulary.models import model_group

MOST_NAMED = 10


class FilterForm(forms.Form):
    """Filters over what is stored; a field may be left out, and then narrows nothing.

    Whoever has a field ``model`` sets ``models``, the families that are stored.
    """

    models: tuple[str, ...] = ()

    @property
    def faults(self) -> list[tuple[str, str, list[str]]]:
        """Return each complaint: the parameter, why, and what it would take."""
        return [
            (name, str(error), allowed_values(self.fields[name]))
            for name, errors in self.errors.items()
            for error in errors
        ]

    @property
    def sentences(self) -> list[str]:
        """Return what is wrong with the query, a sentence per complaint."""
        return [f"{name}: {message}" for name, message, _ in self.faults]

    @property
    def ignored(self) -> list[str]:
        """Return the parameters that mean nothing here, long names cut."""
        unknown = [name for name in self.data if name not in self.fields]
        return [cut(name) for name in unknown[:MOST_NAMED]]

    def offer(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        """Say what a parameter may be beside all."""
        cast("NamedChoice", self.fields[name]).choices = [("", "all"), *choices]

    def in_words(self, names: Iterable[str]) -> list[str]:
        """Return those of the filters of a valid form that narrow the list."""
        asked = self.cleaned_data
        return [f"{name} {_text(asked[name])}" for name in names if asked.get(name)]

    @property
    def families(self) -> tuple[str, ...]:
        """Return the stored families of the model that a valid form asks for."""
        group = self.cleaned_data["model"]
        return tuple(m for m in self.models if group and model_group(m) == group)

    def _refuse_reversed_days(self) -> None:
        asked = self.cleaned_data
        since, until = asked.get("from"), asked.get("to")
        if since and until and since > until:
            self.add_error("from", f"{since} is after to, {until}.")


def _text(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
