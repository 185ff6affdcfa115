"""Measures the memory and time that the requests of one large replay take.

``python benchmarks/traces.py [--mb 320]``: a bundle whose raw artifact is a zip with a
``profile_export.jsonl`` of that size, a line per request. Ingestion and the reading of
the requests each have a process of their own, on a database of their own on the server
of DATABASE_URL or on an embedded one. Ends with 1 where a peak is above 300 MB.
"""

import argparse
import json
import random
import resource
import sys
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.ingest import database, manage

MOST_MEMORY_MB = 300
MB = 1 << 20
RESULT = (
    "qwen3.5_tp2_conc4_kvnone_fp4_sglang_tp2-pp1-dcp1-pcp1-ep1-dpafalse"
    "_disagg-false_spec-none_conc4_mi355x-amds_01"
)
RUN = {
    "id": 90001, "run_attempt": 1, "event": "push", "head_branch": "main",
    "head_sha": "a" * 40, "status": "completed", "conclusion": "success",
    "created_at": "2026-08-01T20:00:00Z", "run_started_at": "2026-08-01T20:00:05Z",
    "path": ".github/workflows/run-sweep.yml",
    "repository": {"full_name": "SemiAnalysisAI/InferenceX"},
}  # fmt: skip
ROW = {
    "hw": "mi355x-amds", "conc": 4, "image": "img/sglang:1", "recipe_fingerprint": "",
    "model": "org-a/Model-397B-FP4", "infmax_model_prefix": "qwen3.5",
    "framework": "sglang", "precision": "fp4", "spec_decoding": "none",
    "disagg": False, "scenario_type": "agentic-coding", "is_multinode": False,
    "tp": 2, "ep": 1, "dp_attention": "false", "pp": 1, "dcp_size": 1, "pcp_size": 1,
    "kv_offloading": "none", "num_requests_total": 9, "num_requests_successful": 9,
    "request_metrics": {"latency": {"ttft": {"mean": 1.1, "p50": 0.8, "p90": 2.2}}},
}  # fmt: skip


def make_bundle(folder: Path, size: int) -> int:
    """Write the bundle; return how many requests ``size`` bytes of lines hold."""
    record = folder / "artifacts" / f"1001-bmk_agentic_{RESULT}"
    record.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(RUN))
    (record / f"{RESULT}.json").write_text(json.dumps(ROW))
    items = [
        {"id": 1001, "name": f"bmk_agentic_{RESULT}"},
        {"id": 1002, "name": f"agentic_{RESULT}"},
    ]
    (folder / "artifacts.json").write_text(json.dumps(items))
    chance = random.Random(1)  # noqa: S311  made-up requests
    path = folder / "artifacts" / f"1002-agentic_{RESULT}.zip"
    count = written = 0
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
        packed.open(
            "aiperf_artifacts/profile_export.jsonl", "w", force_zip64=True
        ) as out,
    ):
        while written < size:
            written += out.write(_line(count, chance))
            count += 1
    return count


def _line(number: int, chance: random.Random) -> bytes:
    """Write a request as long as those that were recorded."""
    start = 1_788_000_000_000_000_000 + number * 3_000_000
    first, each = chance.uniform(200, 4000), chance.uniform(3, 30)
    tokens = chance.randrange(10, 3000)
    whole = first + each * tokens
    metrics = {
        "input_sequence_length": (chance.randrange(1000, 200_000), "tokens"),
        "output_sequence_length": (tokens, "tokens"),
        "time_to_first_token": (first, "ms"),
        "request_latency": (whole, "ms"),
        "inter_token_latency": (each, "ms"),
        "full_response_inter_token_latency": (each, "ms"),
    }
    about = {
        "session_num": number,
        "x_request_id": f"{chance.getrandbits(128):032x}",
        "x_correlation_id": f"{chance.getrandbits(128):032x}",
        "conversation_id": f"trace-{number % 2000:x}",
        "turn_index": number // 2000,
        "request_start_ns": start,
        "request_end_ns": start + round(whole * 1e6),
        "worker_id": "worker_b5918d6a",
        "benchmark_phase": "warmup" if number < 100 else "profiling",  # noqa: PLR2004
        "was_cancelled": False,
    }
    values = {name: {"value": v, "unit": unit} for name, (v, unit) in metrics.items()}
    record = {"metadata": about, "metrics": values, "error": None}
    return json.dumps(record).encode() + b"\n"


def ingest_here(folder: Path) -> dict[str, float]:
    """Ingest the bundle in this process; return seconds and the peak in MB."""
    import django  # noqa: PLC0415  the process that compares needs no Django

    django.setup()
    from ingest.artifacts.bundles import open_bundle  # noqa: PLC0415
    from ingest.pipeline import ingest_bundle, limits  # noqa: PLC0415

    start = time.perf_counter()
    ingest_bundle(open_bundle(folder, limits()))
    return _measured(start)


def read_here() -> dict[str, float]:
    """Read the requests in this process; return seconds, the peak and the count."""
    import django  # noqa: PLC0415  the process that compares needs no Django

    django.setup()
    from dashboard.models import Point  # noqa: PLC0415
    from ingest.progress import silent  # noqa: PLC0415
    from ingest.traces import read_trace  # noqa: PLC0415

    start = time.perf_counter()
    trace = read_trace(Point.objects.get().pk, silent)
    return _measured(start) | {
        "requests": trace.counts["requests"],
        "skipped": sum(trace.counts["skipped"].values()),
        "kept": trace.kept,
    }


def _measured(start: float) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": time.perf_counter() - start, "peak_mb": peak}


def compare(mb: int) -> bool:
    """Print all figures; tell whether the required ones are reached."""
    with database() as env:
        folder = Path(env["FRONTIERBOARD_DATA"]) / "bundle"
        count = make_bundle(folder, mb * MB)
        manage("manage.py", "migrate", "--verbosity=0", env=env)
        print(f"{count:,} requests, {mb} MB of lines in a zip", flush=True)
        peaks = []
        for title, words in (
            ("ingested", ("--ingest", str(folder))),
            ("requests read", ("--read",)),
        ):
            text = manage(__file__, *words, env=env)
            found = json.loads(text.splitlines()[-1])
            peaks.append(found["peak_mb"])
            seconds, peak = found["seconds"], found["peak_mb"]
            print(f"{title:14} {seconds:6.1f} s, peak {peak:.0f} MB", flush=True)
        print(
            f"kept {found['kept']:,} of {found['requests']:,}, {found['skipped']} out"
        )
    return bool(max(peaks) < MOST_MEMORY_MB and found["requests"] == count)


def main() -> int:
    """Print the figures; 0 where those required are reached, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=320)
    parser.add_argument("--ingest", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ingest is not None:
        print(json.dumps(ingest_here(options.ingest)))
        return 0
    if options.read:
        print(json.dumps(read_here()))
        return 0
    return 0 if compare(options.mb) else 1


if __name__ == "__main__":
    sys.exit(main())
