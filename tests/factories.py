"""Rows for tests: one factory per table, each with a plain, consistent default."""

# mypy: disable-error-code="misc"

from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from dashboard import models
from dashboard.analysis.frames import HOT_METRICS
from dashboard.vocabulary import deployments

# The types that factory-boy ships know no field: a factory would have no attribute.
if TYPE_CHECKING:
    factory: Any
    DjangoModelFactory = Any
else:
    import factory
    from factory.django import DjangoModelFactory

START = datetime(2026, 8, 1, 20, tzinfo=UTC)


def _digest(text: object) -> str:
    return sha256(str(text).encode()).hexdigest()


class RepositoryFactory(DjangoModelFactory):
    class Meta:
        model = models.Repository
        django_get_or_create = ("full_name",)

    full_name = "example/bench"
    is_official = True


class RunFactory(DjangoModelFactory):
    """An unofficial pull-request run; ``official=True`` makes it a push to main."""

    class Meta:
        model = models.Run

    class Params:
        official = factory.Trait(
            publication="official", event="push", branch="main", pr_number=None
        )

    repository = factory.SubFactory(RepositoryFactory)
    github_run_id = factory.Sequence(lambda n: 90001 + n)
    workflow_path = ".github/workflows/run-sweep.yml"
    title = factory.Sequence(lambda n: f"Sweep number {n}")
    event = "pull_request"
    branch = "feature"
    sha = factory.LazyAttribute(lambda run: _digest(run.github_run_id)[:40])
    pr_number = 501
    actor = "octocat"
    url = factory.LazyAttribute(
        lambda run: (
            f"https://github.com/{run.repository.full_name}"
            f"/actions/runs/{run.github_run_id}"
        )
    )
    status = "completed"
    conclusion = "success"
    created_at = factory.Sequence(lambda n: START + timedelta(hours=n))
    publication = "unofficial"
    jobs_known = True


class RunAttemptFactory(DjangoModelFactory):
    class Meta:
        model = models.RunAttempt

    run = factory.SubFactory(RunFactory)
    attempt = 1
    status = "completed"
    conclusion = "success"
    started_at = factory.LazyAttribute(lambda row: row.run.created_at)
    finished_at = factory.LazyAttribute(
        lambda row: row.run.created_at + timedelta(hours=2)
    )


class JobFactory(DjangoModelFactory):
    class Meta:
        model = models.Job

    run = factory.SubFactory(RunFactory)
    github_job_id = factory.Sequence(lambda n: 700001 + n)
    name = factory.Sequence(lambda n: f"single-node 8k1k / qwen3.5 fp4 TP2 c{n + 1}")
    status = "completed"
    conclusion = "success"


class BenchmarkJobFactory(DjangoModelFactory):
    class Meta:
        model = models.BenchmarkJob

    run = factory.SubFactory(RunFactory)
    name = factory.Sequence(
        lambda n: f"single-node 8k1k / / p3 | qwen3.5 fp4 mi355x sgl TP2 c{n + 1}"
    )
    is_eval = False
    config_key = "qwen3.5-fp4-mi355x-sglang"
    scenario = "8k/1k"
    hardware = "mi355x"
    cluster = "mi355x-amds"
    outcome = "succeeded"
    attempt = 1
    failed_attempts = 0
    is_after_retry = False


class ArtifactFactory(DjangoModelFactory):
    class Meta:
        model = models.Artifact

    run = factory.SubFactory(RunFactory)
    github_artifact_id = factory.Sequence(lambda n: 500001 + n)
    name = "results_bmk"
    kind = "results_bmk"
    size_bytes = 2048
    uploaded_at = factory.LazyAttribute(lambda row: row.run.created_at)
    sha256 = factory.LazyAttribute(lambda row: _digest(row.github_artifact_id))
    members = factory.LazyAttribute(
        lambda row: [["agg_bmk.json", 2048, _digest(row.name)]]
    )
    state = "fetched"


class RawRecordFactory(DjangoModelFactory):
    class Meta:
        model = models.RawRecord

    artifact = factory.SubFactory(ArtifactFactory)
    member = "agg_bmk.json"
    index = factory.Sequence(int)
    body = factory.LazyAttribute(lambda row: f'{{"conc":{row.index}}}')
    sha256 = factory.LazyAttribute(lambda row: _digest(row.body))


class RunStatFactory(DjangoModelFactory):
    class Meta:
        model = models.RunStat

    run = factory.SubFactory(RunFactory)
    raw_key = "mi355x-amds"
    hardware = "mi355x"
    successes = 8
    total = 9


