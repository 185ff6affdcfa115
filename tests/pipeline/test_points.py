"""Rows of one run through the whole pipeline: GPUs, physics, attempts, duplicates."""

import gc
import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command

from dashboard.models import Artifact, Point, RawRecord
from dashboard.vocabulary import hardware
from ingest.conversion import identity
from ingest.pipeline import replay_run
from ingest.reading import ReadRun
from tests.ingest import golden
from tests.pipeline.bundles import (
    KEY,
    STARTED,
    busy_row,
    changelog,
    disagg_row,
    iso,
    job,
    jobs_for,
    master,
    results,
    row,
    run_object,
)
from tests.pipeline.conftest import (
    Desk,
    flags,
    forget_runs,
    skips,
    the_point,
    the_run,
    the_sweep,
)


def test_c01_disaggregated_throughput_is_of_all_gpus(desk: Desk) -> None:
    desk.ingest(None, results(disagg_row()))
    point = the_point()
    assert (point.gpus, point.prefill_gpus, point.decode_gpus) == (24, 4, 20)
    assert (point.tput_per_gpu, point.output_tput_per_gpu) == (500.0, 200.0)
    assert not point.is_out
    assert "throughput_sum" not in flags(point)


def test_c01_role_throughputs_that_do_not_add_up_are_flagged(desk: Desk) -> None:
    desk.ingest(None, results(disagg_row(tput_per_gpu=520.0)))
    point = the_point()
    assert point.is_out
    assert "1.248e+04" in flags(point)["throughput_sum"]


def test_c02_a_divisor_smaller_than_the_topology_is_quarantined(desk: Desk) -> None:
    inflated = row(tp=16, tput_per_gpu=6313.6, output_tput_per_gpu=3156.8)
    desk.ingest(None, results(inflated | {"input_tput_per_gpu": 3156.8}))
    point = the_point()
    assert point.is_out
    assert "16.00" in flags(point)["littles_law"]
    assert "197.3 output tok/s/GPU for 16 GPUs" in flags(point)["littles_law"]


def test_c03_expert_parallelism_shares_the_gpus(desk: Desk) -> None:
    desk.ingest(None, results(row(tp=4, ep=4, median_e2el=10.38)))
    assert the_point().gpus == 4


def test_c03_an_explicit_count_wins(desk: Desk) -> None:
    desk.ingest(None, results(row(tp=4, ep=4, num_gpus=8)))
    assert the_point().gpus == 8


def test_c03_more_expert_ranks_than_gpus_is_an_unknown_count(desk: Desk) -> None:
    desk.ingest(None, results(row(tp=1, ep=8, dp_attention="true")))
    point = the_point()
    assert point.gpus is None
    assert "gpu_count_unknown" in flags(point)


