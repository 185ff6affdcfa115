"""As of when a page shows what is official: a date or a run, and since when."""

from typing import Any

from django import forms

from dashboard.vocabulary.inputs import LARGEST_ID


def day_field(name: str) -> forms.DateField:
    """Return the field of a day; ``name`` is the parameter that a refusal names."""
    return forms.DateField(
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": f"{name}: not a date such as 2026-08-01."},
    )


def asof_run_field() -> forms.IntegerField:
    """Return the field of the run as of which is shown."""
    return forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_ID,
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value"), "asof_run: not the id of a run."
        ),
    )


class MomentForm(forms.Form):
    """As of when: a date, a run, and the oldest day that is still shown."""

    date = day_field("date")
    since = day_field("from")
    asof_run = asof_run_field()

    def clean(self) -> dict[str, Any]:
        """Refuse two answers to one question, and an end before its beginning."""
        asked = self.cleaned_data
        if asked.get("date") and asked.get("asof_run"):
            self.add_error("asof_run", "asof_run: give a run or a date, not both.")
        if asked.get("date") and asked.get("since") and asked["since"] > asked["date"]:
            self.add_error("since", "from: later than the date that it is shown as of.")
        return asked
