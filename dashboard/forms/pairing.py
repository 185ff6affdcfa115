"""The staff form that says which run a merge publishes."""

from typing import TYPE_CHECKING, Any

from django import forms

from dashboard.ingest_requests import RequestRefusedError, known_name
from dashboard.models import Repository

# The class takes a parameter in its stubs only.
if TYPE_CHECKING:
    BaseForm = forms.ModelForm[Any]
else:
    BaseForm = forms.ModelForm


class ReuseLinkForm(BaseForm):
    """A pairing in a repository of which runs can be asked for."""

    def clean_repository(self) -> Repository:
        """Refuse a repository of which no run can be asked for."""
        repository: Repository = self.cleaned_data["repository"]
        try:
            known_name(repository.full_name)
        except RequestRefusedError as error:
            raise forms.ValidationError(str(error)) from error
        return repository
