"""Which of several uploads counts, in whatever order they are taken in."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from dashboard.models import Artifact, Point, RawRecord
from ingest.tables import RECORDS
from ingest.upserts import upsert
from tests.ingest import golden
from tests.pipeline.bundles import (
    STARTED,
    busy_row,
    iso,
    results,
    row,
    write_json,
)
from tests.pipeline.conftest import Desk, forget_runs, skips, the_point

NOON = STARTED + timedelta(hours=1)


def nameless(desk: Desk, artifacts: dict[str, Any]) -> Path:
    """Write a bundle without ids and times: folders named by their artifacts."""
    bundle = desk.write(None, artifacts)
    (bundle / "artifacts.json").unlink()
    for folder in (bundle / "artifacts").iterdir():
        folder.rename(folder.with_name(folder.name.partition("-")[2]))
    return bundle


def replay_changes_nothing() -> None:
    state, stamps = golden.state(), golden.stamps()
    call_command("replay", "90001")
    assert golden.state() == state
    assert golden.stamps() == stamps


@pytest.mark.parametrize("name", ["results_bmk", "bmk_x"])
def test_newer_bytes_without_id_supersede_the_stored_ones(
    desk: Desk, name: str
) -> None:
    old = nameless(desk, {name: {"agg.json": [busy_row(64, 100.0)]}})
    new = nameless(desk, {name: {"agg.json": [busy_row(64, 200.0)]}})
    desk.take(old)
    desk.take(new)
    assert the_point().tput_per_gpu == 200.0
    replay_changes_nothing()
    for bundle in (new, old):
        assert desk.take(bundle).tally.is_unchanged
        assert the_point().tput_per_gpu == 200.0


@pytest.mark.parametrize("last", [100.0, 200.0])
def test_an_upload_without_id_takes_its_turn_among_those_with_one(
    desk: Desk, last: float
) -> None:
    bundles = [
        nameless(desk, results(busy_row(64, 100.0))),
        desk.write(None, results(busy_row(64, 200.0))),
    ]
    for bundle in bundles if last == 200.0 else bundles[::-1]:
        desk.take(bundle)
    assert the_point().tput_per_gpu == last
    replay_changes_nothing()
    for bundle in bundles:
        assert desk.take(bundle).tally.is_unchanged


def test_uploads_with_a_time_count_by_it_in_whatever_order(desk: Desk) -> None:
    bundles = [
        desk.write(
            None,
            {"bmk_x": {"agg.json": busy_row(64, throughput)}},
            uploaded_at=NOON + timedelta(minutes=minute),
            first_id=first_id,
        )
        for throughput, minute, first_id in ((100.0, 0, 2000), (200.0, 9, 1000))
    ]
    states = []
    for order in (bundles, bundles[::-1]):
        forget_runs()
        for bundle in order:
            desk.take(bundle)
        assert the_point().tput_per_gpu == 200.0
        assert list(skips()) == ["duplicate_point"]
        replay_changes_nothing()
        states.append(golden.state())
    assert states[0] == states[1]


def torn(bundle: Path) -> None:
    """Cut the zip of the bundle's only artifact."""
    (folder,) = (bundle / "artifacts").iterdir()
    for member in folder.iterdir():
        member.unlink()
    folder.rmdir()
    folder.with_name(f"{folder.name}.zip").write_bytes(b"PK\3\4 torn")


def cut(bundle: Path) -> None:
    """Leave half of the JSON."""
    (member,) = (bundle / "artifacts").rglob("*.json")
    member.write_bytes(member.read_bytes()[:-20])


def other(bundle: Path) -> None:
    """Write another figure."""
    (member,) = (bundle / "artifacts").rglob("*.json")
    member.write_text(json.dumps([busy_row(64, 1.0)]))


@pytest.mark.parametrize("spoil", [torn, cut, other])
def test_bytes_that_differ_under_a_known_id_do_not_count(
    desk: Desk, spoil: Any
) -> None:
    good = results(busy_row(64, 100.0), busy_row(128, 150.0))
    bundle, bad = desk.write(None, good), desk.write(None, good)
    spoil(bad)
    desk.take(bundle)
    state, records = golden.state(), list(RawRecord.objects.values_list("pk", "sha256"))
    report = desk.take(bad)
    assert report.points == 2
    assert report.rejected == []
    assert "those stored earlier count" in skips()["changed_artifact"][0]
    assert list(RawRecord.objects.values_list("pk", "sha256")) == records
    assert Artifact.objects.get().state == "fetched"
    replay_changes_nothing()
    assert desk.take(bad).tally.is_unchanged
    desk.take(bundle)
    assert golden.state() == state


def test_an_upload_that_shows_more_of_itself_is_read_again(
    desk: Desk, settings: Any
) -> None:
    members = {"agg.json": row(conc=8), "big.json": row(note="x" * 3000)}
    bundle = desk.write(None, {"bmk_x": members})
    usual = settings.FRONTIERBOARD_LIMITS
    settings.FRONTIERBOARD_LIMITS = usual | {"member": 2000}
    desk.take(bundle)
    assert list(skips()) == ["member_too_large"]
    settings.FRONTIERBOARD_LIMITS = usual
    desk.take(bundle)
    assert skips() == {}
    assert Point.objects.count() == 2
    settings.FRONTIERBOARD_LIMITS = usual | {"member": 2000}
    desk.take(bundle)
    assert list(skips()) == ["changed_artifact"]
    assert Point.objects.count() == 2


