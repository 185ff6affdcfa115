"""Small run bundles written to disk, and the base records that every case varies."""

import json
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

REPOSITORY = "SemiAnalysisAI/InferenceX"
KEY = "qwen3.5-fp4-mi355x-sglang"
MODEL = "org-a/Model-397B-FP4"
SHA = "a" * 40
STARTED = datetime(2026, 8, 1, 20, tzinfo=UTC)

Members = Mapping[str, Any]


def iso(at: datetime) -> str:
    """Write a time as GitHub does."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def run_object(run_id: int = 90001, **changes: Any) -> dict[str, Any]:
    """A push to the default branch, finished, one attempt."""
    run = {
        "id": run_id,
        "run_attempt": 1,
        "event": "push",
        "head_branch": "main",
        "head_sha": SHA,
        "path": ".github/workflows/run-sweep.yml",
        "status": "completed",
        "conclusion": "success",
        "display_title": "Run Sweep",
        "created_at": iso(STARTED),
        "run_started_at": iso(STARTED + timedelta(seconds=5)),
        "repository": {"full_name": REPOSITORY},
    }
    return run | changes


def row(**changes: Any) -> dict[str, Any]:
    """A row of two GPUs that agrees with itself; None leaves a field out."""
    record = {
        "hw": "mi355x-amds",
        "framework": "sglang",
        "precision": "fp4",
        "spec_decoding": "none",
        "infmax_model_prefix": "qwen3.5",
        "model": MODEL,
        "image": "img/sglang:1",
        "disagg": False,
        "is_multinode": False,
        "isl": 1024,
        "osl": 1024,
        "tp": 2,
        "pp": 1,
        "ep": 1,
        "dp_attention": "false",
        "conc": 64,
        "median_tpot": 0.020,
        "median_intvty": 50.0,
        "p99_tpot": 0.025,
        "p99_intvty": 40.0,
        "median_ttft": 0.3,
        "p99_ttft": 1.0,
        "output_tput_per_gpu": 1578.4,
        "input_tput_per_gpu": 1578.4,
        "tput_per_gpu": 3156.8,
        "median_e2el": 20.76,
    }
    record |= changes
    return {name: value for name, value in record.items() if value is not None}


def busy_row(conc: int, throughput: float = 100.0, **changes: Any) -> dict[str, Any]:
    """A row at another concurrency; its latency is what Little's law makes of it."""
    gpus = changes.get("tp", 2)
    return row(
        conc=conc,
        tput_per_gpu=throughput,
        output_tput_per_gpu=throughput / 2,
        input_tput_per_gpu=throughput / 2,
        median_e2el=1024 * conc / (throughput / 2 * gpus),
        **changes,
    )


def disagg_row(**changes: Any) -> dict[str, Any]:
    """A prefill worker on 4 GPUs, five decode workers on 20; 12,000 tok/s in all."""
    roles = {
        "is_multinode": True,
        "disagg": True,
        "tp": None,
        "pp": None,
        "ep": None,
        "dp_attention": None,
        "prefill_num_workers": 1,
        "prefill_tp": 4,
        "prefill_ep": 1,
        "prefill_dp_attention": "false",
        "num_prefill_gpu": 4,
        "decode_num_workers": 5,
        "decode_tp": 4,
        "decode_ep": 1,
        "decode_dp_attention": "false",
        "num_decode_gpu": 20,
        "tput_per_gpu": 500.0,
        "output_tput_per_gpu": 200.0,
        "input_tput_per_gpu": 2000.0,
        "median_e2el": 1024 * 64 / 4000,
    }
    return row(**(roles | changes))


def eval_row(**changes: Any) -> dict[str, Any]:
    """An eval of the deployment that :func:`row` measures, as the aggregate has it."""
    record = {
        "model_prefix": "qwen3.5",
        "model": MODEL,
        "hw": "MI355X-AMDS",
        "framework": "sglang",
        "precision": "fp4",
        "spec_decoding": "none",
        "is_multinode": False,
        "isl": 1024,
        "osl": 1024,
        "tp": 2,
        "ep": 1,
        "conc": 64,
        "dp_attention": "false",
        "task": "gsm8k",
        "em_strict": 0.9697,
        "em_strict_se": 0.00472,
        "em_flexible": 0.9568,
        "em_flexible_se": 0.0056,
        "n_eff": 1319,
        "score": 0.9697,
        "score_name": "em_strict",
    }
    record |= changes
    return {name: value for name, value in record.items() if value is not None}


