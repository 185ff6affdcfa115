"""Sound artifacts that are bent by the fuzzing, and the rows that must survive it."""

import json
from typing import Any

from tests.ingest.records import (
    EVAL,
    FIXED,
    META_ENV,
    MULTINODE,
    agentic,
    results,
)

# What marks a good row: no sound record and no odd value has these concurrencies.
IN_OTHER_ARTIFACT = 4099
IN_OTHER_MEMBER = 4100
BEFORE, BEHIND = 4101, 4102
GOOD_TPUT = 3156.8

CHANGELOG: dict[str, Any] = {
    "base_ref": "a",
    "head_ref": "b",
    "entries": [
        {
            "config-keys": ["qwen3.5-fp4-mi355x-sglang", "qwen3.5-*"],
            "description": ["a newer image"],
            "pr-link": "https://github.com/SemiAnalysisAI/InferenceX/pull/17",
            "scenario-type": ["8k1k"],
            "evals-only": False,
        }
    ],
}
RUN_STATS: dict[str, Any] = {"mi355x": {"n_success": 1, "total": 1}}
REUSED: dict[str, Any] = {"source_run_id": 31, "ingest_run_id": 32}

# Artifact, member, value; a value that is a list holds records beside each other.
SOUND: tuple[tuple[str, str, Any], ...] = (
    ("results_bmk", "agg_bmk.json", [FIXED]),
    ("results_bmk", "agg_bmk.json", [FIXED | MULTINODE]),
    ("results_bmk", "agg_bmk.json", [agentic()]),
    ("bmk_qwen3.5_1k1k_fp4_sglang_tp2-ep1-dpafalse_conc64_mi355x", "a.json", FIXED),
    ("bmk_agentic_qwen3.5_tp2_users4", "a.json", agentic()),
    ("eval_results_all", "agg_eval_all.json", [EVAL]),
    ("eval_qwen3.5_1k1k", "meta_env.json", META_ENV),
    ("eval_qwen3.5_1k1k", "results_2026-08-01T20-00-00.json", results()),
    ("changelog-metadata", "changelog_metadata.json", CHANGELOG),
    ("run-stats", "run_stats.json", RUN_STATS),
    ("reused-ingest-metadata", "reused.json", REUSED),
    ("reused-ingest-artifacts", "bmk_x/a.json", FIXED),
)


def good(concurrency: int) -> dict[str, Any]:
    """Return a sound row that is marked by its concurrency."""
    return FIXED | {"conc": concurrency, "tput_per_gpu": GOOD_TPUT}


def written(value: object) -> bytes:
    """Write JSON as the harness does, odd values included."""
    return json.dumps(value).encode()