class SkipFactory(DjangoModelFactory):
    class Meta:
        model = models.Skip

    run = factory.SubFactory(RunFactory)
    artifact = None
    member = "agg_bmk.json"
    index = factory.Sequence(int)
    reason = "failed_run"
    detail = "0 of 22 requests successful"


class CheckpointFactory(DjangoModelFactory):
    class Meta:
        model = models.Checkpoint
        django_get_or_create = ("name",)

    name = "org-a/Model-397B-FP4"


class CheckpointAliasFactory(DjangoModelFactory):
    class Meta:
        model = models.CheckpointAlias

    spelling = factory.Sequence(lambda n: f"/models/served-{n}")
    checkpoint = factory.SubFactory(CheckpointFactory)
    reason = "the launcher serves it from there"
    author = "someone"


class ConfigFileFactory(DjangoModelFactory):
    class Meta:
        model = models.ConfigFile

    text = factory.Sequence(lambda n: f"key-{n}: {{}}\n")
    sha256 = factory.LazyAttribute(lambda row: _digest(row.text))


class ConfigSnapshotFactory(DjangoModelFactory):
    class Meta:
        model = models.ConfigSnapshot

    repository = factory.SubFactory(RepositoryFactory)
    sha = factory.Sequence(lambda n: _digest(n)[:40])
    name = "amd-master.yaml"
    at = START
    file = factory.SubFactory(ConfigFileFactory)


class ConfigKeyFactory(DjangoModelFactory):
    class Meta:
        model = models.ConfigKey
        django_get_or_create = ("key",)

    key = "qwen3.5-fp4-mi355x-sglang"
    model = "qwen3.5"
    precision = "fp4"
    hardware = "mi355x"
    framework = "sglang"
    scenario_kind = "fixed-seq-len"


class ConfigDefinitionFactory(DjangoModelFactory):
    class Meta:
        model = models.ConfigDefinition

    config_key = factory.SubFactory(ConfigKeyFactory)
    digest = factory.Sequence(_digest)
    checkpoint = factory.SubFactory(CheckpointFactory)
    image = "img/sglang:1"
    runner = "mi355x"
    entry = factory.LazyFunction(dict)
    first_seen_sha = _digest("first")[:40]
    first_seen_at = START
    last_seen_sha = _digest("last")[:40]
    last_seen_at = START + timedelta(days=1)


class ConfigMatrixFactory(DjangoModelFactory):
    """What a master expands to without a runners file."""

    class Meta:
        model = models.ConfigMatrix

    master = factory.SubFactory(ConfigFileFactory)
    runners = None


class ConfigRecipeFactory(DjangoModelFactory):
    class Meta:
        model = models.ConfigRecipe

    matrix = factory.SubFactory(ConfigMatrixFactory)
    fingerprint = factory.Sequence(_digest)
    digits = factory.LazyAttribute(lambda row: row.fingerprint[:16])


class ConfigSightFactory(DjangoModelFactory):
    class Meta:
        model = models.ConfigSight

    definition = factory.SubFactory(ConfigDefinitionFactory)
    repository = factory.SubFactory(RepositoryFactory)
    is_mainline = True
    last_at = START


class DeploymentFactory(DjangoModelFactory):
    """A single node TP2; the label follows the topology."""

    class Meta:
        model = models.Deployment
        django_get_or_create = deployments.Deployment._fields

    multinode = False
    disagg = False
    tp = 2
    pp = 1
    dcp = 1
    pcp = 1
    ep = 1
    dp_attention = False
    prefill_workers = None
    prefill_tp = None
    prefill_pp = None
    prefill_dcp = None
    prefill_pcp = None
    prefill_ep = None
    prefill_dp_attention = None
    decode_workers = None
    decode_tp = None
    decode_pp = None
    decode_dcp = None
    decode_pcp = None
    decode_ep = None
    decode_dp_attention = None
    prefill_hardware = ""
    decode_hardware = ""
    kv_offloading = "none"
    kv_offload_backend = ""
    spec_method = "none"
    label = factory.LazyAttribute(
        lambda row: deployments.deployment_label(
            deployments.Deployment(
                **{name: getattr(row, name) for name in deployments.Deployment._fields}
            )
        )
    )


