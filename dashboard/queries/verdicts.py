"""The verdict on what a run measured: against which baseline, and what came of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import NamedTuple

import pandas as pd
from django.db.models import Q

from dashboard.analysis.comparison import Axes, Comparison, compare
from dashboard.analysis.dropped import intended
from dashboard.analysis.noise import NoiseTable
from dashboard.analysis.segments import (
    NOTICE,
    Change,
    SweepIdentity,
    breaks,
    markers_between,
)
from dashboard.analysis.sides import Side, SweepVerdict, break_words
from dashboard.analysis.verdicts import Candidate, judge
from dashboard.models import ConfigKey, Notice, Run, Sweep
from dashboard.queries.eval_verdicts import verdict_evals
from dashboard.queries.noise import noise_before
from dashboard.queries.sides import (
    Folded,
    all_points,
    folded_before,
    labels_of,
    points_of_side,
    sides,
    sides_of_runs,
    told_identities,
)
from dashboard.vocabulary.metrics import default_axes
from dashboard.vocabulary.scenarios import AGENTIC

# A head and what it is held against, None where there is nothing.
Pair = tuple[Side, Side | None]


def judge_run(
    run: Run,
    *,
    base: Run | None = None,
    attempt: int | None = None,
    base_attempt: int | None = None,
) -> list[SweepVerdict]:
    """Judge every key and scenario that a run, or an attempt of it, measured.

    Against the newest earlier official sweep of each, or against ``base``. A sweep
    that only extends another one has nothing to be held against and is left out. The
    number of queries does not depend on how many keys there are.
    """
    if base is None:
        (verdicts,) = judge_runs([(run, attempt)])
        return verdicts
    (heads,) = sides_of_runs([(run.pk, attempt)])
    chosen = _sides_of(base, base_attempt)
    pairs = [(head, chosen.get(_place(head))) for head in heads]
    # Whoever names a run means that run, not others on its commit.
    (verdicts,) = judge_groups([pairs], repeats=False)
    reason = f"run {base.github_run_id} did not measure this key"
    return [
        v if v.base else replace(v, judged=replace(v.judged, reason=reason))
        for v in verdicts
    ]


def judge_runs(asked: Sequence[tuple[Run, int | None]]) -> list[list[SweepVerdict]]:
    """Judge several runs, or attempts, each against the official record.

    In as many queries as one of them.
    """
    groups = sides_of_runs([(run.pk, attempt) for run, attempt in asked])
    heads = [head for group in groups for head in group]
    chosen = _baseline_of_each(heads)
    return judge_groups(
        [[(head, chosen[_identity(head)]) for head in group] for group in groups]
    )


def judge_sides(pairs: Sequence[Pair]) -> list[SweepVerdict]:
    """Judge heads against their bases, all of one run together."""
    (verdicts,) = judge_groups([pairs])
    return verdicts


def judge_groups(
    groups: Sequence[Sequence[Pair]], *, repeats: bool = True
) -> list[list[SweepVerdict]]:
    """Judge the pairs of each group together, and groups apart from each other.

    Tables are read once for all of them. Unless ``repeats`` is false, runs on the
    commit of a base are folded into it.
    """
    groups = _with_folded(groups, repeats=repeats)
    pairs = [pair for group in groups for pair in group]
    points = all_points(side for pair in pairs for side in pair if side is not None)
    read = _Read(
        points,
        noise_before(head.at.date() for head, _ in pairs),
        _staff_breaks(pairs),
        labels_of(points),
        told_identities(base for _, base in pairs if base is not None),
    )
    judged = [_judged(_measured(group, points), read) for group in groups]
    evals = iter(verdict_evals(v for group in judged for v in group))
    told = [[replace(v, evals=next(evals)) for v in group] for group in judged]
    return [[v for v in group if _tells(v)] for group in told]


def _tells(verdict: SweepVerdict) -> bool:
    """Tell whether there is something to judge: an attempt may have nothing."""
    head = verdict.head
    return head.attempt is None or bool(head.received or verdict.evals)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read for all groups.

    ``noise`` stands by the day of the head, ``staff`` are breaks by (head, base) sweep
    id, ``told`` is what bases leave to the sweeps before them, by sweep id.
    """

    points: pd.DataFrame
    noise: Mapping[date, NoiseTable]
    staff: Mapping[tuple[int, int], tuple[Change, ...]]
    labels: Mapping[int, str]
    told: Mapping[int, SweepIdentity]

    def known(self, base: Side) -> SweepIdentity:
        """Return what is known of a base."""
        return self.told.get(base.sweep_id, base.identity)


