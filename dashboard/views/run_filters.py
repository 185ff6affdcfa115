"""The query string of the run list, validated; every complaint names its parameter."""

from collections.abc import Iterable

from django import forms
from django.http import QueryDict

from dashboard.forms.fields import (
    ModelChoice,
    NamedChoice,
    NamedChoices,
    cut,
    date_field,
)
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
MOST_NAMED = 10
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


class RunFilterForm(forms.Form):
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
        self._models, self.keys = offered.models, offered.keys
        hardware = sorted(offered.hardware, key=hardware_order)
        self._offer("publication", PUBLICATIONS)
        self._offer("conclusion", _same({*offered.conclusions, *CONCLUSIONS}, "_"))
        self._offer("event", _same({*offered.events, *EVENTS}))
        self._offer("model", _same(map(model_group, offered.models)))
        self._offer("hardware", [(name, hardware_label(name)) for name in hardware])
        self._offer("key", _same(offered.keys))
        self._offer("sort", _same(f"{sign}{s}" for s in SORTS for sign in ("", "-")))

    def _offer(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, NamedChoice)  # noqa: S101  # declared above
        field.choices = [("", "all"), *choices]

    def clean(self) -> dict[str, object]:
        """Refuse a first day after the last one."""
        asked = self.cleaned_data
        since, until = asked.get("from"), asked.get("to")
        if since and until and since > until:
            self.add_error("from", f"{since} is after to, {until}.")
        return asked

    @property
    def sentences(self) -> list[str]:
        """Return what is wrong with the query, a sentence per complaint."""
        return [
            f"{name}: {error}"
            for name, errors in self.errors.items()
            for error in errors
        ]

    @property
    def ignored(self) -> list[str]:
        """Return the parameters that mean nothing here, long names cut."""
        unknown = [name for name in self.data if name not in self.fields]
        return [cut(name) for name in unknown[:MOST_NAMED]]

    @property
    def filters(self) -> RunFilters:
        """Return every filter of a valid form."""
        asked = self.cleaned_data
        group = asked["model"]
        plain = ("publication", "conclusion", "event", "hardware", "key")
        return RunFilters(
            **{name: asked[name] for name in plain},
            models=tuple(m for m in self._models if group and model_group(m) == group),
            has=tuple(asked["has"]),
            since=asked["from"],
            until=asked["to"],
            text=asked["q"],
            sort=asked["sort"] or NEWEST,
        )

    @property
    def active(self) -> list[str]:
        """Return the filters that narrow the list, in words."""
        asked = self.cleaned_data
        names = [n for n in self.fields if n not in {"sort", "page"} and asked.get(n)]
        return [f"{name} {_text(asked[name])}" for name in names]

    @property
    def has_more(self) -> bool:
        """Tell whether a filter is set that the short form does not show."""
        short = {"q", "publication", "sort", "page"}
        return any(self.data.get(name) for name in self.fields if name not in short)


def _same(values: Iterable[str], blank: str = "") -> list[tuple[str, str]]:
    named = sorted(set(values))
    return [(name, name.replace(blank, " ") if blank else name) for name in named]


def _text(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
