import statistics
from typing import Any

import pytest

from demo.story import story
from tests.demo.reading import DemoRun

Runs = dict[str, DemoRun]


def _points(run: DemoRun, **fields: Any) -> dict[Any, dict[str, Any]]:
    """Rows with these fields, by what makes two of them the same point."""
    return {
        (
            row["framework"],
            row["spec_decoding"],
            row.get("isl"),
            row.get("tp", row.get("prefill_num_workers")),
            row["hw"],
            row["conc"],
        ): row
        for row in run.rows
        if all(row[name] == value for name, value in fields.items())
    }


def _changes(old: DemoRun, new: DemoRun, metric: str = "tput_per_gpu", **fields: Any):
    """Relative changes of the points that both runs measured."""
    before, after = _points(old, **fields), _points(new, **fields)
    shared = before.keys() & after.keys()
    assert shared
    return {key: after[key][metric] / before[key][metric] - 1 for key in shared}


def _conclusions(run: DemoRun, attempt: int | None = None) -> list[str]:
    return [
        job["conclusion"]
        for job in run.jobs
        if "|" in job["name"]
        and not job["name"].endswith("eval-only")
        and attempt in {None, job["run_attempt"]}
    ]


def test_every_run_is_in_the_bundles(runs: Runs) -> None:
    assert [run.name for run in story()] == list(runs)


def test_image_bump_is_a_few_percent_faster_on_the_same_weights(runs: Runs) -> None:
    old, new = runs["amd-baseline"], runs["amd-image"]
    changes = _changes(old, new, framework="sglang")
    assert len(changes) == 19
    assert 0.025 < statistics.median(changes.values()) < 0.045
    rows = [*_points(old, framework="sglang").values(), *new.rows]
    assert len({row["image"] for row in rows}) == 2
    assert len({row["model"] for row in rows}) == 1


def test_swap_fails_first_in_the_tp4_jobs(runs: Runs) -> None:
    run = runs["swap-crash"]
    failed = [job["name"] for job in run.jobs if job["conclusion"] == "failure"]
    assert len(failed) == 6
    assert all(" TP4 " in name for name in failed)
    assert len(run.rows) == 13
    assert run.run["conclusion"] == "failure"
    assert sum(name.startswith("server_logs_") for name in run.names) == 6
    assert run.entries[0]["pr-link"] == "PR_LINK_PLACEHOLDER"
    assert run.jobs[1]["name"].startswith("canary / / ")


def test_second_sweep_of_the_swap_is_clean_and_has_no_tp4(runs: Runs) -> None:
    run = runs["swap-clean"]
    assert run.run["conclusion"] == "success"
    assert {row["tp"] for row in run.rows} == {2}
    assert {row["model"] for row in run.rows} == {
        "northwind/Qwen3.5-397B-A17B-FP4-Attn8"
    }
    assert run.entries[0]["pr-link"].endswith("/pull/XXX")
    before = {row["model"] for row in runs["amd-image"].rows}
    assert before == {"northwind/Qwen3.5-397B-A17B-FP4"}
    images = {
        row["image"] for name in ("amd-image", "swap-clean") for row in runs[name].rows
    }
    assert len(images) == 1


def test_merge_of_the_swap_points_to_the_clean_sweep(runs: Runs) -> None:
    merge, source = runs["swap-merge"], runs["swap-clean"]
    (reuse,) = merge.documents("reused-ingest-metadata")
    assert merge.names == ["changelog-metadata", "reused-ingest-metadata"]
    assert int(reuse["source_run_id"]) == source.run["id"]
    assert int(reuse["ingest_run_id"]) == merge.run["id"]
    assert reuse["source_head_sha"] == source.run["head_sha"]
    assert merge.run["event"] == "push"
    assert not any("|" in job["name"] for job in merge.jobs)


def test_official_sweeps_after_the_swap_keep_the_new_weights(runs: Runs) -> None:
    for name in ("swap-repeat", "mi355x-repeat"):
        assert runs[name].run["event"] == "push"
        assert {row["model"] for row in runs[name].rows} == {
            "northwind/Qwen3.5-397B-A17B-FP4-Attn8"
        }


def test_official_agentic_sweep_has_no_aggregate_and_no_statistics(runs: Runs) -> None:
    run = runs["agentic-baseline"]
    assert run.run["event"] == "push"
    assert len(run.rows) == 10
    assert not {"results_bmk", "run-stats"} & set(run.names)
    assert "eval_results_all" in run.names


def test_agentic_attempts_are_cancelled_and_overlap(runs: Runs) -> None:
    run = runs["agentic-cancelled"]
    attempts = run.documents("changelog-metadata")
    assert len(attempts) == run.run["run_attempt"] == 3
    assert run.run["conclusion"] == "cancelled"
    assert run.run["event"] == "pull_request"
    assert (run.folder / "run.attempts.json").exists()
    rows = [name for name in run.names if name.startswith("bmk_agentic_")]
    points = {(row["tp"], row["conc"]) for row in run.rows}
    assert points == {(2, 1), (2, 4), (2, 8), (4, 4), (4, 8)}
    assert len(rows) == 8
    assert run.documents("eval_results_all") == [[], [], []]
    assert "cancelled" in _conclusions(run, 3)