def _judged(pairs: Sequence[Pair], read: _Read) -> list[SweepVerdict]:
    found = [_compared(head, base, read) for head, base in pairs]
    judged = judge(
        [
            Candidate(head.config_key, comparison, break_words(broken))
            for (head, _), (comparison, broken) in zip(pairs, found, strict=True)
        ]
    )
    return [
        SweepVerdict(
            head=head,
            base=base,
            axes=_axes(head),
            judged=verdict,
            breaks=broken,
            markers=_markers(head, base, read),
            labels=read.labels,
        )
        for (head, base), (_, broken), verdict in zip(pairs, found, judged, strict=True)
    ]


def _markers(head: Side, base: Side | None, read: _Read) -> tuple[Change, ...]:
    """Return what else differs; points that did not come are no change of the grid."""
    if base is None:
        return ()
    found = markers_between(read.known(base), head.identity)
    return tuple(intended(found, base.plan, head.plan))


def _compared(
    head: Side, base: Side | None, read: _Read
) -> tuple[Comparison | None, tuple[Change, ...]]:
    """Return the numbers of a pair, and what keeps them from being compared."""
    if base is None:
        return None, ()
    comparison = compare(
        points_of_side(read.points, base),
        points_of_side(read.points, head),
        axes=_axes(head),
        noise=read.noise[head.at.date()],
        planned=head.planned,
    )
    staff = read.staff.get((head.sweep_id, base.sweep_id), ())
    return comparison, (*breaks(read.known(base), head.identity), *staff)


def _axes(head: Side) -> Axes:
    return default_axes(agentic=head.scenario == AGENTIC)


def _identity(side: Side) -> tuple[int, int | None]:
    return side.sweep_id, side.attempt


def baselines(heads: Iterable[Side]) -> dict[tuple[str, str], Side]:
    """Return the newest earlier official sweep of each head's key and scenario.

    Earlier by the date under which each counts; never a held one, never one of the
    head's own run or commit: repeats are no history. Heads are of one run; by (config
    key, scenario).
    """
    heads = list(heads)
    found = _baseline_of_each(heads)
    chosen = ((_place(head), found[_identity(head)]) for head in heads)
    return {place: base for place, base in chosen if base is not None}


def _baseline_of_each(
    heads: Sequence[Side],
) -> dict[tuple[int, int | None], Side | None]:
    """Return each head's baseline by (sweep id, attempt), in two queries."""
    if not heads:
        return {}
    wanted = Q()
    for key, scenario in {_place(head) for head in heads}:
        wanted |= Q(config_key__key=key, scenario=scenario)
    latest = max(head.at for head in heads)
    official = Sweep.objects.filter(
        wanted, segment__isnull=False, extends__isnull=True, official_at__lte=latest
    ).order_by("-official_at", "-run__github_run_id")
    rows: dict[tuple[str, str], list[_Official]] = {}
    for row in map(_Official._make, official.values_list(*_OFFICIAL_FIELDS)):
        rows.setdefault((row.config_key, row.scenario), []).append(row)
    chosen = {
        _identity(head): next(
            (row.pk for row in rows.get(_place(head), ()) if row.precedes(head)), None
        )
        for head in heads
    }
    ids = {pk for pk in chosen.values() if pk is not None}
    found = {side.sweep_id: side for side in sides(Sweep.objects.filter(pk__in=ids))}
    return {head: found.get(pk or 0) for head, pk in chosen.items()}


