"""Any two runs, or attempts of runs, side by side: verdicts and all that differs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pandas as pd
from django.db.models import Q

from dashboard.analysis.definition_diff import FieldChange, field_changes
from dashboard.analysis.eval_verdicts import EvalVerdict
from dashboard.analysis.evals import wilson
from dashboard.analysis.noise import Noise, NoiseTable, band
from dashboard.analysis.sides import Side, SweepVerdict
from dashboard.analysis.step_curves import folded_points, paired_with
from dashboard.models import ChangelogEntry, ConfigDefinition, ConfigKey, Run, Sweep
from dashboard.queries import run_parts
from dashboard.queries.eval_verdicts import scored
from dashboard.queries.noise import noise_before
from dashboard.queries.run_parts import JudgedEval
from dashboard.queries.sides import points_of
from dashboard.queries.verdicts import judge_run
from dashboard.vocabulary.links import pull_link
from dashboard.vocabulary.models import model_group

KeyAndScenario = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RunSide:
    """A run of a comparison, or an attempt of it.

    ``measured`` is the run whose measurements count: its own, or those it publishes.
    """

    run: Run
    measured: Run
    attempt: int | None

    @property
    def name(self) -> str:
        """Return how a page calls it: "run 5, attempt 2"."""
        attempt = "" if self.attempt is None else f", attempt {self.attempt}"
        return f"run {self.run.github_run_id}{attempt}"

    @property
    def token(self) -> str:
        """Return how it is written in a link."""
        attempt = "" if self.attempt is None else f"/attempts/{self.attempt}"
        return f"{self.run.github_run_id}{attempt}"

    @property
    def pull_link(self) -> str:
        """Return the address of the run's pull request, empty if unknown."""
        return pull_link(self.run.url, self.run.pr_number)

    @property
    def identity(self) -> tuple[int, int | None]:
        """Return what tells sides apart: the only attempt of a run is the run."""
        is_only = self.attempt == 1 and self.measured.attempt == 1
        return self.measured.pk, None if is_only else self.attempt


class Score(NamedTuple):
    """One score of an eval as a fraction, with its 95 % Wilson interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvalPair:
    """One eval as both sides measured it; None where a side did not."""

    deployment: str
    concurrency: int | None
    task: str
    base: JudgedEval | None
    head: JudgedEval | None
    is_comparable: bool = True

    @property
    def verdict(self) -> EvalVerdict | None:
        """Return how the decisive score changed, None where a side was not measured."""
        if self.base is None or self.head is None:
            return None
        sides = scored(self.head), scored(self.base)
        return EvalVerdict(*sides, is_comparable=self.is_comparable)

    @property
    def flexible_change(self) -> float | None:
        """Return how the flexible score changed, a fraction."""
        if self.base is None or self.head is None:
            return None
        return _difference(self.base.result.flexible, self.head.result.flexible)


@dataclass(frozen=True, slots=True)
class DefinitionDiff:
    """What the key's entry says otherwise at the head; None where one is unknown."""

    base: ConfigDefinition | None
    head: ConfigDefinition | None
    fields: Sequence[FieldChange]


@dataclass(frozen=True, slots=True)
class NoiseUsed:
    """The noise that a metric was held against in one band of concurrencies.

    ``entry`` is None where nothing is known of it.
    """

    metric: str
    band: str
    entry: Noise | None


@dataclass(frozen=True)
class KeyComparison:
    """One key and scenario of both runs. Points are folded, a row per place."""

    key: ConfigKey
    verdict: SweepVerdict
    base_points: pd.DataFrame
    head_points: pd.DataFrame
    evals: Sequence[EvalPair]
    definition: DefinitionDiff
    changelog: Sequence[ChangelogEntry]
    noise: Sequence[NoiseUsed]


