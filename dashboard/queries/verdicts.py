"""The verdict on what a run measured: against which baseline, and what came of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from django.db.models import Q

from dashboard.analysis.comparison import Comparison, compare
from dashboard.analysis.noise import Noise as NoiseValue
from dashboard.analysis.noise import NoiseTable
from dashboard.analysis.segments import NOTICE, Change, breaks, markers_between
from dashboard.analysis.sides import Side, SweepVerdict, break_words
from dashboard.analysis.verdicts import Candidate, judge
from dashboard.models import ConfigKey, Noise, Notice, Run, Sweep
from dashboard.queries.sides import folded_before, labels_of, points_of, sides
from dashboard.vocabulary.metrics import default_axes
from dashboard.vocabulary.scenarios import AGENTIC


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
    measured = run.sweeps.filter(extends__isnull=True)
    heads = [s for s in sides(measured, attempt) if attempt is not None or s.received]
    chosen = baselines(heads) if base is None else _sides_of(base, base_attempt)
    return judge_sides([(head, chosen.get(_place(head))) for head in heads])


def judge_sides(pairs: Sequence[tuple[Side, Side | None]]) -> list[SweepVerdict]:
    """Judge heads against their bases, all of one run together."""
    pairs = _with_folded(pairs)
    compared = [side for pair in pairs for side in pair if side is not None]
    frames = points_of(compared)
    noise = noise_table()
    staff = _staff_breaks(pairs)
    found: list[tuple[Comparison | None, tuple[Change, ...]]] = []
    for head, base in pairs:
        if base is None:
            found.append((None, ()))
            continue
        comparison = compare(
            frames[base.sweep_id, base.attempt],
            frames[head.sweep_id, head.attempt],
            axes=default_axes(agentic=head.scenario == AGENTIC),
            noise=noise,
            planned=head.planned,
        )
        broken = breaks(base.identity, head.identity)
        found.append((comparison, (*broken, *staff.get(head.sweep_id, ()))))
    judged = judge(
        [
            Candidate(head.config_key, comparison, break_words(broken))
            for (head, _), (comparison, broken) in zip(pairs, found, strict=True)
        ]
    )
    labels = labels_of(frames.values())
    return [
        SweepVerdict(
            head=head,
            base=base,
            axes=default_axes(agentic=head.scenario == AGENTIC),
            judged=verdict,
            breaks=broken,
            markers=tuple(
                markers_between(base.identity, head.identity) if base else ()
            ),
            labels=labels,
        )
        for (head, base), (_, broken), verdict in zip(pairs, found, judged, strict=True)
    ]


def baselines(heads: Iterable[Side]) -> dict[tuple[str, str], Side]:
    """Return the newest earlier official sweep of each head's key and scenario.

    Earlier by the date under which each counts; never a held one, never one of the
    head's own run or commit: repeats are no history. By (config key, scenario).
    """
    heads = list(heads)
    if not heads:
        return {}
    earlier = reduce(
        or_,
        (
            Q(
                config_key__key=head.config_key,
                scenario=head.scenario,
                official_at__lt=head.at,
            )
            & ~Q(run__github_run_id=head.run_id)
            & (~Q(run__sha=head.sha) if head.sha else Q())
            for head in heads
        ),
    )
    newest = (
        Sweep.objects.filter(earlier, segment__isnull=False, extends__isnull=True)
        .order_by("config_key_id", "scenario", "-official_at", "-run__github_run_id")
        .distinct("config_key_id", "scenario")
    )
    found = sides(Sweep.objects.filter(pk__in=newest.values("pk")))
    return {_place(side): side for side in found}


def noise_table() -> NoiseTable:
    """Return the newest measured noise of every metric and band."""
    newest = Noise.objects.order_by("metric", "band", "-as_of").distinct(
        "metric", "band"
    )
    rows = newest.values_list("metric", "band", "value", "pairs", "as_of")
    return NoiseTable(NoiseValue(*row) for row in rows)


def _sides_of(run: Run, attempt: int | None) -> dict[tuple[str, str], Side]:
    """Return what a run measured, by (config key, scenario)."""
    source = run.reuse_source_run_id
    measured = Run.objects.filter(github_run_id=source).first() if source else None
    found = sides((measured or run).sweeps.all(), attempt)
    return {_place(side): side for side in found}


def _place(side: Side) -> tuple[str, str]:
    return side.config_key, side.scenario


def _with_folded(
    pairs: Sequence[tuple[Side, Side | None]],
) -> list[tuple[Side, Side | None]]:
    """Return the pairs, each base with what belongs to it and came before the head."""
    bases = [(base, head.at) for head, base in pairs if base is not None]
    folded = folded_before([b for b in bases if b[0].attempt is None])
    return [
        (head, base and replace(base, folded=folded.get(base.sweep_id, ())))
        for head, base in pairs
    ]


def _staff_breaks(
    pairs: Iterable[tuple[Side, Side | None]],
) -> Mapping[int, tuple[Change, ...]]:
    """Return the breaks that staff put between the sides, by the head's sweep id."""
    notices = list(Notice.objects.filter(kind=Notice.Kind.BREAK).order_by("at", "pk"))
    if not notices:
        return {}
    between = [(head, base) for head, base in pairs if base is not None]
    keys = {
        key.key: key
        for key in ConfigKey.objects.filter(
            key__in={head.config_key for head, _ in between}
        )
    }
    return {
        head.sweep_id: tuple(
            {"kind": NOTICE, "text": notice.text, "at": notice.at.isoformat()}
            for notice in notices
            if base.at < notice.at <= head.at and notice.is_about(keys[head.config_key])
        )
        for head, base in between
    }