def changelog(*keys: str, **changes: Any) -> dict[str, Any]:
    """Changelog metadata with one entry."""
    entry = {
        "config-keys": list(keys or (KEY,)),
        "description": ["a note"],
        "pr-link": "https://github.com/o/r/pull/501",
    }
    return {"base_ref": "b1", "head_ref": "h1", "entries": [entry | changes]}


def job(
    job_id: int,
    concurrency: int,
    *,
    body: str = "qwen3.5 fp4 mi355x-amds sglang TP2",
    **changes: Any,
) -> dict[str, Any]:
    """A throughput job of the 1k/1k group, named as the workflow names it."""
    facts = {
        "id": job_id,
        "run_attempt": 1,
        "name": f"single-node 1k1k / / p3.000 | {body} c{concurrency}",
        "status": "completed",
        "conclusion": "success",
    }
    return facts | changes


def jobs_for(concurrencies: Iterable[int], **changes: Any) -> list[dict[str, Any]]:
    """One throughput job per concurrency."""
    return [job(5000 + conc, conc, **changes) for conc in concurrencies]


def master(key: str = KEY, **changes: Any) -> str:
    """A master config with one key: TP2 at concurrencies 4 to 128."""
    search = changes.pop("search", [{"tp": 2, "conc-start": 4, "conc-end": 128}])
    entry = {
        "image": "img/sglang:1",
        "model": MODEL,
        "model-prefix": "qwen3.5",
        "runner": "mi355x-amds",
        "precision": "fp4",
        "framework": "sglang",
        "multinode": False,
    }
    entry |= changes
    lengths = {"isl": 1024, "osl": 1024, "search-space": search}
    entry["scenarios"] = {"fixed-seq-len": [lengths]}
    return json.dumps({key: entry})  # JSON is YAML


def results(*rows: Any) -> dict[str, Members]:
    """The aggregate of throughput rows, as an artifact."""
    return {"results_bmk": {"agg_bmk.json": list(rows)}}


def evals(*rows: Any) -> dict[str, Members]:
    """The aggregate of eval rows, as an artifact."""
    return {"eval_results_all": {"agg_eval_all.json": list(rows)}}


def write_bundle(  # noqa: PLR0913  # a bundle has this many parts
    folder: Path,
    run: Mapping[str, Any] | None = None,
    artifacts: Mapping[str, Members] | None = None,
    *,
    attempts: list[dict[str, Any]] | None = None,
    jobs: list[dict[str, Any]] | None = None,
    configs: Mapping[str, str] | None = None,
    changelog: Any = None,
    uploaded_at: datetime = STARTED + timedelta(hours=1),
    first_id: int = 1000,
) -> Path:
    """Write a bundle folder; a member is bytes, or an object written as JSON."""
    uploads = dict(artifacts or {})
    if changelog is not None:
        uploads["changelog-metadata"] = {"changelog_metadata.json": changelog}
    write_json(folder / "run.json", run_object() if run is None else run)
    items = []
    for number, (name, members) in enumerate(uploads.items()):
        item_id = first_id + number
        items.append({"id": item_id, "name": name, "created_at": iso(uploaded_at)})
        for member, content in members.items():
            write_member(folder / "artifacts" / f"{item_id}-{name}" / member, content)
    write_json(folder / "artifacts.json", items)
    if attempts is not None:
        write_json(folder / "run.attempts.json", attempts)
    if jobs is not None:
        write_json(folder / "jobs.json", jobs)
    for name, text in (configs or {}).items():
        write_member(folder / "repo" / "configs" / name, text.encode())
    return folder


def write_member(path: Path, content: Any) -> None:
    """Write bytes as they are and anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_bytes = isinstance(content, bytes)
    path.write_bytes(content if is_bytes else json.dumps(content).encode())


def write_json(path: Path, value: Any) -> None:
    """Write JSON, or bytes that only claim to be it."""
    write_member(path, value)


def zip_of(folder: Path, *, inside: bool = True) -> Path:
    """Zip a bundle folder, with its own name in front or without."""
    target = folder.with_suffix(".zip")
    start = folder.parent if inside else folder
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(start))
    return target
