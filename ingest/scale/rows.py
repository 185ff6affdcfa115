"""The rows of the made-up database but for points and evals."""

from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from itertools import pairwise
from typing import Any

from ingest.scale.history import IMAGE_DAYS, NEVER_CAME, Day
from ingest.scale.keys import Key
from ingest.scale.layout import REPOSITORY, Layout, PlannedRun
from ingest.upserts import Values

WORKFLOW, BRANCH = ".github/workflows/run-sweep.yml", "main"
HOURS = timedelta(hours=2)


def repositories() -> Iterator[Values]:
    """Yield the one repository."""
    yield 1, REPOSITORY, True, WORKFLOW, BRANCH


def checkpoints(layout: Layout) -> Iterator[Values]:
    """Yield the weights."""
    for name, row_id in layout.checkpoints.items():
        yield row_id, name


def deployments(layout: Layout) -> Iterator[Values]:
    """Yield the topologies."""
    labels = {s.deployment: s.label for key in layout.keys for s in key.shapes}
    for deployment, row_id in layout.deployments.items():
        yield row_id, *deployment, labels[deployment]


def config_keys(layout: Layout) -> Iterator[Values]:
    """Yield the keys, each with its newest definition."""
    newest = {key_id: row_id for row_id, key_id, *_ in definitions(layout)}
    for key in layout.keys:
        kind = "agentic-coding" if key.is_agentic else "fixed-seq-len"
        yield (
            *(key.number + 1, key.name, key.model, key.precision, key.hardware),
            *(key.framework, kind, False, newest[key.number + 1]),
        )


def definitions(layout: Layout) -> Iterator[Values]:
    """Yield what each key meant: a row per image or checkpoint that it served."""
    row_id = 0
    for key, days in zip(layout.keys, layout.days, strict=True):
        meanings: dict[tuple[str, str], list[Day]] = {}
        for day in days:
            meanings.setdefault((day.checkpoint, day.image), []).append(day)
        for (checkpoint, image), found in meanings.items():
            row_id += 1
            entry = _entry(key, checkpoint, image)
            first, last = (layout.runs[d.run_id - 1] for d in (found[0], found[-1]))
            yield (
                *(row_id, key.number + 1, _digest(str(entry))),
                *(layout.checkpoints[checkpoint], image, key.hardware, entry),
                *(first.sha, first.at, last.sha, last.at),
            )


def sights(layout: Layout) -> Iterator[Values]:
    """Yield that the repository has every definition on its default branch."""
    for row_id, *_, last_at in definitions(layout):
        yield row_id, 1, True, last_at


def _entry(key: Key, checkpoint: str, image: str) -> dict[str, Any]:
    scenario = {"search-space": [{"deployment": g[0], "conc": g[1]} for g in key.grid]}
    return {
        "image": image,
        "model": checkpoint,
        "runner": key.hardware,
        "framework": key.framework,
        "precision": key.precision,
        "multinode": key.shapes[0].deployment.multinode,
        "scenarios": {key.scenario: [scenario]},
    }


def runs(layout: Layout) -> Iterator[Values]:
    """Yield the runs."""
    received: dict[int, int] = {}
    planned: dict[int, int] = {}
    evals = dict.fromkeys(layout.run_ids, 0)
    for day in layout.official():
        count = len(day.key.places)
        received[day.run_id] = received.get(day.run_id, 0) + count
        planned[day.run_id] = planned.get(day.run_id, 0) + count + day.missing
        evals[day.run_id] += len(eval_places(layout, day))
    for run, _, day in layout.unofficial():
        received[run.row_id] = received.get(run.row_id, 0) + len(day.key.places)
    for run in layout.runs:
        count = received.get(run.row_id, 0)
        yield (
            *(run.row_id, 1, run.github_run_id, WORKFLOW, _title(run)),
            *(("push", BRANCH) if run.is_official else ("pull_request", "faster")),
            *(run.sha, run.pr_number, "octocat", run.url, "completed", "success", 1),
            *(run.at, True, "official" if run.is_official else "unofficial", {}, []),
            *(count, evals[run.row_id], 0, planned.get(run.row_id, count)),
        )