@dataclass(frozen=True)
class RunsCompared:
    """Two runs: what both measured, judged, and what only one did."""

    base: RunSide
    head: RunSide
    verdicts: Sequence[SweepVerdict]
    base_places: Sequence[KeyAndScenario]
    head_places: Sequence[KeyAndScenario]
    models: Mapping[str, str]

    @property
    def sides(self) -> tuple[tuple[RunSide, str], tuple[RunSide, str]]:
        """Return both sides with their roles."""
        return (self.base, "base"), (self.head, "head")

    @cached_property
    def only_base(self) -> list[KeyAndScenario]:
        """What the head did not measure."""
        return sorted(set(self.base_places) - set(self.head_places))

    @cached_property
    def only_head(self) -> list[KeyAndScenario]:
        """What the base did not measure."""
        return sorted(set(self.head_places) - set(self.base_places))

    @property
    def extending(self) -> list[KeyAndScenario]:
        """Return what both measured, but the head only to add points to a sweep."""
        judged = {(v.config_key, v.scenario) for v in self.verdicts}
        return sorted(set(self.base_places) & set(self.head_places) - judged)

    @property
    def other_models(self) -> tuple[list[str], list[str]] | None:
        """Return the models of each side where they have none in common."""
        base, head = (
            {model_group(self.models[key]) for key, _ in places}
            for places in (self.base_places, self.head_places)
        )
        if not base or not head or base & head:
            return None
        return sorted(base), sorted(head)


def run_side(run: Run, attempt: int | None) -> RunSide:
    """Return a run, or an attempt of it, as a side of a comparison."""
    return RunSide(run, run_parts.source_run(run) or run, attempt)


def compared(base: RunSide, head: RunSide) -> RunsCompared:
    """Hold all that the head measured against the base."""
    verdicts = judge_run(
        head.measured,
        base=base.measured,
        attempt=head.attempt,
        base_attempt=base.attempt,
    )
    places = {side.measured.pk: _places(side) for side in (base, head)}
    every = {place for found in places.values() for place in found}
    keys = ConfigKey.objects.filter(key__in={key for key, _ in every})
    return RunsCompared(
        base=base,
        head=head,
        verdicts=[v for v in verdicts if v.base is not None],
        base_places=places[base.measured.pk],
        head_places=places[head.measured.pk],
        models=dict(keys.values_list("key", "model")),
    )


def _places(side: RunSide) -> list[KeyAndScenario]:
    measured = Sweep.objects.filter(run=side.measured, received_count__gt=0)
    return list(
        measured.order_by("config_key__key", "scenario").values_list(
            "config_key__key", "scenario"
        )
    )


def details(
    found: RunsCompared, verdicts: Sequence[SweepVerdict]
) -> list[KeyComparison]:
    """Return all that is told of some verdicts, in a few queries for all of them."""
    names = {verdict.config_key for verdict in verdicts}
    keys = {key.key: key for key in ConfigKey.objects.filter(key__in=names)}
    frames = points_of(
        side for v in verdicts for side in (v.base, v.head) if side is not None
    )
    evals = _evals(found.base), _evals(found.head)
    definitions = _definitions(names)
    runs = found.base.measured, found.head.measured
    changelog = _changelog(found.head)
    noise = noise_before(verdict.head.at.date() for verdict in verdicts)
    points = [
        [_points(verdict, side, frames) for side in (verdict.base, verdict.head)]
        for verdict in verdicts
    ]
    return [
        KeyComparison(
            key=keys[verdict.config_key],
            verdict=verdict,
            base_points=paired_with(base, head),
            head_points=paired_with(head, base),
            evals=_eval_pairs(verdict, *evals),
            definition=_diff(definitions.get(verdict.config_key, []), verdict, runs),
            changelog=[e for e in changelog if verdict.config_key in e.expanded_keys],
            noise=noise_used(verdict, noise[verdict.head.at.date()]),
        )
        for verdict, (base, head) in zip(verdicts, points, strict=True)
    ]


def _points(
    verdict: SweepVerdict,
    side: Side | None,
    frames: Mapping[tuple[int, int | None], pd.DataFrame],
) -> pd.DataFrame:
    if side is None:
        raise ValueError(f"{verdict.config_key} has nothing to be held against")
    frame = frames[side.sweep_id, side.attempt]
    return folded_points(frame, *verdict.axes)


