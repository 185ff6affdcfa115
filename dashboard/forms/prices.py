"""The staff form of what a GPU costs and which power it is provisioned."""

from typing import Any

from django import forms

from dashboard.forms.pairing import BaseForm
from dashboard.vocabulary.hardware import HARDWARE, hardware_order
from dashboard.vocabulary.prices import FIELDS, LARGEST


class HardwarePriceForm(BaseForm):
    """One GPU from a day on, with the source; empty is not known."""

    hardware = forms.ChoiceField(
        choices=[(h, HARDWARE[h].label) for h in sorted(HARDWARE, key=hardware_order)]
    )
    placeholders = forms.MultipleChoiceField(
        choices=[(name, name.replace("_", " ")) for name in FIELDS],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="values that only hold a place; nothing is calculated with them",
    )

    def clean(self) -> dict[str, Any] | None:
        """Refuse a number that is none, and a row without any."""
        for name in FIELDS:
            value = self.cleaned_data.get(name)
            if value is not None and not 0 < value <= LARGEST:
                self.add_error(name, f"A number above 0 and up to {LARGEST:g}.")
        if not self.errors and all(self.cleaned_data[n] is None for n in FIELDS):
            self.add_error(None, "Give at least one price or the power.")
        return super().clean()

    def clean_source(self) -> str:
        """Refuse a source of blanks."""
        source: str = self.cleaned_data["source"].strip()
        if not source:
            raise forms.ValidationError("Say where the numbers are from.")
        return source
