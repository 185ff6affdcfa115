"""Eval rows: the aggregate's, and an eval artifact's own two kinds of file."""

from pydantic import Field

from ingest.schemas.fields import RecordModel
from ingest.schemas.points import Measured


class EvalRecord(Measured):
    """A row of the aggregate; scores and standard errors are fractions."""

    task: str
    em_strict: float | None = None
    em_strict_se: float | None = None
    em_flexible: float | None = None
    em_flexible_se: float | None = None
    accuracy: float | None = None
    score: float | None = None
    n_eff: int | None = None
    source: str | None = None
    disagg: object = None


class MetaEnv(Measured):
    """What an eval job was run on; batched jobs list their concurrencies."""

    eval_concs: list[int] | None = None
    completed_eval_concs: list[int] | None = None
    failed_eval_concs: list[int] | None = None
    recipe_fingerprint: object = None


class Metric(RecordModel):
    """A metric that a task computes."""

    metric: str = "exact_match"


class TaskConfig(RecordModel):
    """How a task was configured."""

    metric_list: list[Metric] = Field(default_factory=list)


class SampleCount(RecordModel):
    """How many questions a task has, and how many were asked."""

    original: int | None = None
    effective: int | None = None


class EvalResults(RecordModel):
    """A results file; scores are keyed ``<metric>,<filter>`` per task."""

    lm_eval_version: str | None = None
    model_name: str | None = None
    results: dict[str, dict[str, object]]
    configs: dict[str, TaskConfig] = Field(default_factory=dict)
    n_samples: dict[str, SampleCount] = Field(default_factory=dict, alias="n-samples")
    date: float | None = None
