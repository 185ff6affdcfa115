"""Fields of query strings: what they cannot take they name, with what is allowed."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import cast

from django import forms
from django.core.exceptions import ValidationError

from dashboard.vocabulary.models import model_group

LONGEST_SHOWN = 60
MOST_SHOWN = 20


class OneName(forms.ChoiceField):
    """A name out of many. It has no labels, and so nothing is made of each."""

    allowed: AbstractSet[str] = frozenset()

    def valid_value(self, value: str) -> bool:
        """Tell whether the name is allowed."""
        return value in self.allowed


class SomeNames(forms.MultipleChoiceField):
    """Names out of many; see `OneName`."""

    allowed: AbstractSet[str] = frozenset()

    def valid_value(self, value: str) -> bool:
        """Tell whether the name is allowed."""
        return value in self.allowed


class NamedChoice(forms.ChoiceField):
    """A choice that says what is allowed, and never repeats a long value in full."""

    def validate(self, value: object) -> None:
        """Raise ``ValidationError`` for a value that is not among the choices."""
        if value and not self.valid_value(str(value)):
            raise ValidationError(_unknown(str(value), allowed_values(self)))


class ModelChoice(NamedChoice):
    """A model, by the name of its group or of a family in it."""

    def to_python(self, value: object) -> str:
        """Return the group."""
        return model_group(super().to_python(value))


class NamedChoices(forms.MultipleChoiceField):
    """Several choices; the first unknown one is named with what is allowed."""

    def validate(self, value: list[str]) -> None:
        """Raise ``ValidationError`` for values that are not among the choices."""
        for one in value:
            if not self.valid_value(one):
                raise ValidationError(_unknown(one, allowed_values(self)))


def allowed_values(field: forms.Field) -> list[str]:
    """Return the values that a field of choices takes; none for any other field."""
    if not isinstance(field, forms.ChoiceField):
        return []
    choices = cast("Iterable[tuple[str, str]]", field.choices)
    return [value for value, _ in choices if value]


def _unknown(value: str, allowed: list[str]) -> str:
    shown = ", ".join(allowed[:MOST_SHOWN]) + (", …" if allowed[MOST_SHOWN:] else "")
    return f"{cut(value)} is not known. Allowed: {shown or 'nothing is stored yet'}."


def cut(text: str) -> str:
    """Return a text no longer than a sentence bears."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def date_field(label: str) -> forms.DateField:
    """Return a field of one day, in UTC."""
    return forms.DateField(
        required=False,
        label=label,
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput(attrs={"type": "date"}),
        error_messages={"invalid": "not a date such as 2026-08-31."},
    )
