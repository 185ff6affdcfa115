"""Tables as rows go into them: columns in order, natural key, what is decided later."""

from dashboard.models import (
    Artifact,
    BenchmarkJob,
    ChangelogEntry,
    ConfigChange,
    ConfigFile,
    ConfigKey,
    ConfigRecipe,
    ConfigSnapshot,
    Deployment,
    EvalResult,
    EvalSample,
    FileDefect,
    Job,
    Point,
    RawRecord,
    Run,
    RunAttempt,
    RunStat,
    Skip,
    Sweep,
)
from dashboard.vocabulary import deployments
from ingest.upserts import Table

HOT_METRICS = (
    "tput_per_gpu",
    "output_tput_per_gpu",
    "input_tput_per_gpu",
    "median_intvty",
    "p90_intvty",
    "median_ttft",
    "p90_ttft",
    "median_tpot",
    "median_e2el",
    "p90_e2el",
)
POINT_KEY = ("sweep_id", "deployment_id", "concurrency", "fingerprint", "attempt")

RUNS = Table(
    Run,
    (
        "repository_id",
        "github_run_id",
        "workflow_path",
        "title",
        "event",
        "branch",
        "sha",
        "pr_number",
        "actor",
        "url",
        "status",
        "conclusion",
        "attempt",
        "created_at",
        "jobs_known",
        # Written when new, decided later.
        "publication",
        "snapshot",
        "recipes",
        "received_count",
        "eval_count",
        "skip_count",
    ),
    ("github_run_id",),
    kept=frozenset(
        {
            "repository_id",
            # The changelog may tell it where GitHub's run object does not.
            "pr_number",
            "publication",
            "snapshot",
            "recipes",
            "received_count",
            "eval_count",
            "skip_count",
        }
    ),
)
ATTEMPTS = Table(
    RunAttempt,
    ("run_id", "attempt", "status", "conclusion", "started_at", "finished_at"),
    ("run_id", "attempt"),
)
JOBS = Table(
    Job,
    (
        "run_id",
        "github_job_id",
        "attempt",
        "name",
        "status",
        "conclusion",
        "runner_name",
        "started_at",
        "finished_at",
    ),
    ("run_id", "github_job_id"),
)
BENCHMARK_JOBS = Table(
    BenchmarkJob,
    (
        *("run_id", "name", "is_eval", "config_key", "scenario", "hardware"),
        *("cluster", "outcome", "attempt", "failed_attempts", "is_after_retry"),
    ),
    ("run_id", "name"),
)
_ARTIFACT_COLUMNS = (
    "run_id",
    "github_artifact_id",
    "name",
    "sha256",
    "kind",
    "name_parts",
    "attempt",
    "size_bytes",
    "uploaded_at",
    "expired",
    "expires_at",
    "members",
    "state",
    "reason",
)
ARTIFACTS_BY_ID = Table(
    Artifact,
    _ARTIFACT_COLUMNS,
    ("run_id", "github_artifact_id"),
    where="github_artifact_id IS NOT NULL",
)
ARTIFACTS_BY_BYTES = Table(
    Artifact,
    _ARTIFACT_COLUMNS,
    ("run_id", "name", "sha256"),
    where="github_artifact_id IS NULL",
)
RECORDS = Table(
    RawRecord,
    ("artifact_id", "member", "index", "sha256", "body"),
    ("artifact_id", "member", "index"),
    # A record stays as it was uploaded.
    kept=frozenset({"sha256", "body"}),
)
SKIPS = Table(
    Skip,
    (
        "run_id",
        "artifact_id",
        "member",
        "index",
        "reason",
        "detail",
        "is_from_reading",
    ),
    ("run_id", "artifact_id", "member", "index", "reason"),
)
CHANGELOG = Table(
    ChangelogEntry,
    (
        "run_id",
        "base_ref",
        "head_ref",
        "index",
        "raw_keys",
        "expanded_keys",
        "unknown_keys",
        "description",
        "pr_link",
        "pr_number",
        "link_state",
        "scenario_types",
        "evals_only",
        "all_evals",
        "append_only",
        "defects",
    ),
    ("run_id", "base_ref", "head_ref", "index"),
)
# Entries of a repository's whole file: they belong to no run.
CHANGELOG_FILE = Table(
    ChangelogEntry,
    (
        "repository_id",
        "index",
        "base_ref",
        "head_ref",
        "raw_keys",
        "expanded_keys",
        "unknown_keys",
        "retired_keys",
        "description",
        "pr_link",
        "pr_number",
        "link_state",
        "scenario_types",
        "evals_only",
        "all_evals",
        "append_only",
        "defects",
    ),
    ("repository_id", "index"),
    where="run_id IS NULL",
)
CONFIG_CHANGES = Table(
    ConfigChange,
    (
        *("repository_id", "config_key", "kind", "sha"),
        *("at", "before", "after", "is_swap"),
    ),
    ("repository_id", "config_key", "kind", "sha"),
)
FILE_DEFECTS = Table(
    FileDefect,
    ("repository", "name", "sha", "text"),
    ("repository", "name", "sha", "text"),
)
RUN_STATS = Table(
    RunStat,
    ("run_id", "raw_key", "hardware", "successes", "total"),
    ("run_id", "raw_key"),
)
DEPLOYMENTS = Table(
    Deployment,
    (*deployments.Deployment._fields, "label"),
    deployments.Deployment._fields,
)
CONFIG_KEYS = Table(
    ConfigKey,
    (
        "key",
        "model",
        "precision",
        "hardware",
        "framework",
        "scenario_kind",
        "is_synthetic",
    ),
    ("key",),
    kept=frozenset(
        {
            "model",
            "precision",
            "hardware",
            "framework",
            "scenario_kind",
            "is_synthetic",
        }
    ),
)
SWEEPS = Table(
    Sweep,
    (
        "run_id",
        "config_key_id",
        "scenario",
        "checkpoint_id",
        "image",
        "images",
        "fingerprints",
        "precision",
        "spec_methods",
        "acceptance_source",
        "acceptance_length",
        "acceptance_evidence",
        "planned",
        "planned_count",
        "received_count",
        "mapping_method",
        "mapping_candidates",
        "mapping_flags",
        "measured_at",
        "state_reason",
    ),
    ("run_id", "config_key_id", "scenario"),
    # Decided by derivation.
    kept=frozenset({"received_count", "state_reason"}),
)
POINTS = Table(
    Point,
    (
        *POINT_KEY,
        "is_current",
        "is_excluded",
        "is_out",
        "flags",
        "image",
        "runner",
        "gpus",
        "prefill_gpus",
        "decode_gpus",
        *HOT_METRICS,
        "metrics",
        "more_metrics",
        "facts",
        "raw_record_id",
    ),
    POINT_KEY,
    # Decided by derivation, once all attempts are there.
    kept=frozenset({"is_current", "is_excluded"}),
)
EVALS = Table(
    EvalResult,
    (
        "run_id",
        "config_key_id",
        "deployment_id",
        "scenario",
        "concurrency",
        "task",
        "attempt",
        "strict",
        "strict_se",
        "flexible",
        "flexible_se",
        "score",
        "n",
        "lm_eval_version",
        "measured_at",
        "result_file",
        "repeats",
        "is_current",
        "mapping_method",
        "mapping_candidates",
        "flags",
        "raw_record_id",
    ),
    (
        "run_id",
        "config_key_id",
        "deployment_id",
        "scenario",
        "concurrency",
        "task",
        "attempt",
    ),
    # Decided by derivation: people may exclude an attempt.
    kept=frozenset({"is_current"}),
)
SAMPLES = Table(
    EvalSample,
    (
        *("eval_id", "doc_id", "filter", "score", "passed"),
        *("prompt", "target", "answer", "extracted"),
    ),
    ("eval_id", "doc_id", "filter"),
)
CONFIG_FILES = Table(ConfigFile, ("sha256", "text"), ("sha256",))
CONFIG_RECIPES = Table(
    ConfigRecipe, ("matrix_id", "fingerprint", "digits"), ("matrix_id", "fingerprint")
)
CONFIG_SNAPSHOTS = Table(
    ConfigSnapshot,
    ("repository_id", "sha", "name", "at", "file_id", "is_applied"),
    ("repository_id", "sha", "name"),
    kept=frozenset({"at", "is_applied"}),
)
