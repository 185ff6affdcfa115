"""A run with its artifacts, as a folder or a zip of it; the same shape for GitHub."""

import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from ingest.artifacts.json_reading import BadJsonError, parse, storable
from ingest.artifacts.members import (
    ArtifactError,
    Contents,
    Entry,
    ExpiredError,
    Limits,
    MemberError,
    MemberSource,
    folder_entries,
    judge,
    name_fault,
    open_zip,
    read_some,
    zip_entries,
)
from ingest.artifacts.names import Kind
from ingest.artifacts.texts import clean_text, shortened

_CONFIG_FOLDERS = ("repo/configs/", "repo/.github/configs/")
_SMALL_FILE = 64 << 20
_MAX_ID = 2**63 - 1
_YEARS = range(1970, 2200)
_MAX_ATTEMPT = 9_999
# GitHub itself allows 260; the longest that was seen has 241.
_MAX_NAME = 1_000
_CHUNK = 1 << 20

JsonObject = dict[str, object]


class BundleError(Exception):
    """Not a bundle that can be read; the message is one line for a person."""


@dataclass(slots=True)
class ArtifactSource:
    """One upload: what the API says of it, and a way to its members.

    ``github_id`` is None where no item tells it. ``created_at`` is aware, UTC.
    ``missing`` says why there are no bytes, ``""`` where there are. ``is_listed``:
    it is named only, by choice; nobody asks for its bytes.
    """

    name: str
    github_id: int | None = None
    created_at: datetime | None = None
    expired: bool = False
    size: int | None = None
    missing: str = ""
    is_listed: bool = False
    expires_at: datetime | None = None
    loader: Callable[[Limits], Contents] = field(default=lambda _limits: Contents())

    def contents(self, limits: Limits) -> Contents:
        """List the members; raises `ArtifactError` where the artifact is refused."""
        if self.missing and self.expired:
            raise ExpiredError("expired_artifact", self.name)
        if self.missing:
            raise ArtifactError("no_bytes", self.missing)
        return self.loader(limits)


@dataclass(slots=True)
class Bundle:
    """A run, its attempts oldest first, its jobs (None: unknown) and artifacts.

    ``configs`` holds the master configs of the run's commit by file name.
    ``notices`` are lines about parts of the bundle that were left out.
    """

    run: JsonObject
    attempts: list[JsonObject]
    jobs: list[JsonObject] | None
    artifacts: list[ArtifactSource]
    configs: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def open_bundle(path: Path, limits: Limits) -> Bundle:
    """Read what a bundle says of its run, and list its artifacts without bytes.

    Takes a folder, or a zip of the folder or of its contents. Raises `BundleError`
    with one clear line.
    """
    return _bundle(_tree(path, limits))


def _tree(path: Path, limits: Limits) -> dict[str, Entry]:
    """Return every file of the bundle by its name below the bundle's own folder."""
    entries = _entries(path)
    if len(entries) > limits.bundle_files:
        raise BundleError(f"{path}: {len(entries)} files are too many")
    tree: dict[str, Entry] = {}
    for entry in entries:
        tree[entry.name] = _twice(entry) if entry.name in tree else entry
    return _below_run(path, tree)


def _entries(path: Path) -> list[Entry]:
    try:
        if path.is_dir():
            return folder_entries(path)
        if path.is_file():
            return _zip_tree(path)
    except OSError as error:
        raise BundleError(f"cannot be read: {error.strerror}") from error
    raise BundleError(f"{path}: no such file or folder")


def _twice(entry: Entry) -> Entry:
    fault = ("duplicate_member", "several members have this name")
    return replace(entry, fault=fault)


def _zip_tree(path: Path) -> list[Entry]:
    try:
        return zip_entries(open_zip(path))
    except ArtifactError as error:
        raise BundleError(f"{path}: {error.detail}") from error


def _below_run(path: Path, tree: dict[str, Entry]) -> dict[str, Entry]:
    """Cut the folder that a zip of a folder puts in front of every name."""
    if "run.json" in tree:
        return tree
    roots = [name for name in tree if name.count("/") == 1 and _is_run(name)]
    if len(roots) != 1:
        raise BundleError(f"{path}: not a bundle: there is no run.json")
    root = roots[0].removesuffix("run.json")
    return {n.removeprefix(root): e for n, e in tree.items() if n.startswith(root)}


def _is_run(name: str) -> bool:
    return name.rpartition("/")[2] == "run.json"


def _bundle(tree: dict[str, Entry]) -> Bundle:
    notices = _refused(tree)
    run = _run(tree)
    return Bundle(
        run=run,
        attempts=_attempts(tree, run),
        jobs=_jobs(tree, notices),
        artifacts=_artifacts(tree, _items(tree, notices)),
        configs=_configs(tree, notices),
        notices=notices,
    )


