"""The forms of corrections: the names of what one is about, and why."""

from collections.abc import Iterable
from typing import Any

from django import forms

from dashboard.corrections import Named
from dashboard.models import Correction
from dashboard.queries.run_report import RunReport

LONGEST_REASON = 2000
# The largest that the columns hold.
LARGEST = 2**31 - 1


class UndoForm(forms.Form):
    """Why a correction is taken back."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        error_messages={"required": "A correction needs a reason."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    @property
    def sentences(self) -> list[str]:
        """Return what is wrong, a line each."""
        return [str(line) for lines in self.errors.values() for line in lines]


class CorrectionForm(UndoForm):
    """What to correct, and why; a part that is left empty is meant in full.

    The choices are offered, not checked: what a name stands for is looked up, and a
    run may have changed since the page was opened.
    """

    action = forms.ChoiceField(
        choices=Correction.Action.choices,
        error_messages={
            "required": "Say what to do: hide, hold, publish or exclude.",
            "invalid_choice": "What can be done is hide, hold, publish or exclude.",
        },
    )
    config_key = forms.CharField(required=False, max_length=200, strip=False)
    scenario = forms.CharField(required=False, max_length=40, strip=False)
    deployment = forms.CharField(required=False, max_length=200, strip=False)
    concurrency = forms.IntegerField(required=False, min_value=0, max_value=LARGEST)
    attempt = forms.IntegerField(required=False, min_value=0, max_value=LARGEST)

    def __init__(self, report: RunReport, data: Any = None) -> None:
        """Take the run whose names are offered."""
        initial = {"attempt": report.attempt}
        super().__init__(data, auto_id="exclude_%s", initial=initial, label_suffix="")
        points = report.points
        sweeps = [item.sweep for item in report.sweeps]
        evals = [item.result for item in report.evals]
        keys = [row.config_key.key for row in sweeps]
        keys += [row.config_key.key for row in evals]
        deployments = [row.deployment for row in points]
        deployments += [row.deployment.label for row in evals]
        concurrencies = [row.concurrency for row in points]
        concurrencies += [e.concurrency for e in evals if e.concurrency is not None]
        scenarios = [row.scenario for row in sweeps] + [row.scenario for row in evals]
        self._offer("config_key", sorted(set(keys)))
        self._offer("scenario", sorted(set(scenarios)))
        self._offer("deployment", sorted(set(deployments)))
        self._offer("concurrency", sorted(set(concurrencies)))
        self._offer("attempt", sorted({row.attempt for row in points}))

    def _offer(self, name: str, values: Iterable[object]) -> None:
        choices = [("", "all"), *((str(value), str(value)) for value in values)]
        self.fields[name].widget = forms.Select(choices=choices)

    @property
    def named(self) -> Named:
        """Return what is asked for; the form is valid."""
        parts = {k: v for k, v in self.cleaned_data.items() if k != "reason"}
        return Named(**parts)
