"""Fills an empty database with the made-up rows, by COPY."""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

import numpy as np
from django.core.management.color import no_style
from django.db import connection, transaction
from psycopg import sql

from dashboard.models import (
    Artifact,
    ChangelogEntry,
    Checkpoint,
    ConfigChange,
    ConfigDefinition,
    ConfigKey,
    Deployment,
    Generation,
    Point,
    RawRecord,
    Regression,
    Repository,
    Run,
    Sweep,
)
from dashboard.vocabulary.metrics import default_axes
from dashboard.vocabulary.stored_metrics import parted
from ingest.scale import judging, rows, tables
from ingest.scale.history import Day
from ingest.scale.layout import Layout
from ingest.scale.measurements import Values as Numbers
from ingest.scale.measurements import facts, measured
from ingest.tables import HOT_METRICS
from ingest.upserts import Table, Values, insert

# What is looked at before anything is written, and emptied when that is asked for.
FILLED = (
    *(Point, Sweep, Regression, Run, Artifact, RawRecord, ChangelogEntry),
    *(ConfigChange, ConfigDefinition, ConfigKey, Checkpoint, Deployment, Repository),
)
SCORE, FAILED_SCORE, DOCUMENTS = 0.965, 0.91, 1319
TASKS = ("gsm8k", "gpqa_diamond")
# Of regressions, in turn: what people made of them.
STATES = ("untriaged", "untriaged", "acknowledged", "investigating", "expected")

Progress = Callable[[int, int], None]


def is_filled() -> bool:
    """Tell whether the database holds measurements or what belongs to them."""
    return any(model.objects.exists() for model in FILLED)


def empty() -> None:
    """Delete every run, key, point and what hangs on them."""
    names = sql.SQL(", ").join(Table(model, (), ()).name for model in FILLED)
    statement = sql.SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(names)
    with connection.cursor() as cursor:
        cursor.execute(statement)


def fill(layout: Layout, progress: Progress, *, vacuum: bool = True) -> None:
    """Store everything; a day of points is a transaction, since a run is one.

    1. All but measurements. 2. Points and their records, a day at a time. 3. What
    follows from them: evals, verdicts, regressions. 4. Sequences, statistics, and a
    new generation. Without ``vacuum`` it may run inside a transaction.
    """
    with transaction.atomic():
        for table, found in _frame(layout):
            insert(table, found)
    record_id = 0
    throughput: dict[int, Numbers] = {}
    days = [*layout.official()]
    for number in range(layout.scale.dates):
        progress(number, layout.scale.dates)
        of_day = days[number * len(layout.keys) : (number + 1) * len(layout.keys)]
        asked = [(day.run_id, day.sweep_id, day) for day in of_day]
        record_id = _fill_points(layout, asked, record_id, throughput)
    extra = [(run.row_id, sweep_id, day) for run, sweep_id, day in layout.unofficial()]
    _fill_points(layout, extra, record_id, {})
    with transaction.atomic():
        insert(tables.EVALS, _evals(layout))
        insert(tables.JUDGEMENTS, _judgements(layout, throughput))
        regressions = list(_regressions(layout, throughput))
        insert(tables.REGRESSIONS, regressions)
        insert(tables.TRIAGE_EVENTS, _events(regressions))
    _finish(vacuum=vacuum)


def _frame(layout: Layout) -> Iterator[tuple[Table, Iterable[Values]]]:
    yield tables.REPOSITORIES, rows.repositories()
    yield tables.CHECKPOINTS, rows.checkpoints(layout)
    yield tables.DEPLOYMENTS, rows.deployments(layout)
    yield tables.CONFIG_KEYS, rows.config_keys(layout)
    yield tables.DEFINITIONS, rows.definitions(layout)
    yield tables.SIGHTS, rows.sights(layout)
    yield tables.RUNS, rows.runs(layout)
    yield tables.ATTEMPTS, rows.attempts(layout)
    yield tables.ARTIFACTS, rows.artifacts(layout)
    yield tables.JOBS, rows.jobs(layout)
    yield tables.RUN_STATS, rows.run_stats(layout)
    yield tables.CHANGELOG, rows.changelog(layout)
    yield tables.CONFIG_CHANGES, rows.config_changes(layout)
    yield tables.SKIPS, rows.skips(layout)
    yield tables.SWEEPS, rows.sweeps(layout)


def _fill_points(
    layout: Layout,
    sweeps: Iterable[tuple[int, int, Day]],
    record_id: int,
    throughput: dict[int, Numbers],
) -> int:
    """Store the points of (run, sweep, what it served); return the last record's id.

    ``throughput`` takes what verdicts quote, by sweep id.
    """
    points, records = list[Values](), list[Values]()
    for run_id, sweep_id, day in sweeps:
        seed = [layout.scale.seed, sweep_id]
        metrics = measured(day.key, day.speed, day.lost, seed)
        if day.begins or (day.is_losing and run_id == day.run_id):
            throughput[sweep_id] = metrics[default_axes(agentic=False)[1]]
        for place, row in enumerate(_points(layout, sweep_id, day, metrics)):
            record_id += 1
            points.append((*row, record_id))
            body = f'{{"conc":{row[2]},"sweep":{sweep_id}}}'
            digest = sha256(body.encode()).hexdigest()
            index = sweep_id * 1000 + place
            records.append((record_id, run_id, "agg_bmk.json", index, digest, body))
    with transaction.atomic():
        insert(tables.RECORDS, records)
        insert(tables.POINTS, points)
    return record_id


