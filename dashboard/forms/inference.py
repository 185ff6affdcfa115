"""The filters of the inference page: every parameter read, checked and named."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Protocol, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from dashboard.analysis.curves import SweepFacts
from dashboard.forms.fields import OneName, SomeNames
from dashboard.forms.moment import MomentForm
from dashboard.forms.official_names import Translation
from dashboard.forms.selection import ALL_ROWS, Filters, Selection
from dashboard.forms.unofficial import asked_runs
from dashboard.vocabulary.deployment_kinds import KINDS, OFFLOADS
from dashboard.vocabulary.frameworks import LABELS, canonical_framework
from dashboard.vocabulary.hardware import HARDWARE
from dashboard.vocabulary.metrics import AXES, METRICS, default_axes
from dashboard.vocabulary.models import MODELS, model_group
from dashboard.vocabulary.prices import Custom, read_custom
from dashboard.vocabulary.scenarios import AGENTIC
from dashboard.vocabulary.texts import one_line

MOST_NAMED = 100
MOST_IGNORED = 20
LONGEST_QUOTE = 80
SCENARIOS = ("8k/1k", "1k/1k", "1k/8k", AGENTIC)
PRECISIONS = ("fp4", "fp8", "bf16", "int4")
SPEC_METHODS = ("none", "mtp", "draft_model", "eagle")
VENDORS = sorted({hardware.vendor for hardware in HARDWARE.values()})
TEXT_COLUMNS = (
    "config_key",
    "deployment",
    "concurrency",
    "gpus",
    "standing",
    "eval",
    "checkpoint",
    "segment_began_at",
    "run_id",
)
SORTS = tuple(f"{sign}{n}" for n in (*TEXT_COLUMNS, *METRICS) for sign in ("", "-"))
CORNERS = 4
_GROUPS = frozenset(model.group for model in MODELS.values())
_ON_OFF = ("0", "1")
_PRECISION_NAMES = ("precision", "i_prec")


class Stored(Protocol):
    """What the form asks the tables."""

    def current_sweeps(self, moment: datetime | None) -> list[SweepFacts]:
        """Return the sweeps that were current then; None is now."""
        ...

    def overlaid_sweeps(self, run_ids: Sequence[int]) -> dict[int, list[SweepFacts]]:
        """Return what each of these runs measured, by its id."""
        ...

    def known_keys(self, keys: Iterable[str]) -> set[str]:
        """Return those of ``keys`` that are config keys, measured or not."""
        ...

    def official_moment(self, github_run_id: int) -> datetime | None:
        """Return the date under which a run counts, None where there is no such run."""
        ...


class InferenceForm(forms.Form):
    """The filters of the inference page, over the sweeps that it could show."""

    model = OneName(required=False)
    scenario = OneName(required=False)
    precision = SomeNames(required=False)
    hardware = SomeNames(required=False)
    vendor = SomeNames(required=False)
    framework = SomeNames(required=False)
    spec = SomeNames(required=False)
    deployment = SomeNames(required=False)
    offload = OneName(required=False)
    key = SomeNames(required=False)
    hide = SomeNames(required=False)
    x = OneName(required=False)
    y = OneName(required=False)
    logx = OneName(required=False)
    logy = OneName(required=False)
    optimal = OneName(required=False)
    ghost = OneName(required=False)
    gate = OneName(required=False)
    sort = OneName(required=False)
    rows = OneName(required=False)
    at = forms.FloatField(
        required=False,
        error_messages={"invalid": "at: not a number above 0, such as 50."},
    )
    zoom = forms.CharField(required=False)
    price = forms.CharField(required=False)
    kw = forms.CharField(required=False)

    def __init__(self, query: QueryDict, stored: Stored) -> None:
        """Read ``query``, with the official dashboard's names accepted."""
        translation = Translation(query)
        asked = translation.asked
        if "from" in asked:
            asked.setlist("since", asked.getlist("from"))
        super().__init__(asked)
        self.names = translation.names
        self.ignored = self._ignored(translation)
        self.when = MomentForm(asked)
        self.when.full_clean()
        self.moment = self._moment(stored)
        self.offered = stored.current_sweeps(self.moment)
        self.unofficial = asked_runs(query)
        asked_ids = [run.run_id for run in self.unofficial.runs]
        self.overlaid = stored.overlaid_sweeps(asked_ids)
        self.names_precision = not translation.said.isdisjoint(_PRECISION_NAMES)
        self._allow_sweeps()
        self._allow_keys(asked, stored)
        for name, allowed in _FIXED.items():
            self._allow(name, allowed)

    def _ignored(self, translation: Translation) -> list[str]:
        known = {*self.fields, *MomentForm.base_fields, "from"}
        unknown = [
            f"{translation.names[name]}={value}"
            for name, values in translation.asked.lists()
            if name not in known
            for value in values
        ]
        found = [*translation.ignored, *unknown]
        return [one_line(text, LONGEST_QUOTE) for text in found[:MOST_IGNORED]]

    def _moment(self, stored: Stored) -> datetime | None:
        """Return as of when sweeps are shown: the whole of that day, or a run."""
        if self.when.errors:
            return None
        asked = self.when.cleaned_data
        if asked["date"]:
            return datetime.combine(asked["date"], time.max, UTC)
        if asked["asof_run"] is None:
            return None
        moment = stored.official_moment(asked["asof_run"])
        if moment is None:
            self.when.add_error(
                "asof_run", f"asof_run: run {asked['asof_run']} is not stored."
            )
        return moment

    @property
    def known(self) -> list[SweepFacts]:
        """Return every sweep that the page could show, official or overlaid."""
        return [*self.offered, *(s for found in self.overlaid.values() for s in found)]

    def _allow_sweeps(self) -> None:
        offered = self.known
        self._allow("model", {model_group(sweep.model) for sweep in offered}, _GROUPS)
        self._allow("scenario", {s.scenario for s in offered}, SCENARIOS)
        self._allow("precision", {s.precision for s in offered}, PRECISIONS)
        self._allow("hardware", {s.hardware for s in offered}, HARDWARE)
        frameworks = {canonical_framework(s.framework) for s in offered}
        self._allow("framework", frameworks, LABELS)
        methods = {method for s in offered for method in s.spec_methods}
        self._allow("spec", methods, SPEC_METHODS)

    def _allow_keys(self, asked: QueryDict, stored: Stored) -> None:
        keys = {sweep.config_key for sweep in self.known}
        named = [*asked.getlist("key"), *asked.getlist("hide")]
        others = [key for key in named if key not in keys]
        known = stored.known_keys(others) if others else ()
        self._allow("key", keys, known)
        self._allow("hide", keys, known)

    def _allow(self, name: str, *allowed: Iterable[str]) -> None:
        values = {value for some in allowed for value in some if value}
        field = cast("OneName | SomeNames", self.fields[name])
        field.allowed = values
        given = self.names.get(name, name).replace("%", "%%")
        field.error_messages["invalid_choice"] = (
            f"{given}: %(value)s is not known. Allowed: {_named(sorted(values))}."
        )

    def clean_at(self) -> float | None:
        """Refuse a value that no frontier has."""
        at: float | None = self.cleaned_data["at"]
        if at is not None and at <= 0:
            raise ValidationError("at: not a number above 0, such as 50.")
        return at

    def clean_price(self) -> dict[str, float]:
        """Read USD per GPU and hour, by GPU."""
        return _given("price", self.cleaned_data["price"], "price")

    def clean_kw(self) -> dict[str, float]:
        """Read all-in kW per GPU, by GPU."""
        return _given("kw", self.cleaned_data["kw"], "power")

    def clean_zoom(self) -> tuple[float, ...] | None:
        """Read the shown rectangle: x from, x to, y from, y to."""
        text: str = self.cleaned_data["zoom"]
        try:
            corners = tuple(float(part) for part in text.split(",") if text)
        except ValueError:
            corners = (math.nan,)
        if not corners:
            return None
        if len(corners) != CORNERS or not all(map(math.isfinite, corners)):
            raise ValidationError("zoom: not four numbers such as 10,80,0,3000.")
        if corners[0] >= corners[1] or corners[2] >= corners[3]:
            raise ValidationError("zoom: an end that is not above its beginning.")
        return corners

    def is_valid(self) -> bool:
        """Tell whether every parameter was understood, of several runs at least one."""
        is_usable = not self.unofficial.is_unusable
        return super().is_valid() and not self.when.errors and is_usable

    @property
    def sentences(self) -> list[str]:
        """Return what is wrong with the query, a sentence per parameter."""
        found = [*_sentences(self), *_sentences(self.when)]
        if self.unofficial.is_unusable:
            found += self.unofficial.refused
        return found

    @property
    def refused(self) -> set[str]:
        """Return the names, as given, of the parameters that were refused."""
        wrong = {*self.errors, *self.when.errors}
        if self.unofficial.is_unusable:
            wrong.add(self.unofficial.name)
        return {self.names.get({"since": "from"}.get(n, n), n) for n in wrong}

    @property
    def selection(self) -> Selection:
        """Return every filter of a valid form, defaults filled in.

        Without a model the one with most points is shown, then its fullest scenario:
        of what the runs asked for measured, else of all that is offered where the
        other filters leave nothing. Without a precision it is that of these runs.
        """
        asked = self.cleaned_data
        filters = self._filters()
        measured = [s for found in self.overlaid.values() for s in found]
        # Since when something is official says nothing of runs that are not.
        pool = _named_by(asked, measured, replace(filters, since=None))
        pool = pool or _named_by(asked, self.offered, filters) or self.offered
        model = asked["model"] or _fullest(pool, lambda s: model_group(s.model))
        pool = [sweep for sweep in pool if model_group(sweep.model) == model]
        scenario = asked["scenario"] or _fullest(pool, lambda s: s.scenario)
        if not self.names_precision:
            filters = replace(filters, precision=_precisions(measured, model, scenario))
        x, y = default_axes(agentic=scenario == AGENTIC)
        return Selection(
            model=model,
            scenario=scenario,
            x=asked["x"] or x,
            y=asked["y"] or y,
            filters=filters,
            moment=self.moment,
            asof_run=self.when.cleaned_data["asof_run"],
            log_x=asked["logx"] == "1",
            log_y=asked["logy"] == "1",
            only_frontier=asked["optimal"] == "1",
            has_ghosts=asked["ghost"] == "1",
            no_ghosts=asked["ghost"] == "0",
            gate=asked["gate"] == "1",
            at=asked["at"],
            sort=asked["sort"],
            all_rows=asked["rows"] == ALL_ROWS,
            zoom=asked["zoom"],
            hidden=tuple(asked["hide"]),
            custom=Custom(asked["price"], asked["kw"]),
        )

    def _filters(self) -> Filters:
        asked = self.cleaned_data
        since: date | None = self.when.cleaned_data["since"]
        lists = ("precision", "hardware", "vendor", "framework", "spec", "key")
        return Filters(
            **{name: tuple(asked[name]) for name in (*lists, "deployment")},
            offload=asked["offload"],
            since=datetime.combine(since, time.min, UTC) if since else None,
        )