def test_offloading_points_answered_no_request(runs: Runs) -> None:
    run = runs["agentic-discovery"]
    failed = [row for row in run.rows if row["num_requests_successful"] == 0]
    assert [row["kv_offloading"] for row in failed] == ["dram"] * 3
    assert all(row["num_requests_total"] > 0 for row in failed)
    assert len(run.rows) == 8
    assert _conclusions(run).count("failure") == 3
    later = runs["agentic-b200"].rows
    assert sum(row["kv_offloading"] == "dram" for row in later) == 3
    assert all(row["num_requests_successful"] for row in later)


def test_disaggregated_key_has_roles_and_several_rows_per_artifact(runs: Runs) -> None:
    run = runs["gb200-baseline"]
    assert all(row["disagg"] and row["is_multinode"] for row in run.rows)
    artifacts = [item for item in run.artifacts if item["name"].startswith("bmk_")]
    sizes = [len(list(run.artifact(item).iterdir())) for item in artifacts]
    assert sorted(sizes) == [2, 3, 4]
    for row in run.rows:
        decode = row["decode_tp"] * row["decode_num_workers"]
        assert row["num_decode_gpu"] == decode


def test_a_failed_job_of_the_disaggregated_key_ran_again(runs: Runs) -> None:
    run = runs["gb200-baseline"]
    first, second = run.documents("results_bmk")
    assert (len(first), len(second)) == (7, 9)
    assert _conclusions(run, 1).count("failure") == 1
    assert _conclusions(run, 2) == ["success"]
    assert run.run["conclusion"] == "success"


def test_aggregated_workers_on_several_nodes_have_no_decode_gpus(runs: Runs) -> None:
    rows = [row for row in runs["dsv4-baseline"].rows if row["is_multinode"]]
    assert len(rows) == 5
    for row in rows:
        assert not row["disagg"]
        assert row["num_decode_gpu"] == row["decode_num_workers"] == 0
        assert row["decode_tp"] == row["decode_ep"] == 0
        parts = row["input_tput_per_gpu"] + row["output_tput_per_gpu"]
        assert parts == pytest.approx(row["tput_per_gpu"])


def test_regression_is_eight_percent_at_high_concurrency_only(runs: Runs) -> None:
    for metric in ("tput_per_gpu", "median_intvty"):
        changes = _changes(runs["b200-repeat"], runs["b200-regression"], metric)
        worse = {key for key, change in changes.items() if change < -0.05}
        assert {key[-1] for key in worse} == {64, 128, 256}
        assert all(-0.11 < changes[key] < -0.05 for key in worse)
        assert all(abs(changes[key]) < 0.03 for key in changes.keys() - worse)


def test_recovery_returns_to_the_former_level(runs: Runs) -> None:
    changes = _changes(runs["b200-repeat"], runs["b200-recovery"])
    assert max(map(abs, changes.values())) < 0.03
    assert (
        runs["b200-recovery"].run["created_at"]
        > runs["b200-regression"].run["created_at"]
    )


def test_append_only_run_adds_two_concurrencies(runs: Runs) -> None:
    run = runs["mi300x-append"]
    assert run.entries[0]["append-only"] is True
    assert sorted(row["conc"] for row in run.rows) == [128, 256]
    former = [row for row in runs["cdna3-baseline"].rows if row["hw"] == "mi300x-mesa"]
    assert {row["image"] for row in former} == {row["image"] for row in run.rows}
    assert {row["recipe_fingerprint"] for row in former} == {
        row["recipe_fingerprint"] for row in run.rows
    }
    top = max(former, key=lambda row: row["conc"])
    assert all(row["tput_per_gpu"] > top["tput_per_gpu"] for row in run.rows)


def test_incomplete_official_sweep_has_half_of_its_points(runs: Runs) -> None:
    run = runs["dsv4-incomplete"]
    assert run.run["event"] == "push"
    assert sorted(row["conc"] for row in run.rows) == [4, 8, 16]
    assert sorted(_conclusions(run)) == ["failure"] * 3 + ["success"] * 3


def test_candidate_is_a_tenth_faster_before_and_after_the_merge(runs: Runs) -> None:
    baseline = runs["fp8-repeat"]
    for name, event in (
        ("mi325x-candidate", "pull_request"),
        ("mi325x-merged", "push"),
    ):
        assert runs[name].run["event"] == event
        changes = _changes(baseline, runs[name], hw="mi325x-fjord")
        assert all(0.08 < change < 0.16 for change in changes.values())


