"""Small records and bundles written by the tests themselves."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingest.artifacts.json_reading import canonical
from ingest.conversion import ArtifactMeta, Record, RunConversion

RUN: dict[str, Any] = {
    "id": 90001,
    "run_attempt": 1,
    "event": "push",
    "head_branch": "main",
    "status": "completed",
    "conclusion": "success",
    "created_at": "2026-08-01T20:00:00Z",
    "run_started_at": "2026-08-01T20:00:05Z",
    "repository": {"full_name": "acme/bench"},
}

FIXED: dict[str, Any] = {
    "hw": "mi355x-amds",
    "framework": "sglang",
    "precision": "fp4",
    "spec_decoding": "none",
    "infmax_model_prefix": "qwen3.5",
    "model": "org-a/Model-397B-FP4",
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
    "median_e2el": 20.76,
    "output_tput_per_gpu": 1578.4,
    "input_tput_per_gpu": 1578.4,
    "tput_per_gpu": 3156.8,
}

MULTINODE: dict[str, Any] = {
    "is_multinode": True,
    "disagg": True,
    "prefill_num_workers": 1,
    "prefill_tp": 4,
    "prefill_ep": 1,
    "prefill_dp_attention": "false",
    "num_prefill_gpu": 4,
    "decode_num_workers": 5,
    "decode_tp": 4,
    "decode_ep": 1,
    "decode_dp_attention": "true",
    "num_decode_gpu": 20,
}

EVAL: dict[str, Any] = {
    "model_prefix": "qwen3.5",
    "model": "org-a/Model-397B-FP4",
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

META_ENV: dict[str, Any] = {
    "is_multinode": False,
    "framework": "sglang",
    "precision": "fp4",
    "spec_decoding": "",
    "recipe_fingerprint": "",
    "tp": 2,
    "pp": 1,
    "dcp_size": 1,
    "pcp_size": 1,
    "conc": 64,
    "ep": 1,
    "dp_attention": False,
    "prefill_tp": 2,
    "prefill_ep": 1,
    "prefill_dp_attention": False,
    "prefill_num_workers": 1,
    "decode_tp": 2,
    "decode_ep": 1,
    "decode_dp_attention": False,
    "decode_num_workers": 1,
    "model": "org-a/Model-397B-FP4",
    "infmax_model_prefix": "qwen3.5",
    "hw": "mi355x-amds",
    "isl": "1024",
    "osl": "1024",
}


def results(
    strict: float | None = 0.9697, flexible: float | None = 0.9568, **more
) -> dict[str, Any]:
    """Return a results file of gsm8k as the eval harness writes it."""
    scores: dict[str, object] = {"alias": "gsm8k"}
    if strict is not None:
        scores["exact_match,strict-match"] = strict
        scores["exact_match_stderr,strict-match"] = 0.005
    if flexible is not None:
        scores["exact_match,flexible-extract"] = flexible
        scores["exact_match_stderr,flexible-extract"] = 0.006
    return {
        "lm_eval_version": "0.4.9",
        "results": {"gsm8k": scores},
        "configs": {"gsm8k": {"metric_list": [{"metric": "exact_match"}]}},
        "n-samples": {"gsm8k": {"original": 1319, "effective": 1319}},
    } | more


def agentic(**more) -> dict[str, Any]:
    """Return a nested row of replayed traces."""
    stats = {"mean": 0.005, "p50": 0.004, "p90": 0.006, "std": 0.001}
    row = {
        **{key: FIXED[key] for key in ("framework", "precision", "model", "image")},
        "hw": "cluster:mi355x-amds",
        "infmax_model_prefix": "qwen3.5",
        "spec_decoding": "mtp",
        "disagg": False,
        "scenario_type": "agentic-coding",
        "is_multinode": False,
        "tp": 2,
        "ep": 2,
        "dp_attention": "false",
        "conc": 4,
        "kv_offloading": "none",
        "kv_offload_backend": None,
        "num_requests_total": 110,
        "num_requests_successful": 100,
        "request_metrics": {
            "qps": {"window_seconds": 1.0, "samples": 3590, "p50": 0, "mean": 0.25},
            "latency": {
                "ttft": {"mean": 1.1, "p50": 0.8, "p90": 2.2},
                "itl": stats,
                "intvty": {"mean": 210.0, "p50": 251.0, "p90": 170.0, "std": 9.0},
                "e2el": {},
            },
            "tokens": {"input": {"mean": 88000}, "output_actual": {"mean": 900}},
            "throughput": {
                "total": {"tokens_per_second": 21228.8},
                "duration_seconds": 3598.2,
                "per_gpu": {"total_tput_tps": 10614.4, "output_tput_tps": 114.15},
            },
            "cache": {"theoretical_cache_hit_rate": 0.97},
        },
        "server_metrics": {
            "present": True,
            "adapter": "sglang",
            "cache": {"gpu_cache_hit_rate": 0.78, "cpu_cache_hit_rate": None},
            "kv_cache": {"gpu_usage_pct": 0.82, "cpu_usage_pct": None},
            "tokens": {"prompt_total": 75000000, "generation_total": 820000},
            "sources": [],
        },
    }
    return row | more


def record(value: object, member: str = "agg.json", index: int = 0) -> Record:
    """Return a record of a value."""
    text, sha256 = canonical(value)
    return Record(member, index, value, text, sha256)


def rows_of(name: str, *values: object, member: str = "agg.json") -> list[Any]:
    """Return the rows of an artifact with one member that holds these values."""
    records = [record(value, member, index) for index, value in enumerate(values)]
    return list(RunConversion().rows(ArtifactMeta(0, name), records))


def write_bundle(
    root: Path,
    artifacts: Mapping[str, Mapping[str, object]],
    run: Mapping[str, object] = RUN,
) -> Path:
    """Write a bundle folder; artifacts map folder names to members and values.

    Bytes and strings are written as they are, anything else as JSON.
    """
    root.mkdir(parents=True, exist_ok=True)
    (root / "run.json").write_text(json.dumps(run))
    for folder, members in artifacts.items():
        for member, value in members.items():
            path = root / "artifacts" / folder / member
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encoded(value))
    return root


def encoded(value: object) -> bytes:
    """Return the bytes of a member."""
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


def write_zip(path: Path, members: Mapping[str, object]) -> Path:
    """Write a zip of members."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(name, encoded(value))
    return path
