"""Archives made to exhaust whoever reads them."""

import io
import time
import zipfile
from pathlib import Path

import pytest

from ingest.artifacts.bundles import BundleError, open_bundle
from ingest.artifacts.members import (
    ArtifactError,
    Limits,
    judge,
    open_zip,
    zip_entries,
)
from ingest.conversion import ArtifactMeta, Reading
from tests.fuzzing.inputs import packed

MILLION = 1_000_000


def listing(count: int) -> bytes:
    """Return a zip of so many names of the same empty member: a directory only."""
    name = b"%07d.json"
    entry = (
        b"PK\x01\x02\x14\x00\x14\x00" + b"\x00" * 20 + (12).to_bytes(2, "little")
    ) + b"\x00" * 16
    directory = b"".join(entry + name % number for number in range(count))
    size, offset = len(directory), 0
    end64 = (
        b"PK\x06\x06"
        + (44).to_bytes(8, "little")
        + b"\x2d\x00\x2d\x00"
        + b"\x00" * 8
        + count.to_bytes(8, "little") * 2
        + size.to_bytes(8, "little")
        + offset.to_bytes(8, "little")
    )
    locator = (
        b"PK\x06\x07" + b"\x00" * 4 + size.to_bytes(8, "little") + b"\x01\x00\x00\x00"
    )
    end = b"PK\x05\x06" + b"\x00" * 4 + b"\xff" * 12 + b"\x00\x00"
    return directory + end64 + locator + end


def test_a_million_members_are_refused_before_they_are_listed() -> None:
    archive = listing(MILLION)
    began = time.process_time()
    with pytest.raises(ArtifactError, match="its directory has"):
        judge(zip_entries(open_zip(io.BytesIO(archive))), Limits())
    assert time.process_time() - began < 0.5


def test_a_bundle_of_a_million_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(listing(MILLION))
    with pytest.raises(BundleError, match="its directory has"):
        open_bundle(path, Limits())


def test_an_archive_within_an_archive_is_not_unpacked() -> None:
    inner = packed([("a.json", b'{"hw": "x"}')])
    for _ in range(5):
        inner = packed([("inner.zip", inner), ("inner.json", inner)])
    contents = judge(zip_entries(open_zip(io.BytesIO(inner))), Limits())
    reading = Reading(ArtifactMeta(0, "results_bmk"), contents, Limits())
    assert list(reading.records()) == []
    assert [skip.reason for skip in reading.skips] == ["bad_json"]


def test_members_that_share_their_bytes_are_bounded_in_all() -> None:
    """A directory may name one small member a thousand times: each name counts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.json", b" " * (1 << 20))
        info = archive.infolist()[0]
        for number in range(100):
            copy = zipfile.ZipInfo(f"{number}.json")
            for name in ("header_offset", "file_size", "compress_size", "CRC"):
                setattr(copy, name, getattr(info, name))
            archive.filelist.append(copy)
    with pytest.raises(ArtifactError, match="artifact_too_large"):
        judge(zip_entries(open_zip(stream)), Limits(artifact=50 << 20))


def test_a_name_without_a_letter_is_a_refused_member() -> None:
    archive = packed([("a.json", b"{}")]).replace(b"a.json", b"\0.json")
    contents = judge(zip_entries(open_zip(io.BytesIO(archive))), Limits())
    assert [refused.reason for refused in contents.refused] == ["bad_name"]