def _evals(side: RunSide) -> list[JudgedEval]:
    return run_parts.evals(side.measured, side.attempt)


def _eval_pairs(
    verdict: SweepVerdict, base: Iterable[JudgedEval], head: Iterable[JudgedEval]
) -> list[EvalPair]:
    old, new = _by_place(verdict, base), _by_place(verdict, head)
    places = dict.fromkeys([*new, *old])
    return [
        EvalPair(*place, old.get(place), new.get(place), not verdict.breaks)
        for place in sorted(places, key=lambda p: (p[0], p[1] or 0, p[2]))
    ]


def _by_place(
    verdict: SweepVerdict, evals: Iterable[JudgedEval]
) -> dict[tuple[str, int | None, str], JudgedEval]:
    return {
        (result.deployment.label, result.concurrency, result.task): judged
        for judged in evals
        for result in (judged.result,)
        if result.config_key.key == verdict.config_key
        and result.scenario in ("", verdict.scenario)
    }


def score(share: float | None, n: int | None) -> Score | None:
    """Return a score with its interval, None where it was not measured."""
    if share is None or n is None or n < 1:
        return None
    return Score(share, *wilson(share, n))


def _difference(base: float | None, head: float | None) -> float | None:
    return None if base is None or head is None else head - base


def _definitions(keys: Iterable[str]) -> dict[str, list[ConfigDefinition]]:
    """Return the versions of each key's entry, the newest first seen first."""
    found = ConfigDefinition.objects.filter(config_key__key__in=set(keys))
    ordered = found.select_related("config_key", "checkpoint").order_by(
        "-first_seen_at", "-pk"
    )
    grouped: dict[str, list[ConfigDefinition]] = {}
    for definition in ordered:
        grouped.setdefault(definition.config_key.key, []).append(definition)
    return grouped


def _diff(
    definitions: Sequence[ConfigDefinition],
    verdict: SweepVerdict,
    runs: tuple[Run, Run],
) -> DefinitionDiff:
    base, head = (
        definition_at(definitions, side, run) if side else None
        for side, run in zip((verdict.base, verdict.head), runs, strict=True)
    )
    if base is None or head is None:
        return DefinitionDiff(base, head, [])
    return DefinitionDiff(base, head, field_changes(base.entry, head.entry))


def definition_at(
    definitions: Sequence[ConfigDefinition], side: Side, run: Run
) -> ConfigDefinition | None:
    """Return the version of a key's entry that applied to a sweep, if one is stored.

    Of those that name the image and checkpoint it was measured with, else of all:
    the one seen at its commit, else the newest seen by then, else the earliest.
    ``definitions`` come newest first.
    """
    checkpoint, images = side.identity.checkpoint.casefold(), side.identity.images
    fitting = [
        definition
        for definition in definitions
        if definition.checkpoint.name.casefold() == checkpoint
        and definition.image in images
    ]
    found = fitting or list(definitions)
    exact = [d for d in found if run.sha in (d.first_seen_sha, d.last_seen_sha)]
    earlier = [d for d in found if d.first_seen_at <= run.created_at]
    return next(iter([*exact, *earlier, *reversed(found)]), None)


def _changelog(side: RunSide) -> list[ChangelogEntry]:
    """Return the entries of the head, and of the merge run that published it."""
    runs = [side.run.pk, side.measured.pk, side.measured.published_by_id]
    named = Q(run__in=[pk for pk in runs if pk is not None])
    found = ChangelogEntry.objects.filter(named).select_related("run")
    return list(found.order_by("-run__pk", "index"))


def noise_used(verdict: SweepVerdict, table: NoiseTable) -> list[NoiseUsed]:
    """Return the noise behind each flag: by metric and band, in the table's order."""
    comparison = verdict.judged.comparison
    points = comparison.points if comparison else ()
    used: dict[tuple[str, str], NoiseUsed] = {}
    for point in points:
        place = point.metric, band(point.concurrency)
        if place not in used:
            entry = table.entry(point.metric, point.concurrency)
            used[place] = NoiseUsed(*place, entry)
    return list(used.values())