class SweepFactory(DjangoModelFactory):
    """A sweep of an unofficial run; ``official=True`` makes it the current one."""

    class Meta:
        model = models.Sweep

    class Params:
        official = factory.Trait(
            run=factory.SubFactory(RunFactory, official=True),
            state="current",
            official_at=factory.LazyAttribute(lambda row: row.run.official_at),
        )

    run = factory.SubFactory(RunFactory)
    config_key = factory.SubFactory(ConfigKeyFactory)
    scenario = "8k/1k"
    checkpoint = factory.SubFactory(CheckpointFactory)
    image = "img/sglang:1"
    images = factory.LazyAttribute(lambda row: [row.image])
    precision = "fp4"
    spec_methods = factory.LazyFunction(lambda: ["none"])
    received_count = 0
    mapping_method = "fingerprint"
    mapping_candidates = factory.LazyAttribute(lambda row: [row.config_key.key])
    measured_at = factory.LazyAttribute(lambda row: row.run.created_at)


def _metrics(row: Any) -> dict[str, float]:
    values = {name: getattr(row, name) for name in HOT_METRICS}
    return {n: v for n, v in (values | row.extra).items() if v is not None}


class PointFactory(DjangoModelFactory):
    """A point whose metrics mirror its columns; pass ``extra`` for other metrics."""

    class Meta:
        model = models.Point

    class Params:
        extra: dict[str, float] = {}

    sweep = factory.SubFactory(SweepFactory)
    deployment = factory.SubFactory(DeploymentFactory)
    concurrency = 64
    image = "img/sglang:1"
    runner = "mi355x-amds_0"
    gpus = 2
    tput_per_gpu = 3156.8
    output_tput_per_gpu = 1578.4
    input_tput_per_gpu = 1578.4
    median_intvty = 50.0
    p90_intvty = 45.0
    median_ttft = 0.3
    p90_ttft = 0.6
    median_tpot = 0.02
    median_e2el = 20.76
    p90_e2el = 24.0
    metrics = factory.LazyAttribute(_metrics)


class EvalResultFactory(DjangoModelFactory):
    class Meta:
        model = models.EvalResult

    run = factory.SubFactory(RunFactory)
    config_key = factory.SubFactory(ConfigKeyFactory)
    deployment = factory.SubFactory(DeploymentFactory)
    scenario = "8k/1k"
    concurrency = 64
    task = "gsm8k"
    strict = 0.9697
    strict_se = 0.00472
    flexible = 0.9568
    flexible_se = 0.0056
    score = 0.9697
    n = 1319
    mapping_method = "fingerprint"


class EvalFloorFactory(DjangoModelFactory):
    class Meta:
        model = models.EvalFloor

    task = factory.Sequence(lambda n: f"task-{n}")
    minimum = 0.9
    valid_from = START.date()
    source = "eval-thresholds.yaml"
    author = "ada"


class HardwarePriceFactory(DjangoModelFactory):
    class Meta:
        model = models.HardwarePrice

    hardware = "mi355x"
    valid_from = date(2026, 10, 1)
    neocloud = 2.0
    source = "a contract"
    author = "ada"


class PublishedRowFactory(DjangoModelFactory):
    class Meta:
        model = models.PublishedRow

    kind = "reliability"
    date = START.date()
    body = factory.Sequence(lambda n: f'{{"total":{n}}}')
    sha256 = factory.LazyAttribute(lambda row: _digest(row.body))


class EvalSampleFactory(DjangoModelFactory):
    class Meta:
        model = models.EvalSample

    eval = factory.SubFactory(EvalResultFactory)
    doc_id = factory.Sequence(lambda n: n)
    filter = "strict-match"
    score = 1.0
    passed = True


class ChangelogEntryFactory(DjangoModelFactory):
    class Meta:
        model = models.ChangelogEntry

    run = factory.SubFactory(RunFactory)
    base_ref = "b1"
    head_ref = "h1"
    index = factory.Sequence(int)
    raw_keys = factory.LazyFunction(lambda: ["qwen3.5-fp4-mi355x-sglang"])
    expanded_keys = factory.LazyAttribute(lambda row: list(row.raw_keys))
    description = factory.LazyFunction(lambda: ["Bump the image"])
    pr_link = "https://github.com/example/bench/pull/501"
    pr_number = 501
    link_state = "good"


class IngestRequestFactory(DjangoModelFactory):
    class Meta:
        model = models.IngestRequest

    kind = "path"
    target = "runs/90001"


class RequestTraceFactory(DjangoModelFactory):
    """A reading of one request, of which nothing is known but its start."""

    class Meta:
        model = models.RequestTrace

    artifact_sha256 = factory.LazyAttribute(lambda row: _digest(row.member))
    member = "aiperf_artifacts/profile_export.jsonl"
    sha256 = factory.LazyAttribute(lambda row: _digest(row.artifact_sha256))
    size_bytes = 600
    version = 1
    counts = factory.LazyFunction(lambda: {"lines": 1, "requests": 1, "skipped": {}})
    distributions = factory.LazyFunction(dict)
    requests = factory.LazyFunction(dict)
    kept = 0


