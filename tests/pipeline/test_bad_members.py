"""Bad members of artifacts: each a skip by name, while the others count."""

import json
import os
import resource
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from dashboard.models import Artifact, Point
from tests.pipeline.bundles import results, row, run_object, write_json
from tests.pipeline.conftest import Desk, refused, skips

GIGABYTE = 1 << 30

Members = dict[str | zipfile.ZipInfo, bytes]


def _with_zip(desk: Desk, members: Members) -> Path:
    """Write a bundle whose only artifact is a zip with these members."""
    bundle = desk.write(run_object(), {})
    path = bundle / "artifacts" / "bmk_x.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return bundle


GOOD = json.dumps(row()).encode()


def _link() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("link.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


BAD_MEMBERS: dict[str, tuple[str | zipfile.ZipInfo, bytes, str]] = {
    "ratio bomb": ("bomb.json", b" " * (8 << 20), "zip_bomb"),
    "parent": ("../../evil.json", GOOD, "path_traversal"),
    "absolute": ("/etc/evil.json", GOOD, "path_traversal"),
    "drive": ("C:/evil.json", GOOD, "path_traversal"),
    "backslash": ("a\\..\\evil.json", GOOD, "bad_name"),
    "symlink": (_link(), b"/etc/passwd", "symlink"),
    "long name": ("n" * 5000 + ".json", GOOD, "bad_name"),
    "cut off": ("cut.json", GOOD[:-9], "bad_json"),
    "nested": ("deep.json", b"[" * 50_000 + b"]" * 50_000, "bad_json"),
    "nested a little": ("deep.json", b"[" * 300 + b"]" * 300, "bad_json"),
    "not UTF-8": ("odd.json", b'{"hw": "\xff"}', "bad_json"),
    "wrong type": ("word.json", b'"a word"', "wrong_type"),
    "null": ("null.json", b"null", "wrong_type"),
    "number": ("number.json", b"[17]", "wrong_type"),
}


@pytest.mark.parametrize("case", BAD_MEMBERS)
def test_a_bad_member_is_skipped_by_name_and_the_others_count(
    case: str, desk: Desk
) -> None:
    name, content, reason = BAD_MEMBERS[case]
    bundle = _with_zip(desk, {"agg_good.json": GOOD, name: content})
    desk.take(bundle)
    assert list(skips()) == [reason]
    assert Point.objects.count() == 1
    assert desk.take(bundle).tally.is_unchanged


def test_the_caps_on_bytes_are_absolute(desk: Desk, settings: Any) -> None:
    settings.FRONTIERBOARD_LIMITS = {"artifact": 3000, "member": 1000, "memory": 1000}
    big = os.urandom(1200)
    bundle = _with_zip(desk, {"agg_good.json": GOOD, "big.json": big})
    desk.take(bundle)
    assert list(skips()) == ["member_too_large"]
    members: Members = {f"part{n}.json": os.urandom(900) for n in range(4)}
    other = _with_zip(desk, members)
    write_json(other / "run.json", run_object(90002))
    desk.take(other)
    assert list(skips(90002)) == ["artifact_too_large"]
    assert Artifact.objects.get(run__github_run_id=90002).state == "rejected"


def test_an_encrypted_member_is_skipped_by_name(desk: Desk) -> None:
    bundle = _with_zip(desk, {"agg_good.json": GOOD, "secret.json": GOOD})
    path = bundle / "artifacts" / "bmk_x.zip"
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        data[data.rindex(signature) + offset] |= 1
    path.write_bytes(data)
    desk.take(bundle)
    assert list(skips()) == ["encrypted"]
    assert Point.objects.count() == 1


def test_a_member_whose_bytes_are_torn_is_skipped_by_name(desk: Desk) -> None:
    bundle = _with_zip(desk, {"agg_good.json": GOOD, "torn.json": GOOD})
    path = bundle / "artifacts" / "bmk_x.zip"
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\3\4") + 60
    data[at : at + 20] = bytes(20)
    path.write_bytes(data)
    desk.take(bundle)
    assert list(skips()) == ["bad_member"]
    assert Point.objects.count() == 1


def test_links_in_a_folder_are_not_followed(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = desk.write(None, results(row()))
    inside = bundle / "artifacts" / "1000-results_bmk" / "other.json"
    inside.symlink_to("/etc/passwd")
    (bundle / "repo").symlink_to("/etc")
    call_command("ingest_path", str(bundle))
    assert "notice: repo: links are not followed" in capsys.readouterr().out
    assert list(skips()) == ["symlink"]
    (bundle / "run.json").unlink()
    (bundle / "run.json").symlink_to("/etc/passwd")
    assert "links are not followed" in refused(bundle, capsys)


def test_file_names_that_are_no_text_are_refused_by_name(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = desk.write(None, results(row()))
    odd = os.fsencode(bundle / "artifacts" / "1000-results_bmk") + b"/odd\xff.json"
    Path(os.fsdecode(odd)).write_bytes(GOOD)
    folder = os.fsencode(bundle / "artifacts") + b"/bmk_\xfe"
    Path(os.fsdecode(folder)).mkdir()
    (Path(os.fsdecode(folder)) / "agg.json").write_bytes(
        json.dumps(row(conc=8)).encode()
    )
    Path(os.fsdecode(os.fsencode(bundle) + b"/loose\xff")).write_bytes(b"")
    call_command("ingest_path", str(bundle))
    capsys.readouterr().out.encode()
    assert list(skips()) == ["bad_name"]
    assert Point.objects.count() == 2


def test_a_gigabyte_member_is_refused_by_name_in_little_memory(
    desk: Desk, tmp_path: Path
) -> None:
    bundle = desk.write(None, results(row()))
    member = bundle / "artifacts" / "1000-results_bmk" / "huge.json"
    with member.open("wb") as sparse:
        sparse.write(b"[")
        sparse.truncate(GIGABYTE)
    before = _peak_mb()
    desk.take(bundle)
    assert _peak_mb() - before < 100
    assert list(skips()) == ["member_too_large"]
    assert Point.objects.count() == 1


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_a_hundred_thousand_members_are_refused_as_too_many(desk: Desk) -> None:
    members: Members = {f"m{n}.json": b"" for n in range(100_000)}
    desk.take(_with_zip(desk, members))
    assert "100000 members" in skips()["too_many_members"][0]
    assert Artifact.objects.get().state == "rejected"
