"""A full disk, for raw bytes and for PostgreSQL: told, and healed by a retry."""

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.checksum import Contents, differences
from tests.faults.site import Site, children_of, get


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mount a file system of a size, which only root of the machine may do."""
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={size}"
    command = ["mount", "-t", "tmpfs", "-o", options, "frontierboard", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)  # noqa: S607


def enlarge(folder: Path, size: str) -> None:
    command = ["mount", "-o", f"remount,size={size}", str(folder)]
    subprocess.run(command, check=True)


def limit_files(site: Site, size: int) -> None:
    """Let no process of the workers write a file beyond so many bytes."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    for worker in site.workers:
        for pid in children_of(worker):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, most))


def assert_told(site: Site, request: int, words: str) -> None:
    """The request's page says what is missing."""
    [port] = site.have_webs()
    status, page = get(port, f"/requests/{request}")
    assert status == 200
    assert words in page


def test_full_raw_store_is_told_and_a_retry_heals_it(
    site: Site, bundle: Path, undisturbed: Contents
) -> None:
    site.have_workers()
    with small_disk(site.raw, "40k"):
        request = site.ask_for(bundle)
        ended = site.wait_until_ended(request)
        assert ended.state == "failed"
        assert "No space left on device" in ended.error
        assert_told(site, request, "No space left on device")
        assert site.rows("SELECT count(*) FROM dashboard_run") == [(0,)]

        enlarge(site.raw, "50m")
        assert site.wait_until_ended(site.ask_for(bundle)).state == "done"
        assert not differences(undisturbed, site.contents())
        site.assert_raw_bytes_are_whole()


def test_raw_file_that_could_not_be_written_whole_is_told_and_healed(
    site: Site, bundle: Path, undisturbed: Contents
) -> None:
    site.have_workers()
    largest = max(path.stat().st_size for path in bundle.rglob("*") if path.is_file())
    log = site.workers[0].log
    log.write_bytes(b"")
    limit_files(site, largest - 1)
    try:
        request = site.ask_for(bundle)
        ended = site.wait_until_ended(request)
    finally:
        limit_files(site, resource.RLIM_INFINITY)
    assert ended.state == "failed"
    assert "File too large" in ended.error
    assert_told(site, request, "File too large")
    assert site.wait_until_ended(site.ask_for(bundle)).state == "done"
    assert not differences(undisturbed, site.contents())
    site.assert_raw_bytes_are_whole()


def test_full_disk_of_postgres_is_told_and_healed_by_a_retry(
    tmp_path: Path, bundle: Path, undisturbed: Contents
) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, "300m"):
        # The least that the write-ahead log may take, so that the tables fill the disk.
        options = ("wal_level=minimal", "max_wal_senders=0", "max_wal_size=64MB")
        site = Site(tmp_path / "data", postgres_data=disk, options=options)
        try:
            site.start_postgres()
            site.start_broker()
            site.prepare()
            site.have_workers()
            filled = fill(disk, leave=1 << 20)
            request = site.ask_for(bundle)
            site.wait_for(
                lambda: site.asked(request).error, "nothing was said of a full disk"
            )
            asked = site.asked(request)
            assert "No space left on device" in asked.error
            assert asked.state in ("queued", "failed")
            assert_told(site, request, "No space left on device")
            assert site.rows("SELECT count(*) FROM dashboard_run") == [(0,)]

            filled.unlink()
            # The task's own tries may be used up by then.
            ended = site.wait_until_ended(request)
            if ended.state == "failed":
                assert "No space left on device" in ended.error
                ended = site.wait_until_ended(site.ask_for(bundle))
            assert (ended.state, ended.error) == ("done", "")
            assert not differences(undisturbed, site.contents())
        finally:
            site.stop()


def fill(disk: Path, leave: int) -> Path:
    """Fill a disk but for so many bytes; deleting the file makes room again."""
    free = os.statvfs(disk)
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - leave)
    return ballast