def _refused(tree: dict[str, Entry]) -> list[str]:
    """Return a line per file outside the artifacts that cannot be taken."""
    faults = {
        name: entry.fault or name_fault(name)
        for name, entry in tree.items()
        if not name.startswith("artifacts/")
    }
    return [f"{clean_text(n)}: {fault[1]}" for n, fault in faults.items() if fault]


def _run(tree: dict[str, Entry]) -> JsonObject:
    run = _json(tree["run.json"])
    if not isinstance(run, dict):
        raise BundleError("run.json: not an object")
    if not isinstance(run.get("id"), int) or isinstance(run.get("id"), bool):
        raise BundleError("run.json: id is not a number")
    for name in ("created_at", "run_started_at"):
        if name in run and parse_time(run[name]) is None:
            raise BundleError(f"run.json: {name} is not a time: {run[name]!r}")
    if "created_at" not in run:
        raise BundleError("run.json: created_at is missing")
    return run


def _attempts(tree: dict[str, Entry], run: JsonObject) -> list[JsonObject]:
    if "run.attempts.json" not in tree:
        return [run]
    attempts = _objects(_json(tree["run.attempts.json"]), "run.attempts.json", "")
    listed = {_attempt_number(attempt) for attempt in attempts}
    if _attempt_number(run) not in listed:
        attempts = [*attempts, run]
    return sorted(attempts, key=_attempt_number)


def _attempt_number(attempt: JsonObject) -> int:
    number = attempt.get("run_attempt", 1)
    is_number = isinstance(number, int) and not isinstance(number, bool)
    return number if is_number and 0 < number <= _MAX_ATTEMPT else 1  # type: ignore[operator,return-value]


def _jobs(tree: dict[str, Entry], notices: list[str]) -> list[JsonObject] | None:
    return _listing(tree, "jobs.json", "jobs", notices)


def _items(tree: dict[str, Entry], notices: list[str]) -> list[JsonObject]:
    return _listing(tree, "artifacts.json", "artifacts", notices) or []


def _listing(
    tree: dict[str, Entry], name: str, key: str, notices: list[str]
) -> list[JsonObject] | None:
    """Read a list, or None with a notice: a run can be read without it."""
    if name not in tree:
        return None
    try:
        return _objects(_json(tree[name]), name, key)
    except BundleError as error:
        notices.append(str(error))
        return None


def _objects(value: object, name: str, key: str) -> list[JsonObject]:
    items = value.get(key) if key and isinstance(value, dict) else value
    if not isinstance(items, list) or not all(isinstance(i, dict) for i in items):
        raise BundleError(f"{name}: not a list of objects")
    return items


def _configs(tree: dict[str, Entry], notices: list[str]) -> dict[str, str]:
    """Return master configs by file name; the newer folder wins."""
    configs: dict[str, str] = {}
    for folder in _CONFIG_FOLDERS:
        for name, entry in tree.items():
            base = name.removeprefix(folder)
            if name.startswith(folder) and "/" not in base and base.endswith(".yaml"):
                _add_config(configs, base, entry, notices)
    return configs


def _add_config(
    configs: dict[str, str], base: str, entry: Entry, notices: list[str]
) -> None:
    try:
        text = _small(entry).decode()
    except (BundleError, UnicodeDecodeError) as error:
        notices.append(f"{base}: {error}")
    else:
        configs.setdefault(base, text.replace("\0", "\ufffd"))


def _json(entry: Entry) -> object:
    try:
        return storable(parse(_small(entry)).value)
    except BadJsonError as error:
        raise BundleError(f"{entry.name}: {error}") from error
    except RecursionError as error:
        raise BundleError(f"{entry.name}: nested too deeply") from error


def _small(entry: Entry) -> bytes:
    if entry.fault:
        raise BundleError(f"{entry.name}: {entry.fault[1]}")
    if entry.size > _SMALL_FILE:
        raise BundleError(f"{entry.name}: {entry.size} bytes are too much")
    try:
        return MemberSource(entry.name, entry.size, entry.opener).read_bytes()
    except MemberError as error:
        raise BundleError(f"{entry.name}: {error}") from error


def _artifacts(tree: dict[str, Entry], items: list[JsonObject]) -> list[ArtifactSource]:
    """Join items and folders: an item without a folder stays, and the reverse."""
    folders = _folders(tree)
    sources = []
    for item in items:
        name, github_id = str(item.get("name", "")), _id(item)
        key = next((k for k in (f"{github_id}-{name}", name) if k in folders), None)
        entries = folders.pop(key) if key is not None else None
        sources.append(_source(name, item, entries))
    for key, entries in folders.items():
        head, _, name = key.partition("-")
        has_id = head.isdecimal() and len(head) < len(str(_MAX_ID)) and name != ""
        guess: JsonObject = {"id": int(head)} if has_id else {}
        sources.append(_source(name if has_id else key, guess, entries))
    return sources


