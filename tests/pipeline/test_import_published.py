"""Importing what the official dashboard published: what is stored, and who wins."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import (
    Artifact,
    ChangelogEntry,
    EvalResult,
    Generation,
    Point,
    PublishedRow,
    RawRecord,
    Run,
    Sweep,
)
from ingest.pipeline import replay_run
from tests.pipeline.bundles import (
    KEY,
    disagg_row,
    eval_row,
    master,
    results,
    row,
    run_object,
)
from tests.pipeline.conftest import Desk, counts, flags, skips, the_point, the_run
from tests.published import import_folder, past_point, point, score, write

pytestmark = pytest.mark.django_db

DAY = "2026-08-01"
MASTER = {"amd-master.yaml": master()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "published"


def imported(folder: Path, **files: Any) -> None:
    import_folder(write(folder, **files))


def test_published_rows_become_an_official_run_of_their_id_and_attempt(folder):
    imported(folder, benchmarks=[point(4, attempt=3), point(8, attempt=3)])
    run = the_run()
    assert (run.publication, run.attempt) == (Run.Publication.OFFICIAL, 3)
    assert (run.event, run.sha, run.received_count) == ("", "", 2)
    assert [p.concurrency for p in Point.objects.order_by("concurrency")] == [4, 8]
    assert Sweep.objects.get().state == Sweep.State.CURRENT


def test_what_was_not_published_is_missing_and_not_invented(folder, desk):
    desk.ingest(run_object(90000), results(row()), configs=MASTER)
    imported(folder, benchmarks_history=[past_point()])
    sweep = Sweep.objects.get(run=the_run())
    assert (sweep.config_key.key, sweep.checkpoint, sweep.image) == (KEY, None, "")
    assert sweep.run.jobs_known is False
    text = flags(the_point(sweep=sweep))["published"]
    assert text == "published by the official dashboard; checkpoint not published"


def test_importing_twice_changes_no_row_and_begins_no_generation(folder):
    files = {
        "benchmarks": [point(4), point(8)],
        "benchmarks_history": [past_point(4)],
        "evaluations": [score()],
        "reliability": [stat(), stat()],
    }
    imported(folder, **files)
    before, generation = counts(), Generation.objects.get().number
    stamps = list(Point.objects.values_list("pk", "updated_at"))
    imported(folder, **files)
    assert counts() == before
    assert Generation.objects.get().number == generation
    assert list(Point.objects.values_list("pk", "updated_at")) == stamps


def test_later_files_add_rows_and_take_none_away(folder):
    imported(folder, benchmarks=[point(4), point(8)])
    imported(folder, benchmarks=[point(8), point(16)])
    concurrencies = Point.objects.order_by("concurrency").values_list("concurrency")
    assert [c for (c,) in concurrencies] == [4, 8, 16]
    assert RawRecord.objects.count() == 3


@pytest.mark.parametrize("history_first", [True, False])
def test_the_fuller_row_of_a_point_counts_whichever_came_first(folder, history_first):
    full, less = {"benchmarks": [point()]}, {"benchmarks_history": [past_point()]}
    for files in (less, full) if history_first else (full, less):
        for old in folder.glob("*.json"):
            old.unlink()
        imported(folder, **files)
    assert the_point().image == "img/sglang:1"
    assert skips() == {}


@pytest.mark.parametrize("published_first", [True, False])
def test_artifacts_of_a_run_win_whichever_came_first(
    folder: Path, desk: Desk, *, published_first: bool
) -> None:
    def publish() -> None:
        changed = {"tput_per_gpu": 1.0, "output_tput_per_gpu": 0.5}
        rows = [point(64, metrics=changed, attempt=2), point(128, attempt=2)]
        imported(
            folder, benchmarks=rows, evaluations=[score(metrics={"em_strict": 0.1})]
        )

    if published_first:
        publish()
    evals = {"eval_results_all": {"agg_eval_all.json": [eval_row()]}}
    desk.ingest(run_object(), results(row()) | evals)
    if not published_first:
        publish()
    measured = the_point(concurrency=64, is_current=True)
    assert measured.tput_per_gpu == 3156.8
    assert "published" not in flags(measured)
    assert "published" in flags(the_point(concurrency=128))
    assert EvalResult.objects.get().strict == 0.9697
    run = the_run()
    assert (run.event, run.title, run.status) == ("push", "Run Sweep", "completed")
    assert skips() == {}


def test_replay_of_a_published_run_needs_no_file(folder):
    imported(folder, benchmarks=[point(4)], evaluations=[score()])
    before = counts(), list(Point.objects.values_list("pk", "updated_at", "metrics"))
    replay_run(the_run())
    after = counts(), list(Point.objects.values_list("pk", "updated_at", "metrics"))
    assert after == before


def test_what_was_published_of_another_branch_is_official(folder, desk):
    run = run_object(event="pull_request", head_branch="x")
    desk.ingest(run, results(row()))
    assert the_run().publication == Run.Publication.UNOFFICIAL
    imported(folder, benchmarks=[point()])
    assert the_run().publication == Run.Publication.OFFICIAL


def test_published_rows_of_a_repository_that_is_not_official_are_not(folder):
    import_folder(write(folder, benchmarks=[point()]), repo="somebody/fork")
    assert the_run().publication == Run.Publication.UNOFFICIAL


def test_an_upload_cannot_pass_for_what_was_published(desk):
    run = run_object(event="pull_request", head_branch="x")
    desk.ingest(run, {"published:benchmarks": {"benchmarks.json": [point()]}})
    assert Artifact.objects.get().name == "_published:benchmarks"
    assert the_run().publication == Run.Publication.UNOFFICIAL
    assert not Point.objects.exists()


def test_experts_are_no_gpus_of_their_own(folder):
    roles = {"prefill_tp": 4, "prefill_ep": 4, "decode_tp": 4, "decode_ep": 4}
    counted = {"num_prefill_gpu": 16, "num_decode_gpu": 16}
    imported(folder, benchmarks=[point(64, **roles, **counted)])
    stored = the_point()
    assert stored.gpus == 4
    assert "16 prefill GPUs (the sizes make 4)" in flags(stored)["published"]


def test_roles_that_do_not_add_up_are_doubted_as_measured_ones_are(folder):
    found = disagg_row(tput_per_gpu=600.0)
    names = [name for name in point() if name.startswith(("prefill", "decode", "num_"))]
    roles = {name: found[name] for name in names} | {
        "prefill_dp_attention": False,
        "decode_dp_attention": False,
    }
    rates = {n: found[n] for n in ("tput_per_gpu", "output_tput_per_gpu")}
    rates |= {"input_tput_per_gpu": 2000.0, "median_e2el": found["median_e2el"]}
    several = {"disagg": True, "is_multinode": True}
    imported(folder, benchmarks=[point(64, **roles, **several, metrics=rates)])
    stored = the_point()
    assert (stored.prefill_gpus, stored.decode_gpus, stored.gpus) == (4, 20, 24)
    assert stored.is_out
    assert "throughput_sum" in flags(stored)


def test_interactivity_without_a_time_per_token_is_none(folder):
    odd = {"median_tpot": 0.0, "std_intvty": 1000.0}
    imported(folder, benchmarks=[point(metrics=odd)])
    stored = the_point()
    assert stored.tput_per_gpu == 3156.8
    assert stored.median_intvty is None
    assert "std_intvty" not in stored.metrics


def test_runs_and_changelogs_come_from_the_workflow_file(folder):
    run = {
        "github_run_id": "90001",
        "name": "Run Sweep - a change",
        "conclusion": "success",
        "run_attempt": 2,
        "html_url": "https://github.com/o/r/actions/runs/90001",
        "created_at": "2026-08-01T04:08:16Z",
        "date": DAY,
    }
    entry = {
        "workflow_run_id": "90001",
        "date": DAY,
        "base_ref": "b1",
        "head_ref": "h1",
        "config_keys": [KEY],
        "description": "one\ntwo",
        "pr_link": "https://github.com/o/r/pull/501",
    }
    info = {"runs": [run], "changelogs": [entry], "configs": []}
    imported(folder, workflow_info=info, benchmarks=[point(4, attempt=2)])
    stored = the_run()
    assert (stored.title, stored.conclusion) == ("Run Sweep - a change", "success")
    assert stored.created_at.isoformat() == "2026-08-01T04:08:16+00:00"
    assert (stored.attempt, stored.pr_number) == (2, 501)
    assert ChangelogEntry.objects.get().description == ["one", "two"]


def stat(**changes: Any) -> dict[str, Any]:
    return {"hardware": "b200", "date": DAY, "n_success": 3, "total": 4} | changes


def test_a_file_says_everything_of_its_days_and_nothing_of_others(folder):
    earlier = stat(date="2026-07-01")
    imported(folder, reliability=[earlier, stat(), stat(), stat(total=9)])
    imported(folder, reliability=[stat(), stat(), stat()])
    stored = PublishedRow.objects.order_by("date")
    assert [(str(r.date), r.times) for r in stored] == [("2026-07-01", 1), (DAY, 3)]


def test_rows_of_no_run_and_of_no_day_are_told_and_left_out(folder, capsys):
    bad = [
        point(run_url=None),
        point(run_url="https://x/actions/runs/0"),
        point(date="soon"),
    ]
    imported(folder, benchmarks=[*bad, point(4)])
    told = capsys.readouterr().err
    assert "benchmarks: 1 rows left out: no date" in told
    assert "benchmarks: 2 rows left out: their run_url names no run" in told
    assert Point.objects.count() == 1


def test_a_row_that_is_no_point_is_skipped_with_its_reason(folder):
    without_lengths = point(8) | {"isl": None}
    imported(folder, benchmarks=[point(hardware="xyz900"), without_lengths])
    assert {reason: len(found) for reason, found in skips().items()} == {
        "unmapped_hw": 1,
        "missing_isl_osl_conc": 1,
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "benchmarks.json: not JSON"),
        ('{"a": 1}', "benchmarks: not a list of objects"),
        ("[1]", "benchmarks: not a list of objects"),
        ('[{"date": NaN}]', "benchmarks.json: not JSON"),
    ],
)
def test_a_file_that_is_another_is_refused_in_one_line(folder, content, said):
    write(folder)
    (folder / "benchmarks.json").write_text(content)
    with pytest.raises(CommandError, match=said):
        import_folder(folder)
    assert not Run.objects.exists()


def test_a_folder_without_any_of_the_files_is_refused(folder):
    with pytest.raises(CommandError, match=r"holds none of benchmarks\.json"):
        call_command("import_published", str(write(folder)))
