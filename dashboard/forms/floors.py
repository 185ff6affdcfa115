"""The staff form of a floor that eval scores have to reach."""

from django import forms

from dashboard.forms.pairing import BaseForm
from dashboard.vocabulary.floors import FILTERS


class EvalFloorForm(BaseForm):
    """A floor with its source; no score chosen stands for the task's usual ones."""

    filters = forms.MultipleChoiceField(
        choices=[(name, name) for name in FILTERS],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="which scores have to reach it; none: those the task is judged by",
    )

    def clean_minimum(self) -> float:
        """Refuse a percentage."""
        minimum: float = self.cleaned_data["minimum"]
        if not 0 <= minimum <= 1:
            raise forms.ValidationError("A fraction between 0 and 1, such as 0.94.")
        return minimum

    def clean_source(self) -> str:
        """Refuse a source of blanks."""
        source: str = self.cleaned_data["source"].strip()
        if not source:
            raise forms.ValidationError("Say who sets this floor, or why.")
        return source