def eval_places(layout: Layout, day: Day) -> range:
    """Return the numbers of the evals of a sweep: 26 per thousand points, spread."""
    total = 26 * layout.scale.points // 1000
    sweeps = layout.scale.dates * layout.scale.keys
    number = day.sweep_id - 1
    return range(total * number // sweeps, total * (number + 1) // sweeps)


def _title(run: PlannedRun) -> str:
    if not run.is_official:
        return f"[{run.group}] Try larger batches"
    version = run.day // IMAGE_DAYS
    return f"Run Sweep - Measure group {run.group} on v0.5.{version} (#{run.pr_number})"


def attempts(layout: Layout) -> Iterator[Values]:
    """Yield one attempt per run."""
    for run in layout.runs:
        yield run.row_id, 1, "completed", "success", run.at, run.at + HOURS


def artifacts(layout: Layout) -> Iterator[Values]:
    """Yield the one upload of each run; its id is the run's."""
    for run in layout.runs:
        digest = _digest(f"artifact {run.github_run_id}")
        yield (
            *(run.row_id, run.row_id, run.github_run_id * 10, "results_bmk", digest),
            *("results_bmk", {}, 1, 1 << 20, run.at + HOURS, False, None),
            *([["agg_bmk.json", 1 << 20, digest]], "fetched", ""),
        )


def jobs(layout: Layout) -> Iterator[Values]:
    """Yield a job per sweep; of a held one it failed."""
    for day in layout.official():
        yield _job(day, day.run_id, day.sweep_id, day.moment.at)
    for run, sweep_id, day in layout.unofficial():
        yield _job(day, run.row_id, sweep_id, run.at)


def _job(day: Day, run_id: int, sweep_id: int, at: Any) -> Values:
    conclusion = "failure" if day.is_held and run_id == day.run_id else "success"
    name = f"{day.key.scenario} / {day.key.model} {day.key.precision} {day.key.name}"
    runner = f"{day.key.hardware}_{sweep_id % 8:02d}"
    job_id = 70_000_000_000 + sweep_id
    return run_id, job_id, 1, name, "completed", conclusion, runner, at, at + HOURS


def run_stats(layout: Layout) -> Iterator[Values]:
    """Yield job successes of each run by hardware."""
    found: dict[tuple[int, str], list[int]] = {}
    for day in layout.official():
        counts = found.setdefault((day.run_id, day.key.hardware), [0, 0])
        counts[0] += len(day.key.places)
        counts[1] += len(day.key.places) + day.missing
    for (run_id, hardware), (successes, total) in found.items():
        yield run_id, f"{hardware}-pool", hardware, successes, total


def changelog(layout: Layout) -> Iterator[Values]:
    """Yield an entry per official run: the keys of its group."""
    for run in layout.runs:
        if not run.is_official:
            continue
        names = [key.name for key in layout.keys if key.group == run.group]
        link = f"https://github.com/{REPOSITORY}/pull/{run.pr_number}"
        text = f"Serve group {run.group} from images v0.5.{run.day // IMAGE_DAYS}"
        yield (
            *(run.row_id, f"origin/{BRANCH}", run.sha, 0, names, names, [], [text]),
            *(link, run.pr_number, "good", [], False, False, False, []),
        )


def config_changes(layout: Layout) -> Iterator[Values]:
    """Yield each new image and each swap of a key."""
    for days in layout.days:
        for before, day in pairwise(days):
            sha, at = layout.runs[day.run_id - 1].sha, day.moment.at
            name = day.key.name
            if before.image != day.image:
                yield 1, name, "image", sha, at, before.image, day.image, False
            if before.checkpoint != day.checkpoint:
                texts = before.checkpoint, day.checkpoint
                yield 1, name, "model", sha, at, *texts, True


def sweeps(layout: Layout) -> Iterator[Values]:
    """Yield the sweeps: official ones as derivation leaves them, then the others."""
    current = {
        max(d.sweep_id for d in days if d.placed is not None) for days in layout.days
    }
    for day in layout.official():
        place = day.placed
        if place is None:
            count = len(day.key.places)
            reason = f"incomplete: {count} of {count + day.missing} points"
            derived: Values = ("held", None, None, None, [], [], False)
        else:
            reason = ""
            state = "current" if day.sweep_id in current else "former"
            derived = (
                *(state, None, place.previous, place.segment),
                *(list(place.breaks), list(place.markers), place.is_swap),
            )
        own = _sweep(layout, day, day.run_id, day.sweep_id, day.moment.at)
        yield (*own, reason, *_measured(day), *derived, day.moment.at)
    for run, sweep_id, day in layout.unofficial():
        own = _sweep(layout, day, run.row_id, sweep_id, run.at)
        nothing: Values = (None, None, None, None, [], [], False, None)
        yield (*own, "", *_measured(day), *nothing)


def _sweep(layout: Layout, day: Day, run_id: int, row_id: int, at: Any) -> Values:
    key, is_official = day.key, run_id == day.run_id
    missing = NEVER_CAME[1] if day.is_held and is_official else ()
    planned = [*key.planned, *([NEVER_CAME[0], c] for c in missing)]
    evidence = "agentic runs have a forced length" if day.key.is_agentic else ""
    return (
        *(row_id, run_id, key.number + 1, key.scenario),
        *(layout.checkpoints[day.checkpoint], day.image, [day.image]),
        *(sorted(day.fingerprints), key.precision, [key.spec]),
        *(day.acceptance_source, None, evidence if day.acceptance_source else ""),
        *(planned, len(planned), len(key.places), "fingerprint", [key.name], []),
        at,
    )


def _measured(day: Day) -> Values:
    harness = "traces" if day.key.is_agentic else ""
    return harness, [day.key.hardware], day.key.grid


def skips(layout: Layout) -> Iterator[Values]:
    """Yield what every tenth run did not take."""
    for run in layout.runs[::10]:
        detail = "0 of 22 requests successful"
        place = (run.row_id, "agg_bmk.json", 1 << 20)
        yield run.row_id, *place, "failed_run", detail, False


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
