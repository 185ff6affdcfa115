"""What each recorded run bundle must give, and a checksum over all that was stored."""

from pathlib import Path

from django.db import connection
from django.utils.dateparse import parse_datetime

from dashboard.models import EvalResult, Point, Run, Skip, Sweep
from ingest.artifacts.bundles import open_bundle
from ingest.pipeline import Report, import_config_files, ingest_bundle, limits

MASTERS_SHA = "843c6254"
MASTERS_AT = "2026-08-21T22:25:16Z"
OLD, NEW = "amd/Qwen3.5-397B-A17B-MXFP4", "amd/Qwen3.5-397B-A17B-MXFP4-AttnFP8-V2"
AGENTIC = "qwen3.5-fp4-mi355x-sglang-agentic-mtp"
SGLANG, MTP = "qwen3.5-fp4-mi355x-sglang", "qwen3.5-fp4-mi355x-sglang-mtp"
ATOM = "qwen3.5-fp4-mi355x-atom"

# run: {key: (points, planned, checkpoint)}, evals, skips by reason
Expected = tuple[dict[str, tuple[int, int, str]], int, dict[str, int]]
EXPECTED: dict[int, Expected] = {
    31544080186: ({AGENTIC: (0, 41, OLD)}, 26, {"failed_run": 3}),
    31560100623: ({AGENTIC: (26, 41, OLD)}, 0, {"failed_run": 15}),
    31900000004: ({AGENTIC: (16, 16, OLD)}, 1, {}),
    33100000001: (
        {ATOM: (10, 10, OLD), SGLANG: (10, 10, OLD), MTP: (9, 9, OLD)},
        6,
        {},
    ),
    33300000002: ({SGLANG: (10, 10, OLD), MTP: (9, 9, OLD)}, 4, {}),
    33400000005: (
        {
            "dsr1-fp4-gb200-dynamo-trt": (17, 17, "nvidia/DeepSeek-R1-0528-NVFP4-v2"),
            "dsv4-fp4-b200-dynamo-sglang-mtp": (8, 8, "deepseek-ai/DeepSeek-V4-Pro"),
            "qwen3.5-fp8-gb200-dynamo-sglang": (8, 8, "Qwen/Qwen3.5-397B-A17B-FP8"),
        },
        17,
        {},
    ),
    33484262630: ({SGLANG: (7, 10, NEW), MTP: (6, 9, NEW)}, 4, {}),
    33588417338: ({AGENTIC: (8, 16, OLD)}, 0, {}),
    33598359757: ({SGLANG: (7, 7, NEW), MTP: (6, 6, NEW)}, 4, {}),
    33700000003: ({}, 0, {}),
    33500000006: ({SGLANG: (7, 7, NEW), MTP: (6, 6, NEW)}, 4, {}),
    33600000007: ({SGLANG: (7, 7, NEW), MTP: (6, 6, NEW)}, 4, {}),
}
RUN_IDS = tuple(EXPECTED)

