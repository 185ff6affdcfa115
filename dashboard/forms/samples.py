"""What is asked of the stored documents of an eval."""

from django import forms
from django.core.exceptions import ValidationError

LONGEST_TEXT = 200
LARGEST_DOCUMENT = 2**31 - 1
ALL, FAILED, FLIPPED = "all", "failed", "flipped"
SHOWN = {ALL: "all", FAILED: "only failures", FLIPPED: "only flipped"}


class SamplesForm(forms.Form):
    """Which documents, what they hold, which page; or one of them."""

    show = forms.ChoiceField(required=False, choices=SHOWN.items())
    q = forms.CharField(required=False, max_length=LONGEST_TEXT)
    page = forms.IntegerField(required=False, min_value=1, max_value=LARGEST_DOCUMENT)
    doc = forms.IntegerField(required=False, min_value=0, max_value=LARGEST_DOCUMENT)

    def clean_q(self) -> str:
        """Refuse what no stored text holds."""
        text: str = self.cleaned_data["q"]
        if "\0" in text:
            raise ValidationError("a text without NUL.")
        return text

    @property
    def sentences(self) -> list[str]:
        """Return what is wrong, a sentence per parameter."""
        return [
            f"{name}: {message}"
            for name, errors in self.errors.items()
            for message in errors
        ]
