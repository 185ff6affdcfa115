"""Benchmark jobs of a run: each once over all attempts, mapped to its key."""

from dashboard.models import BenchmarkJob, Run
from ingest.pipeline import replay_run
from tests.pipeline.bundles import KEY, busy_row, job, master, results, run_object
from tests.pipeline.conftest import Desk

THROUGHPUT = "single-node 1k1k / / p3 | qwen3.5 fp4 {} sgl TP2 c{}"


def told(name: str) -> BenchmarkJob:
    return BenchmarkJob.objects.get(name=name)


def test_a_job_that_succeeded_in_its_second_attempt_counts_once(desk: Desk) -> None:
    name = THROUGHPUT.format("mi355x", 64)
    jobs = [
        job(1, 64, name=name, conclusion="failure", run_attempt=1),
        job(2, 64, name=name, conclusion="success", run_attempt=2),
    ]
    desk.ingest(run_object(run_attempt=2), results(busy_row(64)), jobs=jobs)
    found = told(name)
    assert (found.outcome, found.attempt) == ("succeeded", 2)
    assert (found.failed_attempts, found.is_after_retry) == (1, True)
    assert BenchmarkJob.objects.count() == 1


def test_a_job_is_mapped_as_its_points_are(desk: Desk) -> None:
    name = THROUGHPUT.format("mi355x", 64)
    jobs = [job(1, 64, name=name, runner_name="mi355x-amds_04")]
    configs = {"amd-master.yaml": master()}
    desk.ingest(run_object(), results(busy_row(64)), jobs=jobs, configs=configs)
    found = told(name)
    assert (found.config_key, found.scenario) == (KEY, "1k/1k")
    assert (found.hardware, found.cluster) == ("mi355x", "mi355x-amds")


def test_the_label_that_a_job_asked_for_names_its_cluster(desk: Desk) -> None:
    """E06: gb200 is not counted as b200, nor a cluster by a part of its name."""
    asked = {
        "cluster:gb200-nv": ("gb200-nv_3", "gb200", "gb200-nv"),
        "b200": ("b200-dgxc_01", "b200", "b200-dgxc"),
        "h100": ("h100-dgxc-slurm_07", "h100", "h100-dgxc"),
        "h200": ("", "h200", ""),
    }
    jobs = [
        job(n, n, name=THROUGHPUT.format(label, n), runner_name=machine)
        for n, (label, (machine, *_)) in enumerate(asked.items(), 1)
    ]
    desk.ingest(run_object(), results(busy_row(64)), jobs=jobs)
    found = BenchmarkJob.objects.order_by("pk").values_list("hardware", "cluster")
    assert set(found) == {(gpu, cluster) for _, gpu, cluster in asked.values()}


def test_set_up_and_collection_are_no_benchmark_jobs(desk: Desk) -> None:
    jobs = [
        job(1, 64, name="setup"),
        job(2, 64, name="collect-results / collect-results", conclusion="failure"),
    ]
    desk.ingest(run_object(), results(busy_row(64)), jobs=jobs)
    assert not BenchmarkJob.objects.exists()


def test_an_eval_job_is_told_apart_and_has_the_lengths_that_are_evaluated(
    desk: Desk,
) -> None:
    name = "eval / / p3 | qwen3.5 fp4 mi355x sgl TP2 c64 | eval-only"
    desk.ingest(run_object(), results(busy_row(64)), jobs=[job(1, 64, name=name)])
    found = told(name)
    assert (found.is_eval, found.scenario) == (True, "8k/1k")


def test_the_same_jobs_twice_change_nothing_and_fewer_take_rows_away(
    desk: Desk,
) -> None:
    names = [THROUGHPUT.format("mi355x", n) for n in (4, 8)]
    jobs = [job(n, n, name=name) for n, name in enumerate(names, 1)]
    path = desk.write(run_object(), results(busy_row(64)), jobs=jobs)
    desk.take(path)
    before = list(BenchmarkJob.objects.order_by("pk").values())
    assert desk.take(path).tally.is_unchanged
    assert list(BenchmarkJob.objects.order_by("pk").values()) == before


def test_replay_counts_what_an_older_version_left_uncounted(desk: Desk) -> None:
    name = THROUGHPUT.format("mi355x", 64)
    desk.ingest(run_object(), results(busy_row(64)), jobs=[job(1, 64, name=name)])
    BenchmarkJob.objects.all().delete()
    replay_run(Run.objects.get())
    assert told(name).outcome == "succeeded"
