"""Which two runs, or attempts of runs, are to be held against each other."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.forms.keys import QueryForm
from dashboard.forms.unofficial import AskedRun, read_run
from dashboard.forms.verdicts import LARGEST_ATTEMPT

LONGEST = 300
WORST, PLACE, METRIC = "worst", "place", "metric"
SORTS = {WORST: "worst first", PLACE: "by place", METRIC: "by metric"}


class RunField(forms.CharField):
    """One run: its id or its address, as a link of the inference page takes them."""

    widget = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})

    def __init__(self, label: str) -> None:
        super().__init__(
            required=False,
            label=label,
            max_length=LONGEST,
            error_messages={"max_length": f"longer than {LONGEST} characters."},
        )

    def clean(self, value: Any) -> AskedRun | None:
        """Return the run; raise ``ValidationError`` for what is none."""
        text = super().clean(value)
        if not text:
            return None
        run = read_run(text)
        if run is None:
            raise ValidationError(
                "%(value)s is no run id, nor the address of a run.",
                params={"value": text},
            )
        return run


def _attempt_field() -> forms.IntegerField:
    return forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_ATTEMPT,
        widget=forms.HiddenInput,
        error_messages={"invalid": "not the number of an attempt."},
    )


class CompareForm(QueryForm):
    """Base and head, each with an attempt; one key and scenario of what they measured.

    ``cleaned_data`` holds base and head as ``AskedRun``, None where not asked for.
    """

    base = RunField("Base")
    head = RunField("Head")
    base_attempt = _attempt_field()
    head_attempt = _attempt_field()
    key = forms.CharField(required=False, max_length=LONGEST, widget=forms.HiddenInput)
    scenario = forms.CharField(
        required=False, max_length=LONGEST, widget=forms.HiddenInput
    )
    sort = forms.ChoiceField(
        required=False,
        choices=list(SORTS.items()),
        widget=forms.HiddenInput,
        error_messages={
            "invalid_choice": f"%(value)s is not known. Allowed: {', '.join(SORTS)}."
        },
    )

    def clean(self) -> dict[str, Any]:
        """Put the attempts to their runs; two attempts of one side are refused."""
        cleaned = dict(super().clean() or {})
        for side in ("base", "head"):
            run, attempt = cleaned.get(side), cleaned.get(f"{side}_attempt")
            if run is None or attempt is None:
                continue
            if run.attempt not in (None, attempt):
                self.add_error(side, "two different attempts of it are asked for.")
            cleaned[side] = run._replace(attempt=attempt)
        return cleaned

    @property
    def is_complete(self) -> bool:
        """Tell whether both sides are named."""
        return bool(self.cleaned_data["base"] and self.cleaned_data["head"])
