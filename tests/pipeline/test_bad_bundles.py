"""What is no bundle, or hides something in one: one line each, and nothing stored."""

import copy
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from dashboard.models import Artifact, ConfigSnapshot, Point, RawRecord, Run
from ingest.artifacts.bundles import open_bundle
from ingest.artifacts.members import Limits
from ingest.pipeline import ingest_bundle, limits
from tests.ingest import golden
from tests.pipeline.bundles import (
    REPOSITORY,
    STARTED,
    changelog,
    iso,
    jobs_for,
    master,
    results,
    row,
    run_object,
    write_json,
    zip_of,
)
from tests.pipeline.conftest import Desk, forget_runs, refused, skips, the_run


def test_a_missing_path_is_one_line(
    tmp_path: Path, db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no such file" in refused(tmp_path / "nowhere", capsys)


def test_a_path_that_no_file_can_have_is_one_line(
    db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "cannot be read" in refused(Path("/" + "a" * 5000), capsys)


def test_a_folder_without_a_run_is_no_bundle(
    tmp_path: Path, db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    assert "not a bundle" in refused(tmp_path, capsys)


@pytest.mark.parametrize("content", [b"", b"PK\3\4 torn", b"\0" * 1000])
def test_an_unreadable_zip_is_one_line(
    content: bytes, tmp_path: Path, db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(content)
    assert "not a readable zip" in refused(path, capsys)


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in run_object().items() if key != name}


BAD_RUNS = {
    "not an object": (["a list"], "not an object"),
    "cut off": (b'{"id": 90', "run.json"),
    "empty": (b"", "run.json"),
    "not UTF-8": (b'{"id": "\xff\xfe"}', "not UTF-8"),
    "deeply nested": (b"[" * 100_000, "nested too deeply"),
    "nested where nobody looks": (
        b'{"id": 90001, "x": ' + b"[" * 1_000 + b"]" * 1_000 + b"}",
        "run.json",
    ),
    "id is text": (run_object() | {"id": "90001"}, "id is not a number"),
    "id is true": (run_object() | {"id": True}, "id is not a number"),
    "id is missing": (_without("id"), "id is not a number"),
    "id is a fraction": (run_object() | {"id": 9.5}, "id is not a number"),
    "id is negative": (run_object() | {"id": -1}, "no run id"),
    "id is zero": (run_object() | {"id": 0}, "no run id"),
    "id is huge": (run_object() | {"id": 10**30}, "no run id"),
    "id of 5,000 digits": (b'{"id": ' + b"9" * 5000 + b"}", "run.json"),
    "no created_at": (_without("created_at"), "created_at is missing"),
    "created_at is a number": (run_object(created_at=5), "created_at is not a time"),
    "created_at is a word": (run_object(created_at="today"), "is not a time"),
    "created_at without zone": (
        run_object(created_at="2026-08-01T20:00:00"),
        "is not a time",
    ),
    "created_at before all years": (
        run_object(created_at="0001-01-01T00:00:00+14:00"),
        "is not a time",
    ),
    "created_at after all years": (
        run_object(created_at="9999-12-31T23:59:59-12:00"),
        "is not a time",
    ),
    "created_at in a year of no benchmark": (
        run_object(created_at="9999-12-31T23:59:59Z"),
        "is not a time",
    ),
    "run_started_at long ago": (
        run_object(run_started_at="0001-01-01T00:00:00Z"),
        "run_started_at is not a time",
    ),
    "run_started_at is odd": (run_object(run_started_at={}), "run_started_at"),
    "no repository": (_without("repository"), "repository.full_name is missing"),
    "repository is text": (run_object(repository="a/b"), "full_name is missing"),
    "repository is no name": (
        run_object(repository={"full_name": "nobody"}),
        "no owner/name",
    ),
    "repository without owner": (
        run_object(repository={"full_name": "/repo"}),
        "no owner/name",
    ),
    "repository with odd signs": (
        run_object(repository={"full_name": "a\nb/<c>"}),
        "no owner/name",
    ),
    "repository is long": (
        run_object(repository={"full_name": "a/" + "b" * 300}),
        "no owner/name",
    ),
}


@pytest.mark.parametrize("case", BAD_RUNS)
def test_a_run_that_is_no_run_is_one_line(
    case: str, desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    content, expected = BAD_RUNS[case]
    bundle = desk.write(None, results(row()))
    write_json(bundle / "run.json", content)
    assert expected in refused(bundle, capsys)


def test_run_facts_of_odd_types_are_missing_and_odd_texts_are_stored(
    desk: Desk,
) -> None:
    run = run_object(
        display_title="a\0b\ud800c",
        event=["push"],
        head_branch=None,
        head_sha="\0" * 100,
        actor="octocat",
        pull_requests=[{"number": "7"}, 3, {"number": True}, {"number": 8}],
        conclusion="x" * 500,
        run_attempt=10**12,
    )
    desk.ingest(run, results(row()))
    stored = the_run()
    assert stored.title == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"
    assert (stored.event, stored.branch, stored.actor) == ("", "", "")
    assert (stored.pr_number, stored.attempt) == (8, 1)
    assert stored.received_count == 1


@pytest.mark.parametrize(
    "attempts",
    [
        [run_object(run_attempt=10**12), run_object(run_attempt=-3)],
        [run_object(run_attempt=True), run_object(run_attempt=None)],
        [
            run_object(run_attempt=2),
            run_object(run_attempt=2, run_started_at=None, created_at=None),
        ],
        [],
    ],
)
def test_odd_attempts_do_not_stop_a_run(desk: Desk, attempts: list[Any]) -> None:
    desk.ingest(None, results(row()), attempts=attempts)
    assert Point.objects.get().attempt in (1, 2)


def test_attempts_that_are_no_list_are_one_line(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = desk.write(None, results(row()))
    write_json(bundle / "run.attempts.json", {"attempts": "two"})
    assert "run.attempts.json" in refused(bundle, capsys)


@pytest.mark.parametrize("content", [b"[{", {"jobs": [1, 2]}, b"null", "jobs"])
def test_broken_jobs_are_unknown_jobs(
    desk: Desk, content: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = desk.write(None, results(row()))
    write_json(bundle / "jobs.json", content)
    call_command("ingest_path", str(bundle))
    assert "notice: jobs.json" in capsys.readouterr().out
    assert not the_run().jobs_known
    assert Point.objects.count() == 1


def test_odd_jobs_are_left_out_and_their_texts_are_stored(desk: Desk) -> None:
    jobs: list[Any] = jobs_for([64])
    jobs += [{"id": 10**30, "name": "huge"}, {"id": True}, {"name": "no id"}]
    jobs += [{"id": 7, "name": "a\0\ud800" * 10, "started_at": "x", "run_attempt": -1}]
    jobs += [{"id": 8, "name": "n" * 50_000, "runner_name": {}}]
    desk.ingest(None, results(row()), jobs=jobs)
    stored = dict(the_run().jobs.values_list("github_job_id", "name"))
    assert set(stored) == {5064, 7, 8}
    assert "\0" not in stored[7]
    assert the_run().planned_count == 1


def test_an_artifact_list_that_does_not_parse_is_a_notice(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = desk.write(None, results(row()))
    write_json(bundle / "artifacts.json", b"[")
    call_command("ingest_path", str(bundle))
    assert "notice: artifacts.json" in capsys.readouterr().out
    assert Artifact.objects.get().github_artifact_id == 1000
    assert Point.objects.count() == 1


ITEMS: list[dict[str, Any]] = [
    {"id": 1000, "name": "results_bmk", "size_in_bytes": 10**30},
    {"id": 1000, "name": "results_bmk", "size_in_bytes": True},
    {"id": 1000, "name": "another"},
    {"id": 10**30, "name": "huge"},
    {"id": -1, "name": "negative"},
    {"id": True, "name": "true"},
    {"id": None, "name": "none", "expired": True},
    {"id": None, "name": "none", "expired": True},
    {"id": 2000, "name": "odd\0\ud800", "created_at": "0001-01-01T00:00:00+14:00"},
    {"id": 2001, "name": "n" * 5000},
    {"id": 2002, "name": ["a list"]},
    {"id": 2003},
]


def test_odd_artifact_items_never_stop_a_run(desk: Desk) -> None:
    bundle = desk.write(None, results(row()))
    write_json(bundle / "artifacts.json", ITEMS)
    desk.take(bundle)
    state = golden.state()
    assert Artifact.objects.filter(github_artifact_id=1000).count() == 1
    stored = Artifact.objects.get(github_artifact_id=1000)
    assert (stored.name, stored.state) == ("results_bmk", "fetched")
    record = Point.objects.get().raw_record
    assert record is not None
    assert record.artifact == stored
    assert "another" in skips()["duplicate_artifact"][0]
    assert desk.take(bundle).tally.is_unchanged
    assert golden.state() == state


def test_two_artifacts_of_one_name_and_bytes_without_id_are_one(desk: Desk) -> None:
    path = desk.write(None, results(row()))
    bundle = open_bundle(path, limits())
    bundle.artifacts[0].github_id = None
    bundle.artifacts.append(copy.copy(bundle.artifacts[0]))
    report = ingest_bundle(bundle)
    assert (report.points, report.skips) == (1, {})
    assert Artifact.objects.count() == RawRecord.objects.count() == 1
    assert ingest_bundle(bundle).tally.is_unchanged


def test_an_id_that_becomes_known_later_makes_no_second_artifact(desk: Desk) -> None:
    path = desk.write(None, {**results(row()), "bmk_x": {"agg_x.json": row(conc=8)}})
    for order in ([None, 1000], [1000, None]):
        forget_runs()
        for known in order:
            bundle = open_bundle(path, limits())
            for number, source in enumerate(bundle.artifacts):
                source.github_id = known and known + number
            ingest_bundle(bundle)
        found = Artifact.objects.values_list("github_artifact_id", flat=True)
        assert set(found) == {1000, 1001}
        assert len(found) == 2
        state = golden.state()
        call_command("replay", "90001")
        assert golden.state() == state


def test_a_zip_of_a_bundle_equals_its_folder_twice_and_across(desk: Desk) -> None:
    folder = desk.write(None, results(row()), changelog=changelog())
    desk.take(folder)
    state, stamps = golden.state(), golden.stamps()
    digests = list(Artifact.objects.order_by("pk").values_list("sha256", flat=True))
    for inside in (True, False):
        for _ in range(2):
            report = desk.take(zip_of(folder, inside=inside))
            assert report.tally.is_unchanged, report.tally.by_table
    assert golden.state() == state
    assert golden.stamps() == stamps
    found = Artifact.objects.order_by("pk").values_list("sha256", flat=True)
    assert list(found) == digests


def test_an_artifact_zipped_by_itself_has_the_digest_of_its_folder(desk: Desk) -> None:
    folder = desk.write(None, results(row()))
    desk.take(folder)
    digest = Artifact.objects.get().sha256
    inner = folder / "artifacts" / "1000-results_bmk"
    with zipfile.ZipFile(f"{inner}.zip", "w") as archive:
        archive.write(inner / "agg_bmk.json", "agg_bmk.json")
    (inner / "agg_bmk.json").unlink()
    inner.rmdir()
    assert desk.take(folder).tally.is_unchanged
    assert Artifact.objects.get().sha256 == digest


def test_a_bundle_of_too_many_files_is_one_line(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = desk.write(None, results(row()))
    few = Limits(bundle_files=2)
    monkeypatch.setattr("ingest.management.commands.ingest_path.limits", lambda: few)
    assert "too many" in refused(bundle, capsys)


def test_a_run_id_known_under_another_repository_is_refused_naming_it(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.ingest(None, results(row()))
    other = run_object(repository={"full_name": "someone/fork"})
    line = refused(desk.write(other, results(row())), capsys)
    assert f"already known under {REPOSITORY}" in line
    case = run_object(repository={"full_name": REPOSITORY.upper()})
    assert desk.ingest(case, results(row())).points == 1
    assert Run.objects.count() == 1


def test_configs_of_a_run_without_a_commit_belong_to_no_commit(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    configs = {"amd-master.yaml": master()}
    for run_id in (90001, 90002):
        run = run_object(run_id, head_sha=None, created_at=iso(STARTED))
        call_command(
            "ingest_path", str(desk.write(run, results(row()), configs=configs))
        )
        assert "no commit" in capsys.readouterr().out
    assert not ConfigSnapshot.objects.exists()
