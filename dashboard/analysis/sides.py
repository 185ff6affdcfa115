"""The two sides of a comparison, and the verdict on one of them against the other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from dashboard.analysis.comparison import Axes
from dashboard.analysis.dropped import Dropped, Places, dropped
from dashboard.analysis.eval_verdicts import EvalVerdict, failed_words
from dashboard.analysis.segments import NOTICE, Change, SweepIdentity
from dashboard.analysis.verdicts import Judged, Verdict, headline, sentence

# From this age on a baseline is said to be old.
OLD_DAYS = 30

# What a page says first of a run with several keys: the worst, then what is open.
SEVERITY = (
    Verdict.FAILED_EVALS,
    Verdict.REGRESSION,
    Verdict.MIXED,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_COMPARABLE,
    Verdict.NO_BASELINE,
    Verdict.IMPROVEMENT,
    Verdict.WITHIN_NOISE,
)

_WORDS = {"spec_method": "speculative method", "acceptance": "acceptance length"}


@dataclass(frozen=True, slots=True)
class Side:
    """A sweep, or what one attempt of its run measured.

    ``at`` is the date under which it counts: the official one, else ``measured_at``.
    ``folded`` are sweeps whose points stand with its own: what only added points to
    it, and ``repeats`` of them are of other runs on the same commit. ``segment`` is
    null for what is not in the official history. ``plan`` are the planned (deployment
    label, concurrency), None where no plan is known.
    """

    sweep_id: int
    config_key: str
    scenario: str
    run_id: int
    run_url: str
    pr_number: int | None
    attempt: int | None
    publication: str
    at: datetime
    measured_at: datetime
    received: int
    planned: int | None
    identity: SweepIdentity
    plan: frozenset[tuple[str, int]] | None = None
    repository_id: int = 0
    sha: str = ""
    segment: int | None = None
    folded: tuple[int, ...] = ()
    repeats: int = 0

    @property
    def name(self) -> str:
        """Return how a sentence calls it: "run 1 of 2026-09-02"."""
        attempt = "" if self.attempt is None else f", attempt {self.attempt},"
        repeats = f" with {_counted(self.repeats, 'repeat')}" if self.repeats else ""
        return f"run {self.run_id}{attempt} of {self.at:%Y-%m-%d}{repeats}"


@dataclass(frozen=True, slots=True)
class SweepVerdict:
    """What was found of one key and scenario of a run.

    ``breaks`` say why the sides are not comparable, ``markers`` what else differs;
    ``labels`` write deployments by their id. ``evals`` are those of the head.
    """

    head: Side
    base: Side | None
    axes: Axes
    judged: Judged
    breaks: tuple[Change, ...] = ()
    markers: tuple[Change, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)
    evals: tuple[EvalVerdict, ...] = ()

    @property
    def config_key(self) -> str:
        """Return the key that was judged."""
        return self.head.config_key

    @property
    def scenario(self) -> str:
        """Return the scenario that was judged."""
        return self.head.scenario

    @property
    def verdict(self) -> Verdict:
        """Return the outcome: an eval that fails outweighs what the points say."""
        return Verdict.FAILED_EVALS if self.failed_evals else self.performance

    @property
    def performance(self) -> Verdict:
        """Return what the points alone say."""
        return self.judged.verdict

    @property
    def failed_evals(self) -> str:
        """Return which evals fail their floor, empty where none does."""
        return failed_words(self.evals)

    @property
    def age_days(self) -> int | None:
        """Return how much older the baseline is; negative for a later one."""
        return None if self.base is None else (self.head.at - self.base.at).days

    @property
    def lost(self) -> Places:
        """Return what only the base measured, although it was planned or may be."""
        return [*self._gone.lost, *self._gone.untold]

    @property
    def unplanned(self) -> Places:
        """Return what only the base measured, since nobody plans it any more."""
        return self._gone.on_purpose

    @property
    def _gone(self) -> Dropped:
        comparison = self.judged.comparison
        gone = comparison.coverage.lost if comparison else ()
        return dropped([(self.labels[pk], cs) for pk, cs in gone], self.head.plan)

    @property
    def is_old(self) -> bool:
        """Tell whether the baseline is older than a month."""
        return self.age_days is not None and self.age_days > OLD_DAYS

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what differs beside the breaks, and how acceptance came about."""
        kinds = [change["kind"] for change in self.markers]
        words = [f"{kind} differs" for kind in ("image", "recipe") if kind in kinds]
        source = self.head.identity.acceptance_source
        if source.startswith("synthetic"):
            words.append("acceptance synthetic")
        if self.is_old:
            words.append(f"the baseline is {self.age_days} days old")
        return tuple(words)

    @property
    def headline(self) -> str:
        """Return the verdict with what limits it."""
        said = headline(self.judged, self.notes)
        return f"{self.verdict}, {said}" if self.failed_evals else said

    @property
    def sentence(self) -> str:
        """Return one sentence that a person can paste."""
        baseline = self.base.name if self.base else ""
        said = sentence(
            self.judged, baseline=baseline, labels=self.labels, notes=self.notes
        )
        failed = self.failed_evals
        return f"{self.verdict}: {failed}; {said}" if failed else said


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def break_words(breaks: Iterable[Change]) -> tuple[str, ...]:
    """Return what keeps two sides from being compared, in words."""
    return tuple(
        f"by notice ({change['text']}) something"
        if change["kind"] == NOTICE
        else _WORDS.get(str(change["kind"]), str(change["kind"]))
        for change in breaks
    )


class Told(Protocol):
    """A verdict on one key and scenario, as far as a line tells it."""

    @property
    def config_key(self) -> str:
        """Return the key."""

    @property
    def verdict(self) -> str:
        """Return the outcome in a word."""

    @property
    def sentence(self) -> str:
        """Return one sentence that a person can paste."""


AnyTold = TypeVar("AnyTold", bound=Told)


def most_severe(verdicts: Sequence[AnyTold]) -> AnyTold | None:
    """Return the verdict to be told first, None where there is none."""
    return min(verdicts, key=lambda v: SEVERITY.index(Verdict(v.verdict)), default=None)
