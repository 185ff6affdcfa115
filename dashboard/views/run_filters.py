"""The query string of the run list, validated; every complaint names its parameter."""

from collections.abc import Iterable

from django import forms
from django.http import QueryDict

from dashboard.forms.fields import (
    ModelChoice,
    NamedChoice,
    NamedChoices,
    date_field,
)
from dashboard.forms.filters import FilterForm
from dashboard.models import Run
from dashboard.queries.runs import (
    FLAGS,
    HELD,
    INCOMPLETE,
    NEWEST,
    SKIPS,
    SORTS,
    Offered,
    RunFilters,
)
from dashboard.vocabulary.hardware import hardware_label, hardware_order
from dashboard.vocabulary.models import model_group

LONGEST_TEXT = 200
UNSAID = frozenset({"sort", "page"})
PUBLICATIONS = [*Run.Publication.choices, (HELD, "held")]
# What the forge may say of a run, stored or not.
CONCLUSIONS = (
    *("success", "failure", "cancelled", "timed_out", "action_required"),
    *("neutral", "skipped", "stale", "startup_failure"),
)
EVENTS = ("push", "pull_request", "workflow_dispatch", "schedule")
HAS = [
    (HELD, "a held sweep"),
    (INCOMPLETE, "missing points"),
    (SKIPS, "skips"),
    (FLAGS, "flags"),
]


class RunFilterForm(FilterForm):
    """The filters of the run list, over what is stored."""

    q = forms.CharField(
        max_length=LONGEST_TEXT,
        required=False,
        label="Id, title, branch, PR or commit",
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    publication = NamedChoice(required=False)
    conclusion = NamedChoice(required=False)
    event = NamedChoice(required=False)
    model = ModelChoice(required=False)
    hardware = NamedChoice(required=False)
    key = NamedChoice(
        required=False,
        label="Config key",
        widget=forms.TextInput(attrs={"list": "stored-keys", "autocomplete": "off"}),
    )
    has = NamedChoices(
        choices=HAS,
        required=False,
        label="Has",
        widget=forms.CheckboxSelectMultiple,
    )
    sort = NamedChoice(required=False, widget=forms.HiddenInput)
    page = forms.IntegerField(min_value=1, required=False, widget=forms.HiddenInput)

    def __init__(self, query: QueryDict, offered: Offered) -> None:
        """Read ``query`` and offer what is stored."""
        super().__init__(query, label_suffix="")
        self.fields["from"] = date_field("From")
        self.fields["to"] = date_field("To")
        self.models, self.keys = tuple(offered.models), offered.keys
        hardware = sorted(offered.hardware, key=hardware_order)
        self.offer("publication", PUBLICATIONS)
        self.offer("conclusion", _same({*offered.conclusions, *CONCLUSIONS}, "_"))
        self.offer("event", _same({*offered.events, *EVENTS}))
        self.offer("model", _same(map(model_group, offered.models)))
        self.offer("hardware", [(name, hardware_label(name)) for name in hardware])
        self.offer("key", _same(offered.keys))
        self.offer("sort", _same(f"{sign}{s}" for s in SORTS for sign in ("", "-")))

    def clean(self) -> dict[str, object]:
        """Refuse a first day after the last one."""
        self._refuse_reversed_days()
        return self.cleaned_data

    @property
    def filters(self) -> RunFilters:
        """Return every filter of a valid form."""
        asked = self.cleaned_data
        plain = ("publication", "conclusion", "event", "hardware", "key")
        return RunFilters(
            **{name: asked[name] for name in plain},
            models=self.families,
            has=tuple(asked["has"]),
            since=asked["from"],
            until=asked["to"],
            text=asked["q"],
            sort=asked["sort"] or NEWEST,
        )

    @property
    def active(self) -> list[str]:
        """Return the filters that narrow the list, in words."""
        return self.in_words(name for name in self.fields if name not in UNSAID)

    @property
    def has_more(self) -> bool:
        """Tell whether a filter is set that the short form does not show."""
        short = {"q", "publication", "sort", "page"}
        return any(self.data.get(name) for name in self.fields if name not in short)


def _same(values: Iterable[str], blank: str = "") -> list[tuple[str, str]]:
    named = sorted(set(values))
    return [(name, name.replace(blank, " ") if blank else name) for name in named]