# The content of each table without ids and times of storing: equal for equal states.
_CONTENT = {
    "runs": """
        SELECT github_run_id, title, publication, published_at, reuse_source_run_id,
               pr_number, planned_count, received_count, eval_count, skip_count,
               eval_planned_count, eval_plan,
               snapshot, attempt, conclusion FROM dashboard_run""",
    "sweeps": """
        SELECT r.github_run_id, k.key, s.scenario, c.name, s.image, s.images,
               s.fingerprints, s.spec_methods, s.acceptance_source,
               s.acceptance_length, s.acceptance_evidence, s.planned,
               s.received_count, s.mapping_method, s.mapping_candidates,
               s.mapping_flags, s.state, s.state_reason,
               e.run_id IS NULL, s.measured_at, s.official_at, s.harness, s.pools,
               s.grid, before.github_run_id, s.segment, s.breaks, s.markers, s.is_swap
        FROM dashboard_sweep s JOIN dashboard_run r ON r.id = s.run_id
        JOIN dashboard_configkey k ON k.id = s.config_key_id
        LEFT JOIN dashboard_checkpoint c ON c.id = s.checkpoint_id
        LEFT JOIN dashboard_sweep e ON e.id = s.extends_id
        LEFT JOIN dashboard_sweep p ON p.id = s.previous_id
        LEFT JOIN dashboard_run before ON before.id = p.run_id""",
    "points": """
        SELECT r.github_run_id, k.key, s.scenario, d.label, p.concurrency,
               p.fingerprint, p.attempt, p.is_current, p.is_excluded, p.is_out,
               p.flags, p.image, p.runner, p.gpus, p.tput_per_gpu, p.metrics,
               p.more_metrics, p.facts, a.name, rec.member, rec.index, rec.sha256
        FROM dashboard_point p JOIN dashboard_sweep s ON s.id = p.sweep_id
        JOIN dashboard_run r ON r.id = s.run_id
        JOIN dashboard_configkey k ON k.id = s.config_key_id
        JOIN dashboard_deployment d ON d.id = p.deployment_id
        LEFT JOIN dashboard_rawrecord rec ON rec.id = p.raw_record_id
        LEFT JOIN dashboard_artifact a ON a.id = rec.artifact_id""",
    "evals": """
        SELECT r.github_run_id, k.key, d.label, e.scenario, e.concurrency, e.task,
               e.attempt, e.strict, e.flexible, e.n, e.is_current, e.mapping_method,
               e.result_file, e.repeats, e.flags, e.samples_source
        FROM dashboard_evalresult e JOIN dashboard_run r ON r.id = e.run_id
        JOIN dashboard_configkey k ON k.id = e.config_key_id
        JOIN dashboard_deployment d ON d.id = e.deployment_id""",
    "samples": """
        SELECT r.github_run_id, d.label, e.concurrency, e.task, e.attempt, s.doc_id,
               s.filter, s.score, s.passed, s.prompt, s.target, s.answer, s.extracted
        FROM dashboard_evalsample s JOIN dashboard_evalresult e ON e.id = s.eval_id
        JOIN dashboard_run r ON r.id = e.run_id
        JOIN dashboard_deployment d ON d.id = e.deployment_id""",
    "skips": """
        SELECT r.github_run_id, a.name, s.member, s.index, s.reason, s.detail
        FROM dashboard_skip s JOIN dashboard_run r ON r.id = s.run_id
        LEFT JOIN dashboard_artifact a ON a.id = s.artifact_id""",
    "changelog": """
        SELECT r.github_run_id, c.index, c.raw_keys, c.expanded_keys, c.unknown_keys,
               c.link_state FROM dashboard_changelogentry c
        JOIN dashboard_run r ON r.id = c.run_id""",
    "keys": """
        SELECT k.key, k.model, k.precision, k.hardware, k.framework, k.is_synthetic,
               d.digest FROM dashboard_configkey k
        LEFT JOIN dashboard_configdefinition d ON d.id = k.definition_id""",
    "definitions": """
        SELECT k.key, d.digest, d.first_seen_sha, d.last_seen_sha
        FROM dashboard_configdefinition d
        JOIN dashboard_configkey k ON k.id = d.config_key_id""",
    "stats": """
        SELECT r.github_run_id, s.raw_key, s.successes, s.total
        FROM dashboard_runstat s JOIN dashboard_run r ON r.id = s.run_id""",
}
_STAMPED = ("run", "artifact", "sweep", "point", "evalresult", "configkey")
_UNSTAMPED = (
    "rawrecord",
    "skip",
    "changelogentry",
    "runstat",
    "deployment",
    "job",
    "evalsample",
)


def import_masters(shared: Path) -> None:
    """Import the recorded master configs at their commit."""
    files = {
        path.name: path.read_text() for path in (shared / "configs").glob("*.yaml")
    }
    at = parse_datetime(MASTERS_AT)
    assert at is not None
    import_config_files(
        files, repository="SemiAnalysisAI/InferenceX", sha=MASTERS_SHA, at=at
    )


def ingest(shared: Path, run_id: int) -> Report:
    """Ingest one recorded bundle."""
    return ingest_bundle(open_bundle(shared / "runs" / str(run_id), limits()))


def state() -> dict[str, str]:
    """Return a checksum per table over what is stored, ids and stamps left out."""
    with connection.cursor() as cursor:
        sums = {}
        for name, query in _CONTENT.items():
            cursor.execute(
                "SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text "
                f"COLLATE \"C\"), '')) FROM ({query}) t"
            )
            sums[name] = cursor.fetchone()[0]
    return sums


def stamps() -> dict[str, list[tuple[object, ...]]]:
    """Return ids, and where there is one the time of the last change, per table."""
    found = {}
    with connection.cursor() as cursor:
        for name in _STAMPED:
            cursor.execute(f"SELECT id, updated_at FROM dashboard_{name} ORDER BY id")
            found[name] = cursor.fetchall()
        for name in _UNSTAMPED:
            cursor.execute(f"SELECT id FROM dashboard_{name} ORDER BY id")
            found[name] = cursor.fetchall()
    return found


def seen(run_id: int) -> Expected:
    """Return what the tables hold of a run, in the shape of the expectation."""
    run = Run.objects.get(github_run_id=run_id)
    sweeps = {
        sweep.config_key.key: (
            Point.objects.filter(sweep=sweep, is_current=True).count(),
            sweep.planned_count,
            str(sweep.checkpoint),
        )
        for sweep in Sweep.objects.filter(run=run)
    }
    reasons: dict[str, int] = {}
    for skip in Skip.objects.filter(run=run):
        reasons[skip.reason] = reasons.get(skip.reason, 0) + 1
    evals = EvalResult.objects.filter(run=run, is_current=True).count()
    return sweeps, evals, reasons  # type: ignore[return-value]
