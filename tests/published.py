"""Rows as the official dashboard publishes them, and folders of its files."""

import json
from pathlib import Path
from typing import Any

from django.core.management import call_command

RUNS = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs"
MODEL = "Qwen-3.5-397B-A17B"


def point(
    conc: int = 64, *, run: int = 90001, attempt: int = 1, **changes: Any
) -> dict[str, Any]:
    """A point on two GPUs of one node; ``metrics`` are added to its own."""
    sizes = {"tp": 2, "ep": 1, "dp_attention": False, "num_workers": 0}
    roles = {
        f"{role}_{name}": size
        for role in ("prefill", "decode")
        for name, size in sizes.items()
    }
    rate = 3156.8 * conc / 64
    metrics = {
        "median_tpot": 0.020,
        "median_intvty": 50.0,
        "median_ttft": 0.3,
        "median_e2el": 20.76,
        "tput_per_gpu": rate,
        "output_tput_per_gpu": rate / 2,
        "input_tput_per_gpu": rate / 2,
    }
    row = {
        "hardware": "mi355x",
        "framework": "sglang",
        "model": "qwen3.5",
        "precision": "fp4",
        "spec_method": "none",
        "disagg": False,
        "is_multinode": False,
        **roles,
        "num_prefill_gpu": 2,
        "num_decode_gpu": 2,
        "isl": 1024,
        "osl": 1024,
        "conc": conc,
        "image": "img/sglang:1",
        "metrics": metrics | changes.pop("metrics", {}),
        "workers": None,
        "date": "2026-08-01",
        "run_url": f"{RUNS}/{run}/attempts/{attempt}",
    }
    return row | changes


def past_point(conc: int = 64, **changes: Any) -> dict[str, Any]:
    """A point as the history has it: without an image."""
    row = point(conc, **changes)
    del row["image"]
    return row


def score(task: str = "gsm8k", *, run: int = 90001, **changes: Any) -> dict[str, Any]:
    """An eval of what :func:`point` measures; single nodes are marked as roles."""
    row = point(run=run)
    for name in ("isl", "osl", "image", "workers"):
        del row[name]
    metrics = {"n_eff": 1319, "em_strict": 0.9697, "em_flexible": 0.9568}
    told = {
        "id": "7042",
        "config_id": 1228,
        "disagg": True,
        "prefill_num_workers": 1,
        "decode_num_workers": 1,
        "task": task,
        "metrics": metrics,
        "timestamp": "2026-08-01T20:30:00Z",
        "run_url": f"{RUNS}/{run}",
    }
    return row | told | changes


def write(folder: Path, **files: Any) -> Path:
    """Write files by name, ``benchmarks_history`` for the history."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / f"{name.replace('_', '-')}.json"
        path.write_text(json.dumps(content))
    return folder


def import_folder(folder: Path, **options: Any) -> None:
    """Run the command."""
    call_command("import_published", str(folder), **options)