class FetchFactory(DjangoModelFactory):
    class Meta:
        model = models.Fetch

    run = factory.SubFactory(RunFactory)
    fetched_at = START
    forge_updated_at = START
    is_complete = True


class WebhookDeliveryFactory(DjangoModelFactory):
    class Meta:
        model = models.WebhookDelivery

    delivery_id = factory.Sequence(lambda n: f"delivery-{n}")
    event = "workflow_run"


class ReuseLinkFactory(DjangoModelFactory):
    class Meta:
        model = models.ReuseLink

    repository = factory.SubFactory(RepositoryFactory)
    merge_run_id = factory.Sequence(lambda n: 80001 + n)
    source_run_id = factory.Sequence(lambda n: 70001 + n)
    method = "newest"


class ApiTokenFactory(DjangoModelFactory):
    class Meta:
        model = models.ApiToken

    name = "nightly"
    repository = factory.SubFactory(RepositoryFactory)
    prefix = factory.Sequence(lambda n: f"{n:012x}")
    digest = factory.LazyAttribute(lambda token: _digest(token.prefix))


class CorrectionFactory(DjangoModelFactory):
    class Meta:
        model = models.Correction

    action = "hide"
    run = factory.SubFactory(RunFactory)
    author = "maintainer"
    reason = "measured on a broken node"


class NoticeFactory(DjangoModelFactory):
    """A note about everything; ``config_key``, ``model`` and so on narrow it."""

    class Meta:
        model = models.Notice

    kind = "note"
    text = "power limit of the cluster was raised"
    at = START
    author = "maintainer"


class JudgementFactory(DjangoModelFactory):
    class Meta:
        model = models.Judgement

    sweep = factory.SubFactory(
        SweepFactory,
        official=True,
        config_key__key=factory.Sequence("judged-{}".format),
    )
    verdict = "improvement"
    sentence = "improvement: +8.0 % throughput per GPU at 4 of 4 points"
    change = 0.08
    numbers = factory.LazyFunction(dict)


class RegressionFactory(DjangoModelFactory):
    """What got worse with an official sweep, whose run and key it has."""

    class Meta:
        model = models.Regression

    sweep = factory.SubFactory(
        SweepFactory, official=True, config_key__key=factory.Sequence("worse-{}".format)
    )
    run = factory.LazyAttribute(lambda row: row.sweep.run)
    config_key = factory.LazyAttribute(lambda row: row.sweep.config_key)
    scenario = factory.LazyAttribute(lambda row: row.sweep.scenario)
    kind = "performance"
    change = -0.09
    summary = "regression: -9.0 % throughput per GPU at 3 of 7 points"
    numbers = factory.LazyFunction(
        lambda: {"places": [["TP2", [64, 128]]], "verdict": {}}
    )


class TriageEventFactory(DjangoModelFactory):
    class Meta:
        model = models.TriageEvent

    regression = factory.SubFactory(RegressionFactory)
    author = "kim"
    from_state = "untriaged"
    to_state = "acknowledged"


class ConfigChangeFactory(DjangoModelFactory):
    class Meta:
        model = models.ConfigChange

    repository = factory.SubFactory(RepositoryFactory)
    config_key = factory.Sequence(lambda n: f"model-fp4-mi355x-sglang-{n}")
    kind = "image"
    sha = "c0ffee"
    at = START
    before = "img/sglang:1"
    after = "img/sglang:2"


class FileDefectFactory(DjangoModelFactory):
    class Meta:
        model = models.FileDefect

    repository = "example/bench"
    name = "amd-master.yaml"
    text = factory.Sequence(lambda n: f"line {n}: no mapping")


class NoiseFactory(DjangoModelFactory):
    class Meta:
        model = models.Noise

    metric = "tput_per_gpu"
    band = factory.Sequence(lambda n: f"band-{n}")
    as_of = START.date()
    value = 0.0075
    pairs = 40


class PullRequestCommentFactory(DjangoModelFactory):
    class Meta:
        model = models.PullRequestComment

    repository = factory.SubFactory(RepositoryFactory)
    pr_number = factory.Sequence(lambda n: 500 + n)


class GenerationFactory(DjangoModelFactory):
    class Meta:
        model = models.Generation
        django_get_or_create = ("id",)

    id = 1
    number = 0