def test_c03_replay_mends_derived_columns_and_says_what_changed(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.ingest(None, results(row(tp=4, ep=4, median_e2el=10.38)))
    right = golden.state()
    Point.objects.update(gpus=16)
    call_command("replay", "90001")
    said = capsys.readouterr().out
    assert "Point: 0 new, 1 changed, 0 removed" in said
    assert golden.state() == right
    call_command("replay", "--all")
    assert "changed, 0" not in capsys.readouterr().out.partition("\n")[2]


def test_c05_the_reciprocal_of_a_deviation_is_dropped(desk: Desk) -> None:
    desk.ingest(None, results(row(std_tpot=0.001, std_intvty=1000.0)))
    metrics = the_point().metrics
    assert metrics["std_tpot"] == 0.001
    assert "std_intvty" not in metrics


def test_metrics_without_a_place_in_the_array_are_kept_beside_it(desk: Desk) -> None:
    upload = results(row(p42_ttft=0.2, joules_per_haiku=3.0, p99_ttft=0.0))
    desk.ingest(None, upload)
    point = the_point()
    assert point.more_metrics == {"p42_ttft": 0.2, "joules_per_haiku": 3.0}
    assert point.metrics["p99_ttft"] == 0.0
    assert "p42_ttft" in point.all_metrics
    assert desk.ingest(None, upload).tally.is_unchanged


def test_c05_zero_tpot_has_throughput_and_no_interactivity(desk: Desk) -> None:
    zero = row(median_tpot=0, median_intvty=1.0, conc=1, median_e2el=0.3244)
    raw = b"[" + _json(zero).replace(
        b'"median_intvty": 1.0', b'"median_intvty": Infinity'
    )
    desk.ingest(None, {"results_bmk": {"agg_bmk.json": raw + b"]"}})
    point = the_point()
    assert point.median_intvty is None
    assert point.tput_per_gpu == 3156.8


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def test_c09_runner_labels_are_cut_to_their_gpu(desk: Desk) -> None:
    labels = ["gb300-cw", "b200-dgxc-slurm", "h200-nv_3", "cluster:b300-nv"]
    rows = [row(hw=label) for label in [*labels, "xyz900-lab"]]
    report = desk.ingest(None, results(*rows))
    found = {p.sweep.config_key.hardware for p in Point.objects.all()}
    assert found == {"gb300", "b200", "h200", "b300"}
    assert skips() == {"unmapped_hw": ["unknown hardware xyz900"]}
    assert report.skips == {"unmapped_hw": 1}
    assert the_run().skip_count == 1


def test_c09_replay_takes_rows_once_their_hardware_is_known(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = desk.write(None, results(row(hw="xyz900-lab")))
    desk.take(bundle)
    for path in sorted(bundle.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    added = hardware.Hardware("xyz900", "XYZ900", "AMD", "CDNA 5", 20, 1000)
    monkeypatch.setitem(hardware.HARDWARE, "xyz900", added)
    identity._subject.cache_clear()
    report = replay_run(the_run())
    identity._subject.cache_clear()
    assert report.points == 1
    assert the_point().sweep.config_key.hardware == "xyz900"
    assert skips() == {}


def test_c11_aliases_and_letter_case_of_frameworks_are_one_series(desk: Desk) -> None:
    day2 = iso(STARTED + timedelta(days=1))
    day3 = iso(STARTED + timedelta(days=2))
    key = "qwen3.5-fp4-mi355x-sglang-disagg"
    configs = {
        "amd-master.yaml": master(
            key,
            framework="sglang-disagg",
            multinode=True,
            disagg=True,
            search=[
                {
                    "conc-list": [64],
                    "prefill": {"num-worker": 1, "tp": 4, "ep": 1, "dp-attn": False},
                    "decode": {"num-worker": 5, "tp": 4, "ep": 1, "dp-attn": False},
                }
            ],
        )
    }
    names = ("sglang-disagg", "mori-sglang", "SGLANG-DISAGG")
    days = (iso(STARTED), day2, day3)
    for number, (name, day) in enumerate(zip(names, days, strict=True)):
        run = run_object(90001 + number, created_at=day, run_started_at=day)
        desk.ingest(run, results(disagg_row(framework=name)), configs=configs)
    points = Point.objects.select_related("sweep__config_key")
    assert {p.sweep.config_key.key for p in points} == {key}
    assert points.count() == 3


def test_c13_a_failed_row_never_replaces_a_good_one(desk: Desk) -> None:
    later = STARTED + timedelta(hours=5)
    attempts = [
        run_object(run_attempt=1),
        run_object(run_attempt=2, run_started_at=iso(later)),
    ]
    failed = row(
        num_requests_successful=0, tput_per_gpu=0, output_tput_per_gpu=0,
        input_tput_per_gpu=0, median_intvty=0,
    )  # fmt: skip
    desk.ingest(None, results(row()))
    desk.ingest(
        attempts[1],
        results(failed),
        attempts=attempts,
        uploaded_at=later + timedelta(hours=1),
        first_id=2000,
    )
    point = the_point()
    assert (point.attempt, point.tput_per_gpu, point.is_current) == (1, 3156.8, True)
    assert list(skips()) == ["failed_run"]
    assert the_run().attempt == 2


def test_c13_zero_throughput_is_stored_and_off_the_frontier(desk: Desk) -> None:
    zero = row(tput_per_gpu=0, output_tput_per_gpu=0, input_tput_per_gpu=0)
    desk.ingest(None, results(zero))
    point = the_point()
    assert point.tput_per_gpu == 0
    assert point.is_out


def _attempt_bundles(desk: Desk, *, second: list[int]) -> list[Path]:
    """Bundles of the two attempts: conc 4 and 8 first, then the given ones."""
    later = STARTED + timedelta(hours=5)
    first = results(busy_row(4, 100.0), busy_row(8, 200.0))
    rows = [busy_row(c, 101.0 if c == 4 else 50.0 * c) for c in second]
    planned = jobs_for([4, 8, 16, 32, 64, 128])
    run = run_object(run_attempt=2, run_started_at=iso(later))
    return [
        desk.write(run_object(conclusion="failure"), first, jobs=planned),
        desk.write(
            run,
            results(*rows),
            jobs=planned,
            uploaded_at=later + timedelta(hours=1),
            first_id=2000,
        ),
    ]


def test_c14_attempts_in_either_order_end_in_one_state(desk: Desk) -> None:
    bundles = _attempt_bundles(desk, second=[4, 8, 16, 32, 64, 128])
    states = []
    for order in (bundles, bundles[::-1]):
        forget_runs()
        for bundle in order:
            desk.take(bundle)
        states.append(golden.state())
        points = Point.objects.filter(is_current=True)
        assert points.count() == 6
        best = points.get(concurrency=4)
        assert (best.tput_per_gpu, best.attempt) == (101.0, 2)
        assert the_run().attempt == 2
        assert the_run().conclusion == "success"
    assert states[0] == states[1]


def test_c14_a_place_that_a_later_attempt_lacks_keeps_the_earlier(desk: Desk) -> None:
    for bundle in _attempt_bundles(desk, second=[4, 16, 32, 64, 128]):
        desk.take(bundle)
    kept = Point.objects.get(concurrency=8)
    assert (kept.is_current, kept.attempt) == (True, 1)
    sweep = the_sweep()
    assert (sweep.received_count, sweep.planned_count) == (6, 6)


def test_c16_nan_and_infinity_cost_their_field_only(desk: Desk) -> None:
    first = _json(row()).replace(b'"p99_ttft": 1.0', b'"p99_ttft": NaN')
    second = _json(busy_row(8)).replace(b'"p99_ttft": 1.0', b'"p99_ttft": -Infinity')
    raw = b"[" + first + b"," + second + b"]"
    desk.ingest(None, {"results_bmk": {"agg_bmk.json": raw}})
    points = Point.objects.all()
    assert points.count() == 2
    assert all("p99_ttft" not in p.metrics for p in points)
    assert all("nan_token" in flags(p) for p in points)
    assert "NaN" in RawRecord.objects.get(index=0).body


def test_c16_replay_leaves_several_warnings_as_they_are(desk: Desk) -> None:
    odd = b'"p99_ttft": NaN, "median_tpot": NaN, "median_ttft": NaN}'
    raw = _json(row(median_ttft=None, median_tpot=None, p99_ttft=None))[:-1]
    desk.ingest(None, {"results_bmk": {"agg_bmk.json": raw + b", " + odd}})
    assert len(the_point().flags) >= 3
    stamps = golden.stamps()
    assert replay_run(the_run()).tally.is_unchanged
    assert golden.stamps() == stamps


def test_c17_bad_artifacts_are_named_and_the_good_one_counts(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = desk.write(
        None,
        {
            **results(row()),
            "bmk_b": {"notes.txt": b"no JSON here"},
            "bmk_c": {"agg_c.json": b'{"a":1'},
        },
    )
    (bundle / "artifacts" / "bmk_a.zip").write_bytes(b"PK\3\4 torn")
    call_command("ingest_path", str(bundle))
    said = capsys.readouterr().out
    assert "partly ingested, 3 artifacts rejected" in said
    for name in ("bmk_a", "bmk_b", "bmk_c"):
        assert name in said
    rejected = Artifact.objects.filter(state="rejected")
    assert {a.name for a in rejected} == {"bmk_a", "bmk_b", "bmk_c"}
    assert all(a.reason for a in rejected)
    assert the_point().is_current
    assert set(skips()) == {"bad_zip", "no_json", "bad_json"}


def test_c36_the_row_decides_the_spec_method_and_three_series_stay_apart(
    desk: Desk,
) -> None:
    mtp = f"{KEY}-mtp"
    plain = row(spec_decoding="none")
    desk.ingest(None, results(plain), changelog=changelog(mtp))
    point = the_point()
    assert point.deployment.spec_method == "none"
    assert "spec_differs_from_key" in flags(point)
    assert point.sweep.acceptance_source == ""


def test_e06_job_statistics_keep_gpus_with_like_names_apart(desk: Desk) -> None:
    stats = {
        "b200-dgxc": {"n_success": 1, "total": 2},
        "gb200-nv": {"n_success": 3, "total": 3},
    }
    desk.ingest(None, {"run-stats": {"run_stats.json": stats}})
    found = {s.hardware: (s.successes, s.total) for s in the_run().stats.all()}
    assert found == {"b200": (1, 2), "gb200": (3, 3)}


def test_e06_a_job_that_succeeded_on_retry_is_one_planned_point(desk: Desk) -> None:
    jobs = [
        job(1, 64, conclusion="failure"),
        job(2, 64, run_attempt=2),
    ]
    desk.ingest(None, results(row()), jobs=jobs)
    assert the_run().planned_count == 1
    found = the_run().jobs.order_by("attempt").values_list("attempt", "conclusion")
    assert list(found) == [(1, "failure"), (2, "success")]


def test_e08_the_highest_concurrency_that_is_missing_is_named(desk: Desk) -> None:
    planned = [4, 8, 16, 32, 64, 128, 256, 512]
    rows = [busy_row(conc) for conc in planned[:-1]]
    desk.ingest(None, results(*rows), jobs=jobs_for(planned))
    sweep = the_sweep()
    received = {p.concurrency for p in sweep.points.filter(is_current=True)}
    missing = {place[1] for place in sweep.planned or []} - received
    assert missing == {512}
    assert (sweep.received_count, sweep.planned_count) == (7, 8)


def test_e09_a_single_point_is_a_sweep(desk: Desk) -> None:
    desk.ingest(None, results(row()))
    sweep = the_sweep()
    assert (sweep.state, sweep.received_count) == ("current", 1)


def test_rows_are_let_go_before_anybody_looks_for_cycles(desk: Desk) -> None:
    gc.disable()
    try:
        desk.ingest(None, results(busy_row(4), busy_row(8)))
        left = [found for found in gc.get_objects() if type(found) is ReadRun]
    finally:
        gc.enable()
    assert Point.objects.count() == 2
    assert not any(reading.rows for reading in left)
    assert not any(a.records for reading in left for a in reading.artifacts)
