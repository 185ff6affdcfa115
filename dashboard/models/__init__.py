"""The tables, one file per group; names are the words of the field."""

from dashboard.models.changes import (
    ChangelogEntry,
    ConfigChange,
    FileDefect,
    Notice,
)
from dashboard.models.configs import (
    Checkpoint,
    CheckpointAlias,
    ConfigDefinition,
    ConfigFile,
    ConfigKey,
    ConfigMatrix,
    ConfigRecipe,
    ConfigSight,
    ConfigSnapshot,
)
from dashboard.models.corrections import Correction
from dashboard.models.evals import EvalFloor, EvalResult, EvalSample
from dashboard.models.fetches import Fetch, ReuseLink, WebhookDelivery
from dashboard.models.generation import Generation
from dashboard.models.jobs import BenchmarkJob
from dashboard.models.points import Deployment, Point, Sweep
from dashboard.models.prices import HardwarePrice
from dashboard.models.published import PublishedRow
from dashboard.models.requests import IngestRequest
from dashboard.models.runs import (
    Artifact,
    Job,
    RawRecord,
    Repository,
    Run,
    RunAttempt,
    RunStat,
    Skip,
)
from dashboard.models.tokens import ApiToken
from dashboard.models.traces import RequestTrace
from dashboard.models.triage import (
    Judgement,
    Noise,
    PullRequestComment,
    Regression,
    TriageEvent,
)

__all__ = [
    "ApiToken",
    "Artifact",
    "BenchmarkJob",
    "ChangelogEntry",
    "Checkpoint",
    "CheckpointAlias",
    "ConfigChange",
    "ConfigDefinition",
    "ConfigFile",
    "ConfigKey",
    "ConfigMatrix",
    "ConfigRecipe",
    "ConfigSight",
    "ConfigSnapshot",
    "Correction",
    "Deployment",
    "EvalFloor",
    "EvalResult",
    "EvalSample",
    "Fetch",
    "FileDefect",
    "Generation",
    "HardwarePrice",
    "IngestRequest",
    "Job",
    "Judgement",
    "Noise",
    "Notice",
    "Point",
    "PublishedRow",
    "PullRequestComment",
    "RawRecord",
    "Regression",
    "Repository",
    "RequestTrace",
    "ReuseLink",
    "Run",
    "RunAttempt",
    "RunStat",
    "Skip",
    "Sweep",
    "TriageEvent",
    "WebhookDelivery",
]
