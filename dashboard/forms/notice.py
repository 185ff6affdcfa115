"""The staff form of a notice: what it is about must exist, and says so if not."""

from typing import Any

from django import forms

from dashboard.forms.pairing import BaseForm
from dashboard.models import ConfigKey, Notice

LONGEST_NOTICE = 4000


class NoticeForm(BaseForm):
    """A notice about keys that there are; a part of a history does not expire."""

    class Meta:
        widgets = {"text": forms.Textarea(attrs={"rows": 3})}

    def clean_text(self) -> str:
        """Refuse a text of blanks."""
        text: str = self.cleaned_data["text"].strip()
        if not text:
            raise forms.ValidationError("Say something.")
        if len(text) > LONGEST_NOTICE:
            raise forms.ValidationError(f"At most {LONGEST_NOTICE} characters.")
        return text

    def clean_framework(self) -> str:
        """Refuse a framework of which there is no key."""
        return self._known("framework")

    def clean_model(self) -> str:
        """Refuse a model of which there is no key."""
        return self._known("model")

    def _known(self, name: str) -> str:
        value: str = self.cleaned_data[name].strip()
        keys = ConfigKey.objects.order_by(name)
        known = list(keys.values_list(name, flat=True).distinct())
        if value and value not in known:
            listed = ", ".join(known) or "none yet"
            raise forms.ValidationError(f"No config key has this {name}: {listed}.")
        return value

    def clean(self) -> dict[str, Any]:
        """Refuse an end of what histories are derived with."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        is_note = cleaned.get("kind") == Notice.Kind.NOTE
        if cleaned.get("expires_at") and not is_note:
            self.add_error("expires_at", "Only a note expires; delete it instead.")
        return cleaned
