"""A backup as docs/operations.md tells it, restored beside the site it was made of."""

import re
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from launcher.postgres import find_binaries
from tests.faults.checksum import differences
from tests.faults.site import Site, get
from tests.ingest import golden

PAGES = ("/", "/inference", "/evaluation", "/runs", "/keys", "/regressions", "/changes")
COPY = "restored"  # the name of the database that the backup is read into


def tool(name: str, *words: str | Path) -> None:
    done = subprocess.run(
        [find_binaries() / name, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def back_up(site: Site, folder: Path) -> None:
    """Dump the database first and copy the raw bytes after it."""
    folder.mkdir()
    tool("pg_dump", "--format=custom", f"--file={folder / 'database'}", site.url)
    shutil.copytree(site.raw, folder / "raw")
    shutil.copy(site.data / "secret-key", folder / "secret-key")


def restore(site: Site, backup: Path, data: Path) -> Site:
    """Read a backup into an empty database and an empty data folder."""
    with psycopg.connect(site.admin_url, autocommit=True) as connection:
        make = sql.SQL("CREATE DATABASE {} TEMPLATE template0")
        connection.execute(make.format(sql.Identifier(COPY)))
    url = site.url.replace("/frontierboard?", f"/{COPY}?")
    tool(
        "pg_restore",
        "--no-owner",
        "--exit-on-error",
        f"--dbname={url}",
        backup / "database",
    )
    data.mkdir()
    shutil.copytree(backup / "raw", data / "raw")
    shutil.copy(backup / "secret-key", data / "secret-key")
    return Site(data, given_url=url)


def shown(port: int, page: str) -> str:
    """Return a page without what differs from one load to the next."""
    status, text = get(port, page)
    assert status == 200, page
    text = re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]*"', "", text)
    return text.replace(f"127.0.0.1:{port}", "")


@pytest.fixture
def filled(site: Site, shared_data: Path) -> Site:
    when = ("--sha", golden.MASTERS_SHA, "--at", golden.MASTERS_AT)
    site.manage("import_configs", str(shared_data / "configs"), *when)
    site.take_in(*(shared_data / "runs" / str(run_id) for run_id in golden.RUN_IDS))
    return site


def test_restored_backup_shows_the_same_pages_and_replays(
    filled: Site, tmp_path: Path
) -> None:
    # What is ingested while the backup is made has its bytes stored before its rows.
    back_up(filled, tmp_path / "backup")
    before = filled.contents()
    [port] = filled.have_webs()
    copy = restore(filled, tmp_path / "backup", tmp_path / "copy")
    try:
        assert not differences(before, copy.contents())
        copy.broker = filled.broker
        [second] = copy.have_webs()
        for page in [*PAGES, f"/runs/{golden.RUN_IDS[4]}"]:
            assert shown(second, page) == shown(port, page)
        copy.assert_raw_bytes_are_whole()
        assert raw_names(copy) == raw_names(filled)
        copy.manage("replay", "--all")
        assert not differences(before, copy.contents())
    finally:
        copy.stop_processes()


def raw_names(site: Site) -> set[str]:
    return {path.name for path in site.raw.rglob("*") if path.is_file()}
