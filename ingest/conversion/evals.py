"""Eval records to rows: an eval artifact's own files, and rows of the aggregate."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath

from dashboard.vocabulary.floors import decisive_filter
from ingest.artifacts.names import Kind, NameParts, parse_name
from ingest.conversion.eval_identity import eval_identity
from ingest.conversion.identity import Warnings
from ingest.conversion.records import (
    ArtifactMeta,
    Record,
    RefusedError,
    object_of,
    ref_of,
    skip,
)
from ingest.conversion.scores import Scores, fraction, in_range, scores_of
from ingest.rows import EvalRow, SkipRow
from ingest.schemas.evals import EvalRecord, EvalResults, MetaEnv
from ingest.schemas.fields import Model, WrongTypeError, read

META_ENV = "meta_env.json"

# Of batched files, and of the parts that one concurrency may be split into.
_BATCH = re.compile(r"_conc(\d{1,9})(?:_\d+)?\.json$")
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})(\.\d{1,6})?")
_LONGEST_VERSION = 40
LONG_AGO = datetime.min.replace(tzinfo=UTC)
AMBIGUOUS = (
    "ambiguous_rerun",
    "results of no time, or of one time: which is newest is a guess",
)

EvalRows = Iterator[EvalRow | SkipRow]


def artifact_evals(meta: ArtifactMeta, records: list[Record]) -> EvalRows:
    """Turn the files of one eval artifact into rows, one per concurrency and task.

    1. ``meta_env.json`` says what ran; without it nothing can be told.
    2. A batched job takes only the concurrencies that it completed, and reports the
       others.
    3. Of several files of one concurrency the newest by the time in its name counts.
    """
    metas = [r for r in records if base_name(r.member) == META_ENV]
    results = [r for r in records if base_name(r.member) != META_ENV]
    if not metas:
        refused = RefusedError("missing_meta_env", f"there is no {META_ENV}")
        yield from (skip(meta, record, refused) for record in results)
        return
    try:
        environment = _checked(MetaEnv, metas[0])
    except RefusedError as error:
        yield skip(meta, metas[0], error)
        return
    yield from _incomplete(meta, metas[0], environment, results)
    yield from _measured(meta, environment, results)


def base_name(member: str) -> str:
    """Return the file name of a member."""
    return PurePosixPath(member).name


def _checked(model: type[Model], record: Record) -> Model:
    try:
        return read(model, object_of(record))
    except WrongTypeError as error:
        raise RefusedError("wrong_type", str(error)) from error


def _incomplete(
    meta: ArtifactMeta, record: Record, env: MetaEnv, results: list[Record]
) -> Iterator[SkipRow]:
    """Report what an eval job did not measure."""
    for conc in env.failed_eval_concs or ():
        yield skip(meta, record, RefusedError("failed_eval", f"c{conc} failed"))
    if not results and not env.failed_eval_concs:
        yield skip(meta, record, RefusedError("missing_results", "no results file"))


def _measured(meta: ArtifactMeta, env: MetaEnv, results: list[Record]) -> EvalRows:
    found: dict[tuple[int, str], list[EvalRow]] = {}
    for record in results:
        for row in _file_rows(meta, env, record):
            if isinstance(row, EvalRow):
                found.setdefault((row.identity.concurrency, row.task), []).append(row)
            else:
                yield row
    for rows in found.values():
        yield _newest(rows)


def _newest(rows: list[EvalRow]) -> EvalRow:
    """Return the newest of several results of one thing, the others as warnings."""
    rows = sorted(rows, key=lambda row: (row.measured_at or LONG_AGO, row.result_file))
    newest = rows[-1]
    for older in rows[:-1]:
        text = f"{older.result_file}: strict {older.strict}, flexible {older.flexible}"
        newest.warnings.append(("eval_rerun", text))
        newest.repeats.append(older.result)
    times = [row.measured_at for row in rows]
    if len(rows) > 1 and (None in times or len(set(times)) < len(times)):
        newest.warnings.append(AMBIGUOUS)
    return newest


def _file_rows(meta: ArtifactMeta, env: MetaEnv, record: Record) -> EvalRows:
    try:
        results = _checked(EvalResults, record)
        job = env.model_copy(update={"conc": _concurrency(env, record)})
    except RefusedError as error:
        yield skip(meta, record, error)
        return
    if not results.results:
        yield skip(meta, record, RefusedError("no_score", "the results are empty"))
    for task in results.results:
        try:
            yield _task_row(meta, job, record, results, task)
        except RefusedError as error:
            refused = RefusedError(error.reason, f"{task}: {error.detail}")
            yield skip(meta, record, refused)


def _concurrency(env: MetaEnv, record: Record) -> int | None:
    """Return the concurrency of a results file; batched ones have it in the name."""
    found = _BATCH.search(record.member)
    if found is None:
        return env.conc
    conc = int(found[1])
    completed = env.completed_eval_concs
    if completed is not None and conc not in completed:
        raise RefusedError("failed_eval", f"c{conc} was not completed")
    return conc


def _task_row(
    meta: ArtifactMeta, job: MetaEnv, record: Record, results: EvalResults, task: str
) -> EvalRow:
    warnings: Warnings = []
    config = results.configs.get(task)
    scores = scores_of(results.results[task], config, warnings)
    samples = results.n_samples.get(task)
    asked = samples.effective if samples else None
    warnings += _doubts(task, scores, asked, time_in(record.member))
    return EvalRow(
        ref=ref_of(meta, record),
        identity=eval_identity(job, meta.parts, None, warnings),
        task=task,
        strict=scores.strict,
        strict_se=scores.strict_se,
        flexible=scores.flexible,
        flexible_se=scores.flexible_se,
        score=scores.score,
        n=asked,
        lm_eval_version=(results.lm_eval_version or "")[:_LONGEST_VERSION],
        measured_at=time_in(record.member) or _epoch(results.date),
        result_file=base_name(record.member),
        warnings=warnings,
    )


def _doubts(
    task: str, scores: Scores, asked: int | None, at: datetime | None
) -> Iterator[tuple[str, str]]:
    """Yield what makes a result unfit to be judged, or to be put in order of time."""
    if asked is None or asked < 1:
        yield "no_questions", f"the number of questions is {asked}"
    decisive = decisive_filter(task)
    if getattr(scores, decisive) is None:
        yield (
            "missing_score",
            f"{task} is judged by its {decisive} score, which is absent",
        )
    if at is None:
        yield "no_file_time", "the results file has no time in its name"


def time_in(name: str) -> datetime | None:
    """Return the UTC time in a results file's name, ``2026-09-02T10-08-40.18``."""
    found = _TIME.search(name)
    if found is None:
        return None
    date, hour, minute, second, part = found.groups(default="")
    try:
        time = datetime.fromisoformat(f"{date}T{hour}:{minute}:{second}+00:00")
    except ValueError:
        return None
    return time.replace(microsecond=int(f"{part[1:]:0<6}"))