_FIXED: dict[str, Iterable[str]] = {
    "vendor": VENDORS,
    "deployment": KINDS,
    "offload": OFFLOADS,
    "x": AXES,
    "y": AXES,
    "sort": SORTS,
    "rows": (ALL_ROWS,),
    **dict.fromkeys(("logx", "logy", "optimal", "ghost", "gate"), _ON_OFF),
}


def _given(name: str, text: str, unit: str) -> dict[str, float]:
    try:
        return read_custom(name, [text], unit)
    except ValueError as error:
        raise ValidationError(str(error)) from error


def _sentences(form: forms.Form) -> Iterator[str]:
    for errors in form.errors.as_data().values():
        for error in errors:
            params = {n: _shortened(v) for n, v in (error.params or {}).items()}
            yield str(error.message % params if params else error.message)


def _shortened(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}..."


def _named_by(
    asked: Mapping[str, str], sweeps: Iterable[SweepFacts], filters: Filters
) -> list[SweepFacts]:
    """Return the sweeps of what is named: model, scenario and filters."""
    return [
        sweep
        for sweep in sweeps
        if filters.take(sweep)
        and asked["scenario"] in {"", sweep.scenario}
        and asked["model"] in {"", model_group(sweep.model)}
    ]


def _precisions(
    measured: Iterable[SweepFacts], model: str, scenario: str
) -> tuple[str, ...]:
    here = (s for s in measured if model_group(s.model) == model)
    return tuple(sorted({s.precision for s in here if s.scenario == scenario} - {""}))


def _fullest(sweeps: Iterable[SweepFacts], of: Callable[[SweepFacts], str]) -> str:
    points: Counter[str] = Counter()
    for sweep in sweeps:
        points[of(sweep)] += sweep.received
    return min(points, key=lambda name: (-points[name], name), default="")


def _named(values: Sequence[str]) -> str:
    shown = ", ".join(values[:MOST_NAMED]).replace("%", "%%")
    more = len(values) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown or "nothing yet"
