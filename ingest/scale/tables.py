"""The tables that are filled, with the columns that ingestion leaves to others."""

from django.db import models

from dashboard.models import (
    Checkpoint,
    ConfigDefinition,
    ConfigSight,
    Judgement,
    Regression,
    Repository,
    TriageEvent,
)
from ingest import tables
from ingest.upserts import Table


def _with_ids(table: Table, *more: str) -> Table:
    """Return the table with ids of our own, and columns that derivation decides."""
    return Table(table.model, ("id", *table.columns, *more), table.key)


def _whole(model: type[models.Model], *columns: str) -> Table:
    return Table(model, columns, ("id",))


REPOSITORIES = _whole(
    Repository, "id", "full_name", "is_official", "sweep_workflow", "default_branch"
)
CHECKPOINTS = _whole(Checkpoint, "id", "name")
DEPLOYMENTS = _with_ids(tables.DEPLOYMENTS)
CONFIG_KEYS = _with_ids(tables.CONFIG_KEYS, "definition_id")
DEFINITIONS = _whole(
    ConfigDefinition,
    *("id", "config_key_id", "digest", "checkpoint_id", "image", "runner", "entry"),
    *("first_seen_sha", "first_seen_at", "last_seen_sha", "last_seen_at"),
)
SIGHTS = _whole(ConfigSight, "definition_id", "repository_id", "is_mainline", "last_at")
RUNS = _with_ids(tables.RUNS, "planned_count")
ARTIFACTS = _with_ids(tables.ARTIFACTS_BY_ID)
RECORDS = _with_ids(tables.RECORDS)
SWEEPS = _with_ids(
    tables.SWEEPS,
    *("harness", "pools", "grid", "state", "extends_id", "previous_id"),
    *("segment", "breaks", "markers", "is_swap", "official_at"),
)
JUDGEMENTS = _whole(
    Judgement,
    *("sweep_id", "baseline_id", "verdict", "reason", "sentence", "change", "numbers"),
)
REGRESSIONS = _whole(
    Regression,
    *("id", "run_id", "config_key_id", "scenario", "kind", "sweep_id", "baseline_id"),
    *("is_active", "is_strong", "change", "summary", "numbers", "recovered_by_id"),
    *("recovered_at", "checks", "state"),
)
TRIAGE_EVENTS = _whole(
    TriageEvent,
    *("regression_id", "author", "from_state", "to_state", "owner", "note"),
)
ATTEMPTS, JOBS, CHANGELOG = tables.ATTEMPTS, tables.JOBS, tables.CHANGELOG
CONFIG_CHANGES, RUN_STATS = tables.CONFIG_CHANGES, tables.RUN_STATS
SKIPS, POINTS, EVALS = tables.SKIPS, tables.POINTS, tables.EVALS
