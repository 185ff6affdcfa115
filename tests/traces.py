"""Lines of replayed traces, and points whose requests are kept in the raw store."""

import hashlib
import io
import json
from typing import Any

from dashboard.models import Point
from dashboard.vocabulary.scenarios import AGENTIC
from ingest.raw_store import keep
from tests import factories

MEMBER = "aiperf_artifacts/profile_export.jsonl"
RESULT = "qwen3.5_tp2_conc4_fp4_sglang_conc4_mi355x-amds_01_recipe-" + "a" * 16
SECOND = 1_000_000_000


def record(
    turn: int = 0, start_s: float = 0.0, e2e_s: float = 2.0, **changes: Any
) -> dict[str, Any]:
    """A request as the client writes it, ``start_s`` after some moment."""
    start = 1_788_000_000 * SECOND + round(start_s * SECOND)
    values = {
        "input_sequence_length": (1000, "tokens"),
        "output_sequence_length": (100, "tokens"),
        "time_to_first_token": (500.0, "ms"),
        "request_latency": (e2e_s * 1000, "ms"),
        "inter_token_latency": (10.0, "ms"),
        "full_response_inter_token_latency": (12.5, "ms"),
    }
    values |= changes.pop("metrics", {})
    about = {
        "conversation_id": "t17::sa:a1",
        "turn_index": turn,
        "request_start_ns": start,
        "request_end_ns": start + round(e2e_s * SECOND),
        "benchmark_phase": "profiling",
        "was_cancelled": False,
    }
    return {
        "metadata": about | changes.pop("metadata", {}),
        "metrics": {n: {"value": v, "unit": u} for n, (v, u) in values.items()},
        "error": changes.pop("error", None),
    }


def lines(*records: object) -> bytes:
    """One line per record; bytes stand as they are."""
    return b"".join(
        (r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records
    )


def warm_up(**changes: Any) -> dict[str, Any]:
    return record(metadata={"benchmark_phase": "warmup"}, **changes)


def agentic_point(content: bytes | None = None, **given: Any) -> Point:
    """A point of a replay; with ``content`` its requests are in the raw store."""
    member = given.pop("member", MEMBER)
    state = given.pop("state", "fetched")
    sweep = given.pop("sweep", None) or factories.SweepFactory(
        scenario=AGENTIC, official=True
    )
    upload = factories.ArtifactFactory(
        run=sweep.run, name=f"bmk_agentic_{RESULT}", kind="bmk_agentic"
    )
    if content is not None:
        sha256 = hashlib.sha256(content).hexdigest()
        keep(io.BytesIO(content), sha256, len(content))
        factories.ArtifactFactory(
            run=sweep.run,
            name=f"agentic_{RESULT}",
            kind="agentic",
            members=[[member, len(content), sha256]],
            state=state,
        )
    made: Point = factories.PointFactory(
        sweep=sweep,
        concurrency=4,
        raw_record=factories.RawRecordFactory(artifact=upload),
        **given,
    )
    return made
