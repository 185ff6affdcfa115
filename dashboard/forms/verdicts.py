"""Which run, or attempt, a run is to be held against."""

from django import forms

from dashboard.vocabulary.inputs import LARGEST_ID

LARGEST_ATTEMPT = 1000


class VerdictForm(forms.Form):
    """``base`` is a run's id; all may be left out."""

    base = forms.IntegerField(required=False, min_value=1, max_value=LARGEST_ID)
    attempt = forms.IntegerField(required=False, min_value=1, max_value=LARGEST_ATTEMPT)
    base_attempt = forms.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ATTEMPT
    )
