"""What the database refuses: every named constraint, broken once."""

# mypy: allow-untyped-calls

from collections.abc import Callable

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction

from dashboard.models import Point
from tests import factories
from tests.factories import START

pytestmark = pytest.mark.django_db

BREAKS: dict[str, Callable[[], None]] = {}


def breaks(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function that stores what the named constraint forbids."""

    def register(function):
        BREAKS[name] = function
        return function

    return register


def twice(factory, **fields):
    factory(**fields)
    factory(**fields)


# Runs and what they left


@breaks("repository_name_unique")
def _():
    factories.RepositoryFactory(full_name="example/bench")
    factories.RepositoryFactory(full_name="Example/Bench")


@breaks("run_id_unique")
def _():
    twice(factories.RunFactory, github_run_id=1)


@breaks("run_publication_known")
def _():
    factories.RunFactory(publication="secret")


@breaks("run_published_by_has_time")
def _():
    factories.RunFactory(published_by=factories.RunFactory(), published_at=None)


@breaks("run_attempt_unique")
def _():
    twice(factories.RunAttemptFactory, run=factories.RunFactory(), attempt=1)


@breaks("job_unique_in_run")
def _():
    twice(factories.JobFactory, run=factories.RunFactory(), github_job_id=1)


@breaks("artifact_id_unique_in_run")
def _():
    run = factories.RunFactory()
    factories.ArtifactFactory(run=run, github_artifact_id=1, name="a")
    factories.ArtifactFactory(run=run, github_artifact_id=1, name="b")


@breaks("artifact_bytes_unique_in_run")
def _():
    twice(
        factories.ArtifactFactory,
        run=factories.RunFactory(),
        github_artifact_id=None,
        sha256="0" * 64,
    )


@breaks("artifact_state_known")
def _():
    factories.ArtifactFactory(state="lost")


@breaks("raw_record_place_unique")
def _():
    artifact = factories.ArtifactFactory()
    twice(factories.RawRecordFactory, artifact=artifact, index=0)


@breaks("run_stat_key_unique")
def _():
    twice(factories.RunStatFactory, run=factories.RunFactory())


@breaks("skip_place_and_reason_unique")
def _():
    twice(factories.SkipFactory, run=factories.RunFactory(), index=0)


# Config keys


@breaks("checkpoint_name_unique")
def _():
    factories.CheckpointFactory(name="org-a/Model")
    factories.CheckpointFactory(name="ORG-A/model")


@breaks("checkpoint_alias_unique")
def _():
    factories.CheckpointAliasFactory(spelling="/models/a")
    factories.CheckpointAliasFactory(spelling="/Models/A")


@breaks("checkpoint_alias_has_spelling")
def _():
    factories.CheckpointAliasFactory(spelling="")


@breaks("checkpoint_alias_has_reason")
def _():
    factories.CheckpointAliasFactory(reason="")


@breaks("checkpoint_alias_has_author")
def _():
    factories.CheckpointAliasFactory(author="")


@breaks("snapshot_unique")
def _():
    twice(factories.ConfigSnapshotFactory, sha="a", name="amd-master.yaml")


@breaks("definition_content_unique")
def _():
    twice(
        factories.ConfigDefinitionFactory,
        config_key=factories.ConfigKeyFactory(),
        digest="a",
    )


@breaks("definition_seen_in_order")
def _():
    factories.ConfigDefinitionFactory(
        first_seen_at=START.replace(day=2), last_seen_at=START
    )


@breaks("config_matrix_unique")
def _():
    twice(factories.ConfigMatrixFactory, master=factories.ConfigFileFactory())


@breaks("config_recipe_unique")
def _():
    matrix = factories.ConfigMatrixFactory()
    twice(factories.ConfigRecipeFactory, matrix=matrix, fingerprint="a" * 64)


@breaks("config_sight_unique")
def _():
    definition = factories.ConfigDefinitionFactory()
    twice(factories.ConfigSightFactory, definition=definition, is_mainline=True)


# Measurements


@breaks("deployment_topology_unique")
def _():
    deployment = factories.DeploymentFactory()
    deployment.pk = None
    deployment.label = "written otherwise"
    deployment.save()


@breaks("sweep_unique")
def _():
    twice(factories.SweepFactory, run=factories.RunFactory())


@breaks("sweep_one_current")
def _():
    twice(factories.SweepFactory, official=True)


@breaks("sweep_state_known")
def _():
    factories.SweepFactory(official=True, state="paused")


@breaks("sweep_official_has_time")
def _():
    factories.SweepFactory(official=True, official_at=None)


@breaks("point_unique")
def _():
    twice(factories.PointFactory, sweep=factories.SweepFactory(), is_current=False)


@breaks("point_one_current")
def _():
    sweep = factories.SweepFactory()
    factories.PointFactory(sweep=sweep, attempt=1)
    factories.PointFactory(sweep=sweep, attempt=2)


@breaks("point_concurrency_positive")
def _():
    factories.PointFactory(concurrency=0)


@breaks("point_excluded_not_current")
def _():
    factories.PointFactory(is_current=True, is_excluded=True)


@breaks("eval_unique")
def _():
    twice(factories.EvalResultFactory, run=factories.RunFactory(), concurrency=None)


@breaks("eval_strict_is_fraction")
def _():
    factories.EvalResultFactory(strict=96.97)


@breaks("eval_flexible_is_fraction")
def _():
    factories.EvalResultFactory(flexible=-0.1)


# Changelog, requests, corrections, generation


@breaks("eval_floor_unique")
def _():
    twice(factories.EvalFloorFactory, task="gsm8k")


@breaks("eval_floor_is_fraction")
def _():
    factories.EvalFloorFactory(minimum=94)


@breaks("eval_floor_says_why")
def _():
    factories.EvalFloorFactory(source="")


@breaks("benchmark_job_name_unique")
def _():
    job = factories.BenchmarkJobFactory()
    factories.BenchmarkJobFactory(run=job.run, name=job.name)


@breaks("benchmark_job_outcome_known")
def _():
    factories.BenchmarkJobFactory(outcome="lost")


@breaks("benchmark_job_retry_succeeded")
def _():
    factories.BenchmarkJobFactory(outcome="failed", is_after_retry=True)


@breaks("hardware_price_unique")
def _():
    twice(factories.HardwarePriceFactory)


for _name in ("hyperscaler", "neocloud", "rental", "power_kw"):

    @breaks(f"hardware_price_{_name}_positive")
    def _(name=_name):
        factories.HardwarePriceFactory(**{name: 0})


@breaks("hardware_price_says_why")
def _():
    factories.HardwarePriceFactory(source="")


@breaks("published_row_unique")
def _():
    twice(factories.PublishedRowFactory, sha256="a")


@breaks("published_row_kind_known")
def _():
    factories.PublishedRowFactory(kind="rumour")


@breaks("published_row_is_there")
def _():
    factories.PublishedRowFactory(times=0)


@breaks("eval_sample_unique")
def _():
    sample = factories.EvalSampleFactory()
    factories.EvalSampleFactory(eval=sample.eval, doc_id=sample.doc_id)


@breaks("changelog_entry_unique")
def _():
    twice(factories.ChangelogEntryFactory, run=factories.RunFactory(), index=0)


@breaks("changelog_link_state_known")
def _():
    factories.ChangelogEntryFactory(link_state="odd")


@breaks("request_one_active_per_run")
def _():
    twice(factories.IngestRequestFactory, kind="run", repository="o/r", github_run_id=1)


@breaks("request_one_active_per_trace")
def _():
    twice(factories.IngestRequestFactory, kind="trace", target="point 1")


@breaks("request_trace_unique")
def _():
    twice(factories.RequestTraceFactory)


@breaks("reuse_link_two_runs")
def _():
    factories.ReuseLinkFactory(merge_run_id=1, source_run_id=1)


@breaks("reuse_link_method_known")
def _():
    factories.ReuseLinkFactory(method="guess")


@breaks("api_token_digest_is_a_hash")
def _():
    factories.ApiTokenFactory(digest="the secret itself")


@breaks("request_state_known")
def _():
    factories.IngestRequestFactory(state="lost")


@breaks("correction_active_once")
def _():
    twice(factories.CorrectionFactory, run=factories.RunFactory())


@breaks("correction_has_reason")
def _():
    factories.CorrectionFactory(reason="")


@breaks("correction_has_author")
def _():
    factories.CorrectionFactory(author="")


@breaks("correction_action_known")
def _():
    factories.CorrectionFactory(action="delete")


# What changed


@breaks("changelog_file_entry_unique")
def _():
    repository = factories.RepositoryFactory()
    twice(factories.ChangelogEntryFactory, run=None, repository=repository, index=1)


@breaks("changelog_entry_of_run_or_file")
def _():
    factories.ChangelogEntryFactory(run=None, repository=None)


@breaks("config_change_unique")
def _():
    repository = factories.RepositoryFactory()
    twice(factories.ConfigChangeFactory, repository=repository, config_key="k")


@breaks("config_change_swap_is_of_model")
def _():
    factories.ConfigChangeFactory(kind="image", is_swap=True)


@breaks("file_defect_unique")
def _():
    twice(factories.FileDefectFactory, text="line 1: no mapping")


@breaks("file_defect_says")
def _():
    factories.FileDefectFactory(text="")


@breaks("notice_says")
def _():
    factories.NoticeFactory(text="")


@breaks("notice_has_author")
def _():
    factories.NoticeFactory(author="")


@breaks("notice_kind_known")
def _():
    factories.NoticeFactory(kind="shout")


@breaks("sweep_swap_has_segment")
def _():
    factories.SweepFactory(official=True, is_swap=True, segment=None)


# What got worse


@breaks("regression_unique")
def _():
    found = factories.RegressionFactory()
    factories.RegressionFactory(
        run=found.run,
        config_key=found.config_key,
        scenario=found.scenario,
        kind=found.kind,
    )


@breaks("regression_kind_known")
def _():
    factories.RegressionFactory(kind="mood")


@breaks("regression_state_known")
def _():
    factories.RegressionFactory(state="ignored")


@breaks("regression_recovered_when")
def _():
    factories.RegressionFactory(recovered_by=factories.RunFactory(), recovered_at=None)


@breaks("triage_event_has_author")
def _():
    factories.TriageEventFactory(author="")


@breaks("noise_unique")
def _():
    twice(factories.NoiseFactory, band="1-16")


@breaks("noise_not_negative")
def _():
    factories.NoiseFactory(value=-0.1)


@breaks("comment_one_per_pr")
def _():
    repository = factories.RepositoryFactory()
    twice(factories.PullRequestCommentFactory, repository=repository, pr_number=1)


@breaks("generation_is_one_row")
def _():
    factories.GenerationFactory(id=2)


@pytest.mark.parametrize("name", BREAKS)
def test_database_refuses(name):
    with (
        pytest.raises(IntegrityError, match=f'constraint "{name}"'),
        transaction.atomic(),
    ):
        BREAKS[name]()


def test_every_named_constraint_is_broken_here():
    named = {
        constraint.name
        for app in ("dashboard", "ingest")
        for model in apps.get_app_config(app).get_models()
        for constraint in model._meta.constraints
    }
    assert named == set(BREAKS)


# What they allow


def test_a_sweep_may_have_current_extensions():
    base = factories.SweepFactory(official=True)
    factories.SweepFactory(official=True, extends=base)
    factories.SweepFactory(official=True, extends=base)


def test_the_same_key_may_be_current_in_two_scenarios():
    factories.SweepFactory(official=True, scenario="8k/1k")
    factories.SweepFactory(official=True, scenario="1k/1k")


def test_an_undone_correction_may_be_made_again():
    run = factories.RunFactory()
    factories.CorrectionFactory(run=run, undone_at=START)
    factories.CorrectionFactory(run=run, undone_at=START)
    factories.CorrectionFactory(run=run)


def test_artifacts_of_one_name_and_other_bytes_stand_side_by_side():
    run = factories.RunFactory()
    for digest in ("a", "b"):
        factories.ArtifactFactory(
            run=run, github_artifact_id=None, sha256=digest, name="results_bmk"
        )


def test_zero_and_missing_measurements_are_two_things():
    zero = factories.PointFactory(tput_per_gpu=0.0, concurrency=1)
    missing = factories.PointFactory(tput_per_gpu=None, concurrency=2)
    assert Point.objects.get(pk=zero.pk).tput_per_gpu == 0.0
    assert Point.objects.get(pk=missing.pk).tput_per_gpu is None
