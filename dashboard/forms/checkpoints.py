"""The staff form of a checkpoint's spellings."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from django import forms

# The class takes parameters in its stubs only.
if TYPE_CHECKING:
    BaseFormSet = forms.BaseInlineFormSet[Any, Any, Any]
else:
    BaseFormSet = forms.BaseInlineFormSet


class SpellingsFormSet(BaseFormSet):
    """Spellings that are new together: the database sees each only by itself."""

    def clean(self) -> None:
        """Refuse a spelling that was given twice, whatever its letter case."""
        super().clean()
        given = Counter(
            spelling.casefold()
            for form in self.forms
            if not self._should_delete_form(form)  # type: ignore[attr-defined]
            and (spelling := getattr(form, "cleaned_data", {}).get("spelling"))
        )
        if twice := [spelling for spelling, count in given.items() if count > 1]:
            raise forms.ValidationError(f"Given twice: {', '.join(twice)}")
