"""The members of an artifact: within limits, inside their folder, or refused."""

import io
import stat
import zipfile
from pathlib import Path

import pytest

from ingest.artifacts.members import (
    ArtifactError,
    Limits,
    MemberError,
    judge,
    open_zip,
    zip_entries,
)
from tests.ingest.records import write_zip

LIMITS = Limits()


def contents_of(path: Path, limits: Limits = LIMITS):
    return judge(zip_entries(open_zip(path)), limits)


def reasons(path: Path, limits: Limits = LIMITS) -> dict[str, str]:
    contents = contents_of(path, limits)
    return {refusal.member: refusal.reason for refusal in contents.refused}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../agg.json", "path_traversal"),
        ("a/../../agg.json", "path_traversal"),
        ("/etc/agg.json", "path_traversal"),
        ("C:/agg.json", "path_traversal"),
        ("a\\b.json", "bad_name"),
    ],
)
def test_members_that_leave_their_folder_are_refused(
    tmp_path: Path, name: str, reason: str
) -> None:
    path = write_zip(tmp_path / "a.zip", {name: "{}", "good.json": "{}"})

    assert reasons(path) == {name: reason}
    assert [member.name for member in contents_of(path).members] == ["good.json"]


def test_links_in_a_zip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("link.json")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")

    assert reasons(path) == {"link.json": "symlink"}


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.json": "{}"})
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    path.write_bytes(data)

    assert reasons(path) == {"a.json": "encrypted"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for text in ("{}", "[]"):
            archive.writestr("a.json", text)

    assert contents_of(path).members == []
    assert reasons(path) == {"a.json": "duplicate_member"}


def test_a_zip_bomb_is_refused_by_ratio(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"bomb.json": b"0" * (4 << 20)})

    assert reasons(path) == {"bomb.json": "zip_bomb"}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_bound_are_refused(
    tmp_path: Path, method: int
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.json", "{}")

    assert contents_of(path).members == []
    assert reasons(path) == {"a.json": "bad_zip"}


def test_caps_are_absolute_too(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.json": "x" * 100, "b.json": "x" * 100})

    assert reasons(path, Limits(member=99)) == {
        "a.json": "member_too_large",
        "b.json": "member_too_large",
    }
    with pytest.raises(ArtifactError, match="artifact_too_large"):
        contents_of(path, Limits(artifact=150))
    with pytest.raises(ArtifactError, match="too_many_members"):
        contents_of(path, Limits(members=1))


def test_a_lying_header_does_not_overrun_its_size(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.json": "x" * 5000})
    data = path.read_bytes().replace((5000).to_bytes(4, "little"), b"\x10\0\0\0")
    path.write_bytes(data)

    (member,) = contents_of(path).members

    with pytest.raises(MemberError):
        member.read_bytes()


def test_a_broken_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"PK\x03\x04 not a zip")

    with pytest.raises(ArtifactError, match="bad_zip"):
        open_zip(path)


def test_broken_bytes_of_a_member_are_one_fault(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.json": bytes(range(256)) * 4})
    data = bytearray(path.read_bytes())
    data[60:65] = b"\xff\xff\xff\xff\xff"
    path.write_bytes(data)

    (member,) = contents_of(path).members

    with pytest.raises(MemberError):
        member.sha256()


def test_an_artifact_zip_can_stand_in_memory(tmp_path: Path) -> None:
    buffer = io.BytesIO(write_zip(tmp_path / "a.zip", {"a.json": "{}"}).read_bytes())

    contents = judge(zip_entries(open_zip(buffer)), LIMITS)

    assert contents.members[0].read_bytes() == b"{}"
