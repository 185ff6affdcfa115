"""The catalogue of config keys: what each key and scenario holds today.

In as many queries for a thousand keys as for two. Most columns come from other tables
than the key, so that rows are narrowed and sorted after they are read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from typing import NamedTuple

from django.db.models import Count, F, Func, TextField
from django.db.models.functions import Coalesce

from dashboard.analysis.catalogue import (
    NO_EVALS,
    Defined,
    EvalCount,
    KeyRow,
    LastChange,
)
from dashboard.analysis.changes import title
from dashboard.analysis.curves import Curve, SweepFacts, curves
from dashboard.analysis.evals import PASSED, outcome
from dashboard.models import (
    ChangelogEntry,
    ConfigKey,
    EvalResult,
    Regression,
    Run,
    Sweep,
)
from dashboard.queries.floors import floor_table
from dashboard.queries.inference import current_sweeps
from dashboard.queries.regressions import SHOWN
from dashboard.vocabulary.floors import FILTERS

Line = tuple[str, str]  # a config key and a scenario

NEAREST = 8


def catalogue() -> list[KeyRow]:
    """Return a row per key and scenario with a current sweep, else one per key."""
    by_line: dict[Line, list[SweepFacts]] = {}
    for sweep in current_sweeps():
        by_line.setdefault((sweep.config_key, sweep.scenario), []).append(sweep)
    lines = {line: curves(sweeps)[0] for line, sweeps in by_line.items()}
    scenarios: dict[str, list[str]] = {}
    for key, scenario in lines:
        scenarios.setdefault(key, []).append(scenario)
    known = _Known(
        lines, _swapped(), _last_changes(), _open_regressions(), _evals(lines)
    )
    return [
        known.row(key, scenario)
        for key in _keys()
        for scenario in scenarios.get(key.key, [""])
    ]


class _Known(NamedTuple):
    """What is known of each line beside its key."""

    curves: Mapping[Line, Curve]
    swapped: AbstractSet[Line]
    changes: Mapping[Line, LastChange]
    regressions: Mapping[Line, int]
    evals: Mapping[Line, EvalCount]

    def row(self, key: ConfigKey, scenario: str) -> KeyRow:
        line = (key.key, scenario)
        return KeyRow(
            key=key.key,
            model=key.model,
            precision=key.precision,
            hardware=key.hardware,
            framework=key.framework,
            is_synthetic=key.is_synthetic,
            defined=_defined(key),
            curve=self.curves.get(line),
            has_swap=line in self.swapped,
            last_change=self.changes.get(line),
            regressions=self.regressions.get(line, 0),
            evals=self.evals.get(line, NO_EVALS),
        )


def nearest_keys(text: str) -> list[str]:
    """Return the config keys whose names are closest to a text."""
    names = list(ConfigKey.objects.values_list("key", flat=True))
    lowered = {name.lower(): name for name in names}
    close = get_close_matches(text.lower(), lowered, n=NEAREST, cutoff=0.5)
    return [lowered[name] for name in close]


def _keys() -> Sequence[ConfigKey]:
    related = ConfigKey.objects.select_related("definition__checkpoint")
    # The whole entry of a definition is long.
    return list(related.defer("definition__entry").order_by("key"))


def _defined(key: ConfigKey) -> Defined:
    if key.definition is None:
        return Defined()
    return Defined(key.definition.checkpoint.name, key.definition.image)


def _swapped() -> set[Line]:
    found = Sweep.objects.filter(is_swap=True)
    return set(found.values_list("config_key__key", "scenario").distinct())


def _last_changes() -> Mapping[Line, LastChange]:
    """Return the newest sweep with a break or marker, or a newer changelog entry."""
    found = (
        Sweep.objects.filter(segment__isnull=False)
        .exclude(breaks=[], markers=[])
        .order_by("config_key_id", "scenario", "-official_at", "-pk")
        .distinct("config_key_id", "scenario")
        .values_list(
            "config_key__key",
            "scenario",
            "official_at",
            "breaks",
            "markers",
            "run__github_run_id",
        )
    )
    changed = {
        (key, scenario): LastChange(
            at, ", ".join(title(change) for change in (*breaks, *markers)), run_id
        )
        for key, scenario, at, breaks, markers, run_id in found
        if at is not None
    }
    return changed | _newer_entries(changed)


def _newer_entries(changed: Mapping[Line, LastChange]) -> dict[Line, LastChange]:
    """Return of the measured lines the changelog entry that is newer than a change.

    Dated as sweeps and /changes are: by when the run was published.
    """
    name = Func(
        F("expanded_keys"),
        function="jsonb_array_elements_text",
        output_field=TextField(),
    )
    entries = (
        ChangelogEntry.objects.filter(run__publication=Run.Publication.OFFICIAL)
        .annotate(key=name, at=Coalesce("run__published_at", "run__created_at"))
        .order_by("key", "-at", "-run__github_run_id")
        .distinct("key")
        .values_list("key", "at", "run__github_run_id")
    )
    newest = {
        key: LastChange(at, "changelog entry", run_id) for key, at, run_id in entries
    }
    lines = Sweep.objects.filter(state=Sweep.State.CURRENT).values_list(
        "config_key__key", "scenario"
    )
    return {
        line: newest[line[0]]
        for line in lines.distinct()
        if line[0] in newest
        and (line not in changed or newest[line[0]].at > changed[line].at)
    }


def _open_regressions() -> Counter[Line]:
    found = Regression.objects.filter(
        SHOWN, is_active=True, state__in=Regression.OPEN, recovered_by__isnull=True
    )
    counted = found.values_list("config_key__key", "scenario").annotate(n=Count("pk"))
    return Counter({(key, scenario): n for key, scenario, n in counted})


def _evals(lines: Mapping[Line, Curve]) -> dict[Line, EvalCount]:
    """Count the scores of the runs that the current curves are made of."""
    runs = {
        (sweep.run_id, *line) for line, curve in lines.items() for sweep in curve.sweeps
    }
    scores = EvalResult.objects.filter(
        is_current=True, run__github_run_id__in={run_id for run_id, _, _ in runs}
    ).values_list(
        "run__github_run_id",
        "config_key__key",
        "scenario",
        "config_key__model",
        "task",
        Coalesce("measured_at", "run__created_at"),
        "n",
        "strict",
        "flexible",
        "score",
    )
    floors = floor_table()
    counted: dict[Line, EvalCount] = {}
    for run_id, key, scenario, model, task, at, n, *measured in scores:
        if (run_id, key, scenario) not in runs:
            continue
        shares = dict(zip(FILTERS, measured, strict=True))
        needed = floors.at(model, task, at.date())
        has_passed = outcome(needed, shares, n) in PASSED
        before = counted.get((key, scenario), NO_EVALS)
        counted[key, scenario] = EvalCount(
            before.passed + has_passed, before.scored + 1
        )
    return counted