def _folders(tree: dict[str, Entry]) -> dict[str, list[Entry]]:
    """Group the files below ``artifacts/`` by folder, or by zip file."""
    folders: dict[str, list[Entry]] = {}
    for name, entry in tree.items():
        if not name.startswith("artifacts/"):
            continue
        key, _, member = name.removeprefix("artifacts/").partition("/")
        if not member:
            key = key.removesuffix(".zip")
        folders.setdefault(key, []).append(replace(entry, name=member))
    return folders


def listed_artifact(name: str, item: JsonObject) -> ArtifactSource:
    """Return what an item of GitHub's list says of an artifact, without its bytes."""
    return ArtifactSource(
        name=_outside_name(shortened(clean_text(name), _MAX_NAME)),
        github_id=_id(item),
        created_at=parse_time(item.get("created_at")),
        expired=item.get("expired") is True,
        size=_whole(item.get("size_in_bytes")),
        expires_at=parse_time(item.get("expires_at")),
    )


def _outside_name(name: str) -> str:
    """Return a name that no bundle can use to pass for what the importer makes."""
    return f"_{name}" if name.startswith(Kind.PUBLISHED) else name


def _source(name: str, item: JsonObject, entries: list[Entry] | None) -> ArtifactSource:
    source = listed_artifact(name, item)
    if entries is None:
        is_gone = source.expired
        source.missing = "expired" if is_gone else "the bundle holds no file of it"
    else:
        source.loader = _loader(entries)
    return source


def _loader(entries: list[Entry]) -> Callable[[Limits], Contents]:
    zipped = [entry for entry in entries if not entry.name]
    if zipped:
        return lambda limits: _unpacked(zipped[0], limits)
    return lambda limits: judge(entries, limits)


def _unpacked(entry: Entry, limits: Limits) -> Contents:
    """List an artifact that is a zip, on disk or inside the zip of the bundle."""
    if entry.fault:
        raise ArtifactError(*entry.fault)
    if entry.size > limits.artifact:
        raise ArtifactError("artifact_too_large", f"{entry.size} bytes")
    try:
        stream = _seekable(MemberSource(entry.name, entry.size, entry.opener))
    except MemberError as error:
        raise ArtifactError("bad_zip", str(error)) from error
    try:
        archive = open_zip(stream)
    except ArtifactError:
        stream.close()
        raise
    # The stream is read from for as long as the zip's members are.
    weakref.finalize(archive, stream.close)
    return judge(zip_entries(archive), limits)


def _seekable(member: MemberSource) -> BinaryIO:
    """Open a file in which one can go back: a zip's member is copied out.

    Raises `MemberError`.
    """
    stream = member.open()
    if not isinstance(stream, zipfile.ZipExtFile):
        return stream
    copy = tempfile.TemporaryFile()  # noqa: SIM115 closed with the zip that reads it
    try:
        with stream:
            while chunk := read_some(stream, _CHUNK):
                copy.write(chunk)
    except MemberError:
        copy.close()
        raise
    copy.seek(0)
    return copy


def _id(item: JsonObject) -> int | None:
    return _whole(item.get("id"))


def _whole(value: object) -> int | None:
    """Return a count or id that can be stored, else None."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MAX_ID else None


def parse_time(value: object) -> datetime | None:
    """Read an ISO 8601 time with its zone, as UTC; None for anything else.

    Also for years in which nobody measures: one run of the year 9999 would stretch
    what is counted by week or by month over eight thousand years.
    """
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        at = time.astimezone(UTC) if time.tzinfo else None
    except (ValueError, OverflowError):
        return None
    return at if at is not None and at.year in _YEARS else None


def attempt_starts(attempts: Iterable[JsonObject]) -> dict[int, datetime | None]:
    """Return when each attempt began, None where it is not told."""
    return {_attempt_number(attempt): started_at(attempt) for attempt in attempts}


def attempt_of(
    created_at: datetime | None, starts: Mapping[int, datetime | None]
) -> int:
    """Return the attempt during which an artifact was made.

    The newest attempt that had started by then; the newest where its time, or that of
    the newest, is not known. Where it is older than all attempts that are known it is
    of one before.
    """
    if not starts:
        return 1
    newest = max(starts)
    if created_at is None or starts[newest] is None:
        return newest
    begun = [n for n, start in starts.items() if start and start <= created_at]
    return max(begun) if begun else max(min(starts) - 1, 1)


def started_at(attempt: JsonObject) -> datetime | None:
    """Return when an attempt began; a run is as old as its first attempt only."""
    start = attempt.get("run_started_at")
    if not start and _attempt_number(attempt) == 1:
        start = attempt.get("created_at")
    return parse_time(start)
