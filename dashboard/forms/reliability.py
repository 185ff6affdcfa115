"""The query string of the page of reliability; every complaint names its parameter."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from django import forms
from django.http import QueryDict

from dashboard.analysis.reliability import ORDERS, WORST
from dashboard.forms.fields import NamedChoice, date_field
from dashboard.forms.filters import FilterForm

LONGEST_GROUP = 200
HARDWARE, CLUSTER, KEY = "hardware", "cluster", "key"
OFFICIAL, UNOFFICIAL = "official", "unofficial"
DIMENSIONS = {HARDWARE: "GPU", CLUSTER: "cluster", KEY: "config key"}
# Days up to and with today.
RANGES = {"7": "last 7 days", "30": "last 30 days", "90": "last 90 days"}


class ReliabilityForm(FilterForm):
    """By what jobs are grouped, and which of them count."""

    by = NamedChoice(choices=[*DIMENSIONS.items()], required=False, label="Grouped by")
    days = NamedChoice(
        choices=[("", "all days"), *RANGES.items()], required=False, label="Days"
    )
    runs = NamedChoice(
        choices=[(OFFICIAL, "official"), (UNOFFICIAL, "unofficial")],
        required=False,
        label="Runs",
    )
    jobs = NamedChoice(
        choices=[("", "all"), ("throughput", "throughput"), ("eval", "eval")],
        required=False,
        label="Jobs",
    )
    order = NamedChoice(choices=[*ORDERS.items()], required=False, label="Order")
    group = forms.CharField(
        max_length=LONGEST_GROUP, required=False, widget=forms.HiddenInput
    )

    def __init__(self, query: QueryDict, today: date) -> None:
        """Read ``query``; ``today`` is the day that ``days`` counts back from."""
        super().__init__(query, label_suffix="")
        self.today = today
        self.fields["from"] = date_field("From")
        self.fields["to"] = date_field("To")

    def clean(self) -> dict[str, Any]:
        """Refuse reversed days, and two ways to say which days."""
        self._refuse_reversed_days()
        asked = self.cleaned_data
        if asked.get("days") and (asked.get("from") or asked.get("to")):
            self.add_error("days", "give either days, or from and to.")
        return asked

    @property
    def asked(self) -> Mapping[str, Any]:
        """Return every filter of a valid form, by the names of the query's filters."""
        asked = self.cleaned_data
        since, until = asked["from"], asked["to"]
        if asked["days"]:
            since = self.today - timedelta(days=int(asked["days"]) - 1)
            until = self.today
        return {
            "by": asked["by"] or HARDWARE,
            "since": since,
            "until": until,
            "is_official": asked["runs"] != UNOFFICIAL,
            "kind": asked["jobs"],
            "group": asked["group"] or None,
        }

    @property
    def order_name(self) -> str:
        """Return in which order the groups of a valid form are."""
        return str(self.cleaned_data["order"] or WORST)

    @property
    def active(self) -> list[str]:
        """Return the filters that narrow the jobs, in words."""
        return self.in_words(("group", "days", "from", "to", "runs", "jobs"))
