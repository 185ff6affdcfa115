"""Contents of the artifacts that jobs upload."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from demo import evals, names, traces
from demo.agentic_rows import agentic_row, failed_row
from demo.cluster import Slot
from demo.fixed_rows import fixed_row
from demo.power import Power
from demo.recipes import Recipe
from demo.runs import Run

# Requests of more users would be most of the demo's bytes.
FEW_USERS = 4


@dataclass(frozen=True, slots=True)
class Upload:
    """An artifact: its name, its files and when it was uploaded."""

    name: str
    files: dict[str, str]
    created: datetime


def as_json(value: object) -> str:
    """Write a value as the files of a bundle hold it; NaN is refused."""
    return json.dumps(value, allow_nan=False)


def measured_rows(run: Run, seed: str, recipe: Recipe) -> dict[int, dict[str, Any]]:
    """Measure all points of a job; rows by concurrency."""
    if recipe.lengths is None:
        return {
            users: agentic_row(recipe, users, seed) for users in recipe.concurrencies
        }
    return {
        concurrency: fixed_row(
            recipe, concurrency, seed, _power(run, recipe, concurrency)
        )
        for concurrency in recipe.concurrencies
    }


def failed_rows(recipe: Recipe) -> dict[int, dict[str, Any]]:
    """Return the rows of a job that got no answer at all."""
    return {users: failed_row(recipe, users) for users in recipe.concurrencies}


def row_upload(
    recipe: Recipe, runner: str, rows: dict[int, dict[str, Any]], created: datetime
) -> Upload:
    """Put the rows of a job into its artifact, a file for each."""
    files = {
        names.row_file(recipe, runner, concurrency): as_json(row)
        for concurrency, row in rows.items()
    }
    return Upload(names.row_artifact(recipe, runner), files, created)


def raw_upload(
    recipe: Recipe, seed: str, slot: Slot, created: datetime
) -> Upload | None:
    """Put every request of a replay with few users into its raw artifact, else None.

    It has as many lines as the job's row counts.
    """
    users = min(recipe.concurrencies)
    if recipe.lengths is not None or users > FEW_USERS:
        return None
    begun = round(slot.start.timestamp()) * traces.NS
    files = {traces.MEMBER: traces.profile_export(recipe, users, seed, begun)}
    return Upload(f"agentic_{names.result_name(recipe, slot.runner)}", files, created)


def log_upload(recipe: Recipe, runner: str, created: datetime) -> Upload:
    """Put what a server said before it failed into its log artifact."""
    sizes = "/".join(f"TP{role.tp}" for role in recipe.roles)
    lines = [
        f"serve {recipe.checkpoint} on {recipe.gpus} GPUs, {sizes}",
        "warm-up: first prompt accepted",
        "error: no kernel for this shape in the prefill of layer 0; server stops",
    ]
    name = names.log_artifact(recipe, runner)
    return Upload(name, {"server.log": "\n".join(lines) + "\n"}, created)


def power_upload(recipe: Recipe, runner: str, created: datetime) -> Upload:
    """Say in the audit artifact why the telemetry of a point is not valid."""
    result = names.result_name(recipe, runner)
    report = {
        "schema_version": 1,
        "power_valid": False,
        "reasons": ["sampling_gap_exceeded"],
        "telemetry_source": "gpu_metrics.csv",
        "benchmark_result": f"{result}.json",
        "expected_gpu_count": recipe.gpus,
        "observed_gpu_count": recipe.gpus,
        "device_issues": {"0": ["sampling_gap_exceeded"]},
        "metrics": {},
    }
    files = {f"power_validation_{result}.json": as_json(report)}
    return Upload(f"power_audit_{result}", files, created)


def eval_upload(
    run: Run, recipe: Recipe, concurrency: int, runner: str, created: datetime
) -> tuple[Upload, list[dict[str, Any]]]:
    """Return the artifact of an eval job and its rows for the aggregate."""
    scores = _scores(run, recipe, concurrency)
    stamp = created.strftime("%Y-%m-%dT%H-%M-%S.000001")
    name, file = names.eval_artifact(recipe, runner), f"results_{stamp}.json"
    files = {
        "meta_env.json": as_json(evals.meta_env(recipe, concurrency)),
        file: as_json(evals.result_file(recipe, scores)),
    }
    rows = [
        evals.aggregate_row(recipe, concurrency, score, f"eval_results/{name}/{file}")
        for score in scores
    ]
    return Upload(name, files, created), rows


def _scores(run: Run, recipe: Recipe, concurrency: int) -> list[evals.Score]:
    told = run.scores.get((recipe.key, concurrency))
    gsm8k = evals.gsm8k_score(recipe, concurrency, run.name)
    scores = [evals.Score(evals.GSM8K, told) if told else gsm8k]
    if run.gpqa:
        scores.append(evals.gpqa_score(recipe, concurrency, run.name))
    return scores


def _power(run: Run, recipe: Recipe, concurrency: int) -> Power:
    if run.power is not None:
        return run.power(recipe, concurrency)
    # The oldest cluster has no telemetry.
    return Power.ABSENT if recipe.hardware == "mi300x" else Power.MEASURED
