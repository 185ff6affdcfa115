"""Of several results of one eval the newest, which remembers the others."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingest.conversion.evals import AMBIGUOUS, LONG_AGO
from ingest.mapping import MappedEval
from ingest.rows import Repeat, SkipRow
from ingest.store import Places

Place = tuple[object, ...]


def newest_evals(
    evals: Iterable[MappedEval], places: Places
) -> tuple[list[MappedEval], list[SkipRow]]:
    """Keep one eval per identity and attempt: the newest by its file's time.

    1. Group by what was evaluated, then by attempt. 2. Of one attempt the newest
    stays, the later record where no time tells; the others are skips. 3. Each that
    stays lists the older ones of its own attempt and all of former attempts, since a
    rerun says how steady a score is.
    """
    groups: dict[Place, dict[int, list[MappedEval]]] = {}
    for e in evals:
        attempts = groups.setdefault(_place(e), {})
        attempts.setdefault(places.attempt(e.row.ref), []).append(e)
    kept, skips = [], []
    for attempts in groups.values():
        former: list[Repeat] = []
        for _, found in sorted(attempts.items()):
            newest, older = _newest(found)
            skips += [_superseded(e) for e in older]
            same_attempt = [r for e in [*older, newest] for r in _repeats(e)]
            kept.append(_remembering(newest, former + same_attempt, older))
            former += [*same_attempt, newest.row.result]
    return kept, skips


def _place(e: MappedEval) -> Place:
    identity = e.row.identity
    return (
        e.mapping.config_key,
        identity.deployment,
        identity.scenario,
        identity.concurrency or None,
        e.row.task,
    )


def _newest(found: Sequence[MappedEval]) -> tuple[MappedEval, list[MappedEval]]:
    """Return the newest and the others; a result without a time is the older one."""
    order = sorted(
        range(len(found)), key=lambda i: (found[i].row.measured_at or LONG_AGO, i)
    )
    return found[order[-1]], [found[i] for i in order[:-1]]


def _repeats(e: MappedEval) -> list[Repeat]:
    """Return what a result that does not stay leaves behind, its own repeats first."""
    return [*e.row.repeats, e.row.result]


def _remembering(
    newest: MappedEval, older: Iterable[Repeat], others: Sequence[MappedEval]
) -> MappedEval:
    """Return an eval that lists older results, each once and none that is its own."""
    row = newest.row
    repeats = [r for r in dict.fromkeys(older) if r != row.result]
    unlike = [e.row.result for e in others if e.row.result != row.result]
    times = {row.measured_at, *(result.measured_at for result in unlike)}
    is_guess = bool(unlike) and (None in times or len(times) <= len(unlike))
    warnings = [*row.warnings, *([AMBIGUOUS] if is_guess else [])]
    row = replace(row, repeats=repeats, warnings=list(dict.fromkeys(warnings)))
    return replace(newest, row=row)


def _superseded(e: MappedEval) -> SkipRow:
    detail = f"{e.row.result_file}: a newer result of the same eval is there"
    return SkipRow(e.row.ref, "superseded_eval", detail)