class _Official(NamedTuple):
    """A sweep that may be a baseline."""

    pk: int
    config_key: str
    scenario: str
    run_id: int
    repository_id: int
    sha: str
    at: datetime

    def precedes(self, head: Side) -> bool:
        """Tell whether it came before, of another run and another commit."""
        commits = (self.repository_id, self.sha), (head.repository_id, head.sha)
        is_repeat = bool(head.sha) and commits[0] == commits[1]
        is_older = (self.at, self.run_id) < (head.at, head.run_id)
        return is_older and self.run_id != head.run_id and not is_repeat


_OFFICIAL_FIELDS = (
    *("pk", "config_key__key", "scenario", "run__github_run_id"),
    *("run__repository_id", "run__sha", "official_at"),
)


def _sides_of(run: Run, attempt: int | None) -> dict[tuple[str, str], Side]:
    """Return what a run measured, by (config key, scenario)."""
    source = run.reuse_source_run_id
    measured = Run.objects.filter(github_run_id=source).first() if source else None
    found = sides((measured or run).sweeps.all(), attempt)
    return {_place(side): side for side in found}


def _place(side: Side) -> tuple[str, str]:
    return side.config_key, side.scenario


def _measured(pairs: Sequence[Pair], points: pd.DataFrame) -> list[Pair]:
    """Return the pairs, each attempt with the count of what it measured itself.

    The plan is one of all attempts: an attempt alone is held against none.
    """
    found: list[Pair] = []
    for head, base in pairs:
        if head.attempt is None:
            found.append((head, base))
            continue
        own = points_of_side(points, head)
        places = len(own[["deployment", "concurrency"]].drop_duplicates())
        found.append((replace(head, received=places, planned=None), base))
    return found


def _with_folded(
    groups: Sequence[Sequence[Pair]], *, repeats: bool
) -> list[list[Pair]]:
    """Return the pairs, each base with what belongs to it and came before the head."""
    wanted = {
        (_identity(head), _identity(base)): (base, head.at)
        for group in groups
        for head, base in group
        if base is not None and base.attempt is None
    }
    belonging = folded_before(list(wanted.values()), repeats=repeats)
    folded = dict(zip(wanted, belonging, strict=True))
    return [
        [
            (
                head,
                base and _joined(base, folded.get((_identity(head), _identity(base)))),
            )
            for head, base in group
        ]
        for group in groups
    ]


def _joined(base: Side, found: Folded | None) -> Side:
    if found is None:
        return base
    return replace(base, folded=found.sweep_ids, repeats=found.repeats)


def _staff_breaks(
    pairs: Iterable[Pair],
) -> Mapping[tuple[int, int], tuple[Change, ...]]:
    """Return the breaks that staff put between the sides, by their sweep ids."""
    between = [(head, base) for head, base in pairs if base is not None]
    names = {head.config_key for head, _ in between}
    breaks = Notice.objects.filter(
        Q(config_key__isnull=True) | Q(config_key__key__in=names),
        kind=Notice.Kind.BREAK,
    ).select_related("run")
    notices = list(breaks.order_by("at", "pk"))
    if not notices:
        return {}
    keys = {key.key: key for key in ConfigKey.objects.filter(key__in=names)}
    return {
        (head.sweep_id, base.sweep_id): tuple(
            {"kind": NOTICE, "text": notice.text, "at": notice.at.isoformat()}
            for notice in notices
            if _parts(notice, base, head) and notice.is_about(keys[head.config_key])
        )
        for head, base in between
    }


def _parts(notice: Notice, base: Side, head: Side) -> bool:
    """Tell whether a break stands between two sides; one about a run at that run."""
    if notice.run is None:
        return _lies_between(notice.at, base, head)
    newer = max((base, head), key=lambda side: side.at)
    return notice.run.github_run_id == newer.run_id


def _lies_between(moment: datetime, base: Side, head: Side) -> bool:
    """Tell whether a moment parts two sides, whichever of them is the older one."""
    return min(base.at, head.at) < moment <= max(base.at, head.at)
