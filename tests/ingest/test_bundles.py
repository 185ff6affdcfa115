"""Bundles on disk: what a folder or a zip of a run holds, and what is none."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.artifacts.bundles import (
    BundleError,
    attempt_of,
    attempt_starts,
    open_bundle,
)
from ingest.artifacts.members import ArtifactError, Limits, artifact_digest
from tests.ingest.records import FIXED, RUN, write_bundle, write_zip

LIMITS = Limits()


def digest(bundle, position: int = 0) -> str:
    members = bundle.artifacts[position].contents(LIMITS).members
    return artifact_digest((member.name, member.sha256()) for member in members)


def test_folder_zip_and_zipped_bundle_hold_the_same(tmp_path: Path) -> None:
    members = {"agg_bmk.json": [FIXED], "deep/x.txt": "x"}
    folder = write_bundle(tmp_path / "folder", {"7-results_bmk": members})
    zipped = write_bundle(tmp_path / "zipped", {})
    write_zip(zipped / "artifacts" / "results_bmk.zip", members)
    whole: dict[str, object] = {
        f"artifacts/results_bmk/{n}": v for n, v in members.items()
    }
    flat = write_zip(tmp_path / "flat.zip", {"run.json": RUN} | whole)
    nested_zip = (zipped / "artifacts" / "results_bmk.zip").read_bytes()
    inside = {"r/run.json": RUN, "r/artifacts/results_bmk.zip": nested_zip}
    below = write_zip(tmp_path / "below.zip", inside)

    bundles = [open_bundle(path, LIMITS) for path in (folder, zipped, flat, below)]

    assert {digest(bundle) for bundle in bundles} == {digest(bundles[0])}
    assert {bundle.artifacts[0].name for bundle in bundles} == {"results_bmk"}
    assert [bundle.artifacts[0].github_id for bundle in bundles] == [
        7,
        None,
        None,
        None,
    ]


def test_items_without_folder_and_folders_without_item_both_count(
    tmp_path: Path,
) -> None:
    path = write_bundle(tmp_path, {"5-bmk_a": {"a.json": {}}, "bmk_b": {"b.json": {}}})
    item = {"size_in_bytes": 9, "created_at": "2026-08-01T21:00:00Z"}
    items = [
        item | {"id": 5, "name": "bmk_a", "expired": False},
        item | {"id": 6, "name": "bmk_a", "expired": True},
        item | {"id": 8, "name": "bmk_c", "expired": False},
    ]
    (path / "artifacts.json").write_text(json.dumps({"artifacts": items}))

    sources = open_bundle(path, LIMITS).artifacts

    found = [(s.name, s.github_id, s.expired, bool(s.missing)) for s in sources]
    assert found == [
        ("bmk_a", 5, False, False),
        ("bmk_a", 6, True, True),
        ("bmk_c", 8, False, True),
        ("bmk_b", None, False, False),
    ]
    assert sources[0].created_at == datetime(2026, 8, 1, 21, tzinfo=UTC)
    with pytest.raises(ArtifactError, match="expired"):
        sources[1].contents(LIMITS)


def test_jobs_attempts_and_configs_are_read(tmp_path: Path) -> None:
    path = write_bundle(tmp_path, {})
    attempts = [RUN | {"run_attempt": 2}, RUN]
    (path / "run.attempts.json").write_text(json.dumps(attempts))
    (path / "jobs.json").write_text(json.dumps({"jobs": [{"id": 1}]}))
    configs = path / "repo" / ".github" / "configs"
    configs.mkdir(parents=True)
    (configs / "amd-master.yaml").write_text("a: 1\n")

    bundle = open_bundle(path, LIMITS)

    assert [attempt["run_attempt"] for attempt in bundle.attempts] == [1, 2]
    assert bundle.jobs == [{"id": 1}]
    assert bundle.configs == {"amd-master.yaml": "a: 1\n"}


def test_without_jobs_they_are_unknown_and_the_run_is_its_attempt(
    tmp_path: Path,
) -> None:
    bundle = open_bundle(write_bundle(tmp_path, {}), LIMITS)

    assert bundle.jobs is None
    assert bundle.attempts == [RUN]
    assert bundle.artifacts == []


def test_a_broken_list_is_a_notice_and_not_the_end(tmp_path: Path) -> None:
    path = write_bundle(tmp_path, {"bmk_a": {"a.json": {}}})
    (path / "jobs.json").write_text("[1, 2")
    (path / "artifacts.json").write_text('"text"')

    bundle = open_bundle(path, LIMITS)

    assert bundle.jobs is None
    assert [source.name for source in bundle.artifacts] == ["bmk_a"]
    assert len(bundle.notices) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "run.json: "),
        ("[]", "run.json: not an object"),
        ('{"id": "x", "created_at": "2026-08-01T20:00:00Z"}', "id is not a number"),
        ('{"id": 5}', "created_at is missing"),
        ('{"id": 5, "created_at": "soon"}', "created_at is not a time"),
    ],
)
def test_a_broken_run_is_one_clear_line(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "run.json").write_text(text)

    with pytest.raises(BundleError, match=message) as caught:
        open_bundle(tmp_path, LIMITS)

    assert "\n" not in str(caught.value)


def test_what_is_no_bundle_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("x")
    (tmp_path / "x.zip").write_bytes(b"no zip")

    for path in (tmp_path, tmp_path / "absent", tmp_path / "x.zip", tmp_path / "x.txt"):
        with pytest.raises(BundleError):
            open_bundle(path, LIMITS)


def test_an_artifact_that_the_zip_of_a_bundle_cannot_open_is_one_fault(
    tmp_path: Path,
) -> None:
    """Its name differs between the zip's directory and what stands before its bytes."""
    name = "artifacts/1-results_bmk.zip"
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run.json", json.dumps(RUN))
        archive.writestr(name, b"never opened")
    other = name.replace("results", "Results")
    path.write_bytes(path.read_bytes().replace(name.encode(), other.encode(), 1))
    artifact = open_bundle(path, Limits()).artifacts[0]

    with pytest.raises(ArtifactError, match="bad_zip: cannot open"):
        artifact.contents(Limits())


def test_links_in_a_bundle_folder_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    path = write_bundle(tmp_path / "b", {"bmk_a": {"a.json": {}}})
    (path / "artifacts" / "bmk_a" / "link.json").symlink_to(secret)
    (path / "artifacts" / "bmk_b").symlink_to(tmp_path)

    sources = {s.name: s for s in open_bundle(path, LIMITS).artifacts}

    refused = sources["bmk_a"].contents(LIMITS).refused
    assert [(r.member, r.reason) for r in refused] == [("link.json", "symlink")]
    with pytest.raises(ArtifactError, match="symlink"):
        sources["bmk_b"].contents(LIMITS)


def test_an_artifact_belongs_to_the_attempt_it_was_made_in() -> None:
    attempts = [
        {"run_attempt": 1, "run_started_at": "2026-08-01T10:00:00Z"},
        {"run_attempt": 2, "run_started_at": "2026-08-01T12:00:00Z"},
    ]

    starts = attempt_starts(attempts)

    def at(hour: int) -> int:
        return attempt_of(datetime(2026, 8, 1, hour, 30, tzinfo=UTC), starts)

    assert [at(9), at(10), at(11), at(12)] == [1, 1, 1, 2]
    assert attempt_of(None, starts) == 2
    latest_only = attempt_starts(attempts[1:])
    assert attempt_of(datetime(2026, 8, 1, 11, tzinfo=UTC), latest_only) == 1
