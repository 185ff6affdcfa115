"""Members of an artifact, from a folder or a zip, within limits; bytes only."""

import hashlib
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from dashboard.vocabulary.zips import METHODS, UNREADABLE, open_archive

_CHUNK = 1 << 20
# The database indexes names; GitHub itself allows 260 characters.
_MAX_NAME = 1_000
_DEFLATE_FLOOR = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What is refused, in bytes but for counts.

    ``ratio`` is unpacked over packed size, asked of members above 1 MB. A JSON member
    above ``memory`` is streamed record by record, each record within ``record``.
    ``run`` is the text of all records of a run, which are in memory together.
    """

    artifact: int = 4 << 30
    member: int = 2 << 30
    members: int = 20_000
    ratio: int = 400
    memory: int = 64 << 20
    record: int = 16 << 20
    run: int = 256 << 20
    bundle_files: int = 200_000


class ArtifactError(Exception):
    """An artifact that cannot be taken at all: ``reason`` is a word, then why."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class ExpiredError(ArtifactError):
    """An artifact whose bytes are deleted for good."""


class MemberError(Exception):
    """A member whose bytes cannot be read."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A member that is not taken: its name, a word and why."""

    member: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class MemberSource:
    """One file of an artifact; ``size`` in bytes, unpacked."""

    name: str
    size: int
    opener: Callable[[], BinaryIO]

    def open(self) -> BinaryIO:
        """Open the bytes; raises `MemberError`."""
        try:
            return self.opener()
        except UNREADABLE as error:
            raise MemberError(f"cannot open: {error}") from error

    def chunks(self, size: int = _CHUNK) -> Iterator[bytes]:
        """Yield the bytes in pieces; raises `MemberError` where they are broken."""
        with self.open() as stream:
            while chunk := read_some(stream, size):
                yield chunk

    def read_bytes(self) -> bytes:
        """Return all bytes; the caller has looked at ``size``."""
        # One piece, so that they need no second place in memory.
        return b"".join(self.chunks(max(self.size, 1)))

    def sha256(self) -> str:
        """Return the SHA-256 of the bytes, read in pieces."""
        digest = hashlib.sha256()
        for chunk in self.chunks():
            digest.update(chunk)
        return digest.hexdigest()


def read_some(stream: BinaryIO, size: int) -> bytes:
    """Read up to ``size`` bytes; raises `MemberError` where they are broken."""
    try:
        return stream.read(size)
    except UNREADABLE as error:
        raise MemberError(f"cannot read: {error}") from error


@dataclass(slots=True)
class Contents:
    """The members of an artifact, by name, and those refused."""

    members: list[MemberSource] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a folder or zip before it is judged; ``fault`` says what it is not."""

    name: str
    size: int
    packed: int
    opener: Callable[[], BinaryIO]
    fault: tuple[str, str] | None = None


def artifact_digest(members: Iterable[tuple[str, str]]) -> str:
    """Return the SHA-256 over sorted (member, member SHA-256) pairs.

    A folder and a zip of the same files have the same digest.
    """
    digest = hashlib.sha256()
    for name, sha256 in sorted(members):
        digest.update(f"{name}\0{sha256}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def folder_entries(root: Path) -> list[Entry]:
    """List the files below a folder by their relative names; links are faults."""
    entries = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            fault = ("symlink", "links are not followed")
            entries.append(Entry(name, 0, 0, _no_bytes, fault))
        elif path.is_file():
            size = path.stat().st_size
            entries.append(Entry(name, size, size, _file_opener(path)))
    return entries


def zip_entries(archive: zipfile.ZipFile) -> list[Entry]:
    """List the files of a zip; links, encrypted and odd names are faults."""
    return [
        Entry(
            info.filename,
            info.file_size,
            info.compress_size,
            _zip_opener(archive, info),
            _zip_fault(info),
        )
        for info in archive.infolist()
        if not info.filename.endswith("/")  # is_dir fails on a name without a letter
    ]


def open_zip(source: Path | BinaryIO) -> zipfile.ZipFile:
    """Open a zip; raises `ArtifactError` ``bad_zip``."""
    try:
        return open_archive(source)
    except UNREADABLE as error:
        raise ArtifactError("bad_zip", f"not a readable zip: {error}") from error


def judge(entries: list[Entry], limits: Limits) -> Contents:
    """Sort entries into members and refusals; raises `ArtifactError` over limits."""
    if len(entries) > limits.members:
        count = f"{len(entries)} members, {limits.members} allowed"
        raise ArtifactError("too_many_members", count)
    copies = Counter(entry.name for entry in entries)
    contents = Contents()
    for entry in sorted(entries, key=lambda entry: entry.name):
        fault = entry.fault or _fault(entry, copies[entry.name], limits)
        if fault:
            contents.refused.append(Refusal(entry.name, *fault))
        else:
            member = MemberSource(entry.name, entry.size, entry.opener)
            contents.members.append(member)
    total = sum(member.size for member in contents.members)
    if total > limits.artifact:
        size = f"{total} bytes unpacked, {limits.artifact} allowed"
        raise ArtifactError("artifact_too_large", size)
    return contents


def name_fault(name: str) -> tuple[str, str] | None:
    """Return why a member's name cannot be taken, if so."""
    parts = PurePosixPath(name).parts
    if not parts or "\\" in name or not _is_text(name):
        return ("bad_name", "the name is empty or holds characters of no file name")
    if len(name) > _MAX_NAME:
        return ("bad_name", f"the name has {len(name)} characters")
    if name.startswith("/") or ":" in parts[0]:
        return ("path_traversal", "the name is an absolute path")
    if ".." in parts:
        return ("path_traversal", "the name leaves its folder")
    return None


def _is_text(name: str) -> bool:
    """Tell whether a name is one that tables can hold."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in name


def _fault(entry: Entry, copies: int, limits: Limits) -> tuple[str, str] | None:
    if fault := name_fault(entry.name):
        return fault
    if copies > 1:
        return ("duplicate_member", f"{copies} members have this name")
    if entry.size > limits.member:
        size = f"{entry.size} bytes, {limits.member} allowed"
        return ("member_too_large", size)
    if entry.size > _DEFLATE_FLOOR and entry.size > entry.packed * limits.ratio:
        ratio = f"unpacks to over {limits.ratio} times its size ({entry.size} bytes)"
        return ("zip_bomb", ratio)
    return None


def _zip_fault(info: zipfile.ZipInfo) -> tuple[str, str] | None:
    if info.flag_bits & 0x1:
        return ("encrypted", "the member is encrypted")
    if stat.S_ISLNK(info.external_attr >> 16):
        return ("symlink", "links are not followed")
    if info.compress_type not in METHODS:
        return ("bad_zip", f"compression method {info.compress_type} is not read")
    if info.orig_filename != info.filename:
        return ("bad_name", "the name holds characters of no file name")
    return None


def _file_opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def _zip_opener(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> Callable[[], BinaryIO]:
    return lambda: _binary(archive, info)


def _binary(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    # A member's stream ends at its declared size, so a lying header cannot overrun it.
    stream: BinaryIO = archive.open(info)  # type: ignore[assignment]
    return stream


def _no_bytes() -> BinaryIO:
    raise MemberError("a link has no bytes of its own")