def _epoch(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def aggregate_eval(meta: ArtifactMeta, record: Record) -> EvalRow | SkipRow:
    """Turn a row of the aggregate into an eval, or into the reason why not."""
    try:
        return _aggregate_row(meta, record, _checked(EvalRecord, record))
    except RefusedError as error:
        return skip(meta, record, error)


def _aggregate_row(meta: ArtifactMeta, record: Record, row: EvalRecord) -> EvalRow:
    warnings: Warnings = []
    scores = _aggregate_scores(row, warnings)
    file = base_name(row.source or "")
    warnings += _doubts(row.task, scores, row.n_eff, time_in(file))
    return EvalRow(
        ref=ref_of(meta, record),
        identity=eval_identity(row, source_parts(row.source), row.disagg, warnings),
        task=row.task,
        strict=scores.strict,
        strict_se=scores.strict_se,
        flexible=scores.flexible,
        flexible_se=scores.flexible_se,
        score=scores.score,
        n=row.n_eff,
        measured_at=time_in(file),
        result_file=file,
        warnings=warnings,
    )


def _aggregate_scores(row: EvalRecord, warnings: Warnings) -> Scores:
    names = ("em_strict", "em_strict_se", "em_flexible", "em_flexible_se", "accuracy")
    numbers = (fraction(name, getattr(row, name), warnings) for name in names)
    scores = Scores(*numbers)
    if scores.score is None and scores.flexible is None:
        scores = scores._replace(accuracy=fraction("score", row.score, warnings))
    return in_range(scores)


def source_parts(source: str | None) -> NameParts:
    """Return the parts of the artifact name in an aggregate row's ``source`` path."""
    folder = PurePosixPath(source or "").parent.name
    return parse_name(folder) if folder else NameParts(Kind.EVAL, "")