def _points(
    layout: Layout, sweep_id: int, day: Day, metrics: dict[str, Numbers]
) -> Iterator[Values]:
    """Yield the points of a sweep, in the columns of ``tables.POINTS`` but the last."""
    key = day.key
    deployments = layout.deployment_ids(key)
    recipes = day.fingerprints
    named = list(metrics)
    hot = [named.index(name) for name in HOT_METRICS]
    values = np.column_stack([metrics[name] for name in named]).tolist()
    runner = f"{key.hardware}_{sweep_id % 8:02d}"
    of_requests = named.index("total_requests_completed") if key.is_agentic else 0
    for (shape, concurrency), row in zip(key.places, values, strict=True):
        topology = key.shapes[shape]
        gpus: Values = (topology.gpus, None, None)
        if topology.decode_gpus:
            gpus = (None, topology.prefill_gpus, topology.decode_gpus)
        yield (
            *(sweep_id, deployments[shape], concurrency, recipes[shape], 1),
            *(True, False, False, [], day.image, runner, *gpus),
            *(row[n] for n in hot),
            *parted(dict(zip(named, row, strict=True))),
            facts(key, row[of_requests]),
        )


def _evals(layout: Layout) -> Iterator[Values]:
    """Yield the scores: of each sweep one or two, at its first deployments."""
    for day in layout.official():
        deployments = layout.deployment_ids(day.key)
        rng = np.random.default_rng([layout.scale.seed, 1, day.sweep_id])
        for n, _ in enumerate(rows.eval_places(layout, day)):
            shape, concurrency = day.key.places[n % len(day.key.places)]
            strict = round(SCORE * DOCUMENTS + 8 * float(rng.standard_normal()))
            share = min(strict, DOCUMENTS) / DOCUMENTS
            deviation = (share * (1 - share) / DOCUMENTS) ** 0.5
            at = day.moment.at
            yield (
                *(day.run_id, day.key.number + 1, deployments[shape]),
                *(day.key.scenario, concurrency, TASKS[n // len(day.key.places) % 2]),
                *(1, share, deviation, share - 0.008, deviation, share, DOCUMENTS),
                *("0.4.9.2", at, f"results_{at:%Y-%m-%dT%H-%M-%S}.json", [], True),
                *("fingerprint", [day.key.name], [], None),
            )


def _judgements(layout: Layout, throughput: dict[int, Numbers]) -> Iterator[Values]:
    for day in layout.official():
        yield (
            *(day.sweep_id, day.baseline and day.baseline.sweep_id),
            *(judging.verdict(day).value, judging.reason(day), judging.sentence(day)),
            *(judging.change(day), _numbers(layout, day, throughput)),
        )


def _numbers(layout: Layout, day: Day, throughput: dict[int, Numbers]) -> object:
    """Return a verdict's numbers, with points where something got worse."""
    after = throughput.get(day.sweep_id)
    if after is None or judging.verdict(day) != judging.Verdict.REGRESSION:
        return judging.numbers(day, layout.run_ids, None, None)
    # Without the loss it is what the baseline measured, but for its noise.
    return judging.numbers(day, layout.run_ids, after / (1 - day.lost), after)


def _regressions(layout: Layout, throughput: dict[int, Numbers]) -> Iterator[Values]:
    """Yield what got worse, each with the sweep that ended it."""
    begun = [
        (day, next((d for d in days[n:] if d.ends), None))
        for days in layout.days
        for n, day in enumerate(days)
        if judging.verdict(day) == judging.Verdict.REGRESSION
    ]
    begun.sort(key=lambda found: found[0].sweep_id)
    for n, (day, end) in enumerate(begun):
        numbers = _numbers(layout, day, throughput)
        assert day.baseline is not None  # noqa: S101  # a regression has one
        told = {"places": judging.places(day), "verdict": numbers}
        yield (
            *(n + 1, day.run_id, day.key.number + 1, day.key.scenario, "performance"),
            *(day.sweep_id, day.baseline.sweep_id, True, True, judging.change(day)),
            *(judging.sentence(day), told),
            *(end and end.run_id, end and end.moment.at, [], STATES[n % len(STATES)]),
        )


def _events(regressions: Iterable[Values]) -> Iterator[Values]:
    for row_id, *_, state in regressions:
        if state != STATES[0]:
            yield row_id, "someone", STATES[0], state, "", "looked at it"


def _finish(*, vacuum: bool) -> None:
    """Let new rows have new ids, tell the planner, and forget what was cached."""
    statements = connection.ops.sequence_reset_sql(no_style(), list(FILLED))
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        # VACUUM as well: index-only scans want to know that all pages are visible.
        cursor.execute("VACUUM (ANALYZE)" if vacuum else "ANALYZE")
    Generation.bump()