def test_records_stay_when_their_bytes_can_no_longer_be_parsed(
    desk: Desk, settings: Any
) -> None:
    members = {"agg.json": row(conc=8), "big.json": row(note="x" * 3000)}
    bundle = desk.write(None, {"bmk_x": members})
    desk.take(bundle)
    settings.FRONTIERBOARD_LIMITS = settings.FRONTIERBOARD_LIMITS | {"memory": 100}
    desk.take(bundle)
    assert Point.objects.count() == 2
    assert Artifact.objects.get().state == "fetched"
    replay_changes_nothing()


def test_a_stored_record_never_changes(desk: Desk) -> None:
    desk.ingest(None, results(row()))
    record = RawRecord.objects.get()
    place = (record.artifact_id, record.member, record.index)
    upsert(RECORDS, [(*place, "0" * 64, "{}")])
    assert RawRecord.objects.get().body == record.body


def test_a_readable_upload_takes_the_place_of_an_unreadable_one_without_id(
    desk: Desk,
) -> None:
    good = results(row())
    for spoil in (torn, cut):
        forget_runs()
        bad = nameless(desk, good)
        spoil(bad)
        assert desk.take(bad).rejected == ["results_bmk"]
        assert desk.take(bad).tally.is_unchanged
        assert desk.take(nameless(desk, good)).rejected == []
        assert Artifact.objects.get().state == "fetched"
        assert skips() == {}
        replay_changes_nothing()


def test_an_unreadable_upload_of_another_name_stays(desk: Desk) -> None:
    bad = nameless(desk, {"bmk_x": {"agg.json": row()}})
    torn(bad)
    desk.take(bad)
    assert desk.take(nameless(desk, results(row()))).rejected == ["bmk_x"]
    assert list(skips()) == ["bad_zip"]


def test_the_jobs_own_record_wins_over_an_aggregates(desk: Desk) -> None:
    own = busy_row(64, 100.0, power_valid=False)
    listed = busy_row(64, 200.0, power_valid=True)
    desk.ingest(None, {"bmk_x": {"agg.json": own}, **results(listed)})
    assert the_point().tput_per_gpu == 100.0
    assert list(skips()) == ["duplicate_point"]


def test_the_own_record_wins_among_reused_artifacts_too(desk: Desk) -> None:
    members = {
        "bmk_x/agg.json": busy_row(64, 100.0),
        "results_bmk/agg_bmk.json": [busy_row(64, 200.0)],
    }
    desk.ingest(None, {"reused-ingest-artifacts": members})
    assert the_point().tput_per_gpu == 100.0


def test_valid_power_wins_among_own_records_then_the_newer_upload(desk: Desk) -> None:
    valid, power = {"power_valid": True}, {"power_valid": False}
    uploads = {
        "bmk_a": {"agg.json": busy_row(64, 100.0, **valid)},
        "bmk_b": {"agg.json": busy_row(64, 200.0, **power)},
        "bmk_c": {"agg.json": busy_row(128, 300.0)},
        "bmk_d": {"agg.json": busy_row(128, 400.0)},
    }
    bundle = desk.write(None, uploads)
    items = json.loads((bundle / "artifacts.json").read_text())
    items[2]["created_at"] = iso(NOON + timedelta(minutes=1))
    write_json(bundle / "artifacts.json", items)
    desk.take(bundle)
    assert the_point(concurrency=64).tput_per_gpu == 100.0
    assert the_point(concurrency=128).tput_per_gpu == 300.0


def test_more_records_than_fit_are_refused_by_name(desk: Desk, settings: Any) -> None:
    settings.FRONTIERBOARD_LIMITS = settings.FRONTIERBOARD_LIMITS | {"run": 2000}
    uploads = {
        "bmk_a": {"agg.json": busy_row(8)},
        "bmk_b": {"agg.json": [busy_row(conc) for conc in (16, 32, 64, 128)]},
        "bmk_c": {"agg.json": busy_row(4)},
        "results_bmk": {"agg_bmk.json": [busy_row(4)]},
    }
    bundle = desk.write(None, uploads)
    report = desk.take(bundle)
    assert 0 < report.points < 6
    assert report.rejected == ["bmk_c", "results_bmk"]
    assert report.skips["run_too_large"] == 3
    assert "2000 bytes" in Artifact.objects.get(name="bmk_c").reason
    assert desk.take(bundle).tally.is_unchanged
    replay_changes_nothing()


def test_unknown_fields_are_named_once(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = desk.write(None, results(row(a_new_field=1), row(a_new_field=2, conc=8)))
    assert "a_new_field" in desk.take(bundle).notices[0]
    call_command("ingest_path", str(bundle))
    said = capsys.readouterr().out
    assert said.count("a_new_field") == 1


def test_what_a_later_list_does_not_tell_is_kept(desk: Desk) -> None:
    bundle = desk.write(None, results(row()))
    desk.take(bundle)
    before = Artifact.objects.get()
    (bundle / "artifacts.json").unlink()
    assert desk.take(bundle).tally.is_unchanged
    assert Artifact.objects.get().uploaded_at == before.uploaded_at == NOON