def test_a_good_pull_request_stays_unofficial(runs: Runs) -> None:
    run = runs["trt-tuning"]
    assert run.run["event"] == "pull_request"
    assert run.run["conclusion"] == "success"
    assert run.run["pull_requests"][0]["number"] == 33
    images = {
        row["image"]
        for other in runs.values()
        if other.run["event"] == "push"
        for row in other.rows
    }
    assert not images & {row["image"] for row in run.rows}


def test_run_by_hand_has_a_nightly_image_and_no_changelog(runs: Runs) -> None:
    run = runs["h200-nightly"]
    assert run.run["event"] == "workflow_dispatch"
    assert run.run["path"].endswith("/e2e-tests.yml")
    assert all("nightly" in row["image"] for row in run.rows)
    assert {row["recipe_fingerprint"] for row in run.rows} == {""}
    assert "changelog-metadata" not in run.names
    assert not any("_recipe-" in name for name in run.names)


def test_a_changelog_names_its_keys_by_a_pattern(runs: Runs) -> None:
    run = runs["dsr1-wildcard"]
    assert run.entries[0]["config-keys"] == ["dsr1-fp8-*-sglang"]
    assert {row["hw"] for row in run.rows} == {"h200-mesa", "mi300x-mesa"}


def test_good_links_name_the_pull_request(runs: Runs) -> None:
    good = "https://github.com/frontierboard/demo-benchmarks/pull/"
    links = [run.entries[0]["pr-link"] for run in runs.values() if run.name in PUSHES]
    assert all(link.startswith(good) and link[len(good) :].isdigit() for link in links)


PUSHES = {run.name for run in story() if run.event.value == "push"}


def test_evals_only_run_has_one_borderline_score(runs: Runs) -> None:
    run = runs["dsr1-evals"]
    assert run.entries[0]["evals-only"] is True
    assert run.rows == []
    (rows,) = run.documents("eval_results_all")
    (borderline,) = [row for row in rows if row["em_strict"] < 0.91]
    half = 1.96 * borderline["em_strict_se"]
    assert borderline["em_strict"] + half > 0.91
    assert borderline["em_flexible"] + 1.96 * borderline["em_flexible_se"] > 0.91


def test_all_other_evals_reach_their_floors(runs: Runs) -> None:
    floors = {"qwen3.5": 0.94, "dsr1": 0.91, "dsv4": 0.91}
    rows = [
        row
        for run in runs.values()
        if run.name != "dsr1-evals"
        for document in run.documents("eval_results_all")
        for row in document
        if row["task"] == "gsm8k"
    ]
    assert len(rows) > 60
    for row in rows:
        assert floors[row["model_prefix"]] < row["em_flexible"] < row["em_strict"] < 1


def test_gpqa_has_only_a_flexible_score(runs: Runs) -> None:
    (rows,) = runs["dsv4-gpqa"].documents("eval_results_all")
    gpqa = [row for row in rows if row["task"].startswith("gpqa")]
    assert len(gpqa) == len(rows) / 2 > 0
    assert all(row["score"] is None and "em_strict" not in row for row in gpqa)
    assert all(0.6 < row["em_flexible"] < 0.9 for row in gpqa)


def test_aggregate_evals_repeat_the_files_of_the_jobs(runs: Runs) -> None:
    for run in runs.values():
        documents = run.documents("eval_results_all")
        for row in documents[-1] if documents else []:
            _, artifact, file = row["source"].split("/")
            (item,) = [item for item in run.artifacts if item["name"] == artifact]
            assert (run.artifact(item) / file).exists()
            assert (run.artifact(item) / "meta_env.json").exists()


def test_one_point_has_invalid_power(runs: Runs) -> None:
    run = runs["atom-power"]
    invalid = [row for row in run.rows if row["power_valid"] == 0]
    assert [row["conc"] for row in invalid] == [32]
    assert "avg_power_w" not in invalid[0]
    assert sum(name.startswith("power_audit_") for name in run.names) == 1


def test_repeats_differ_by_noise_alone(runs: Runs) -> None:
    for old, new in (
        ("nvidia-baseline", "nvidia-repeat"),
        ("swap-clean", "swap-repeat"),
    ):
        changes = list(_changes(runs[old], runs[new]).values())
        assert 0 < max(map(abs, changes)) < 0.045
        assert statistics.stdev(changes) < 0.016


def test_aggregates_hold_the_rows_of_their_jobs(runs: Runs) -> None:
    for run in runs.values():
        documents = run.documents("results_bmk")
        if documents:
            assert sorted(map(str, documents[-1])) == sorted(map(str, run.rows))


def test_statistics_count_only_jobs_that_name_a_cluster(runs: Runs) -> None:
    (bare,) = runs["amd-baseline"].documents("run-stats")
    assert all(count["total"] == 0 for count in bare.values())
    (named,) = runs["dsv4-incomplete"].documents("run-stats")
    assert named["mi355x-fjord"] == {"n_success": 3, "total": 8}
