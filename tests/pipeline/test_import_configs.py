"""The command that imports master configs, and what it says of bad ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import ConfigDefinition, ConfigKey, ConfigSnapshot
from tests.pipeline.bundles import KEY, SHA, master
from tests.pipeline.conftest import counts

AT = "2026-08-21T22:25:16Z"

pytestmark = pytest.mark.django_db


def run_command(path: Path, **options: Any) -> None:
    call_command("import_configs", str(path), **({"sha": SHA, "at": AT} | options))


def stored() -> dict[str, int]:
    """Count the rows of every table but that of what is wrong with files."""
    return {name: count for name, count in counts().items() if name != "FileDefect"}


def refused(path: Path, **options: Any) -> str:
    before = stored()
    with pytest.raises(CommandError) as error:
        run_command(path, **options)
    assert stored() == before
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "amd-master.yaml").write_text(master())
    return tmp_path


def test_a_folder_of_masters_is_imported_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_command(folder)
    assert "1 files at aaaaaaaaaaaa: 1 config keys" in capsys.readouterr().out
    before = counts()
    run_command(folder)
    assert "0 new" in capsys.readouterr().out
    assert counts() == before
    assert ConfigKey.objects.get().key == KEY


@pytest.mark.parametrize(
    "sha", ["abc", "x" * 40, "a" * 65, "", "main", "a b c d e f g"]
)
def test_a_commit_that_is_none_is_refused(folder: Path, sha: str) -> None:
    assert "not a commit" in refused(folder, sha=sha)


@pytest.mark.parametrize(
    "at",
    [
        "yesterday",
        "",
        "2026-08-21",
        "2026-08-21T22:25:16",
        "2026-13-41T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
    ],
)
def test_a_time_that_is_none_is_refused(folder: Path, at: str) -> None:
    assert "not a time with its zone" in refused(folder, at=at)


@pytest.mark.parametrize("repo", ["nobody", "a/b/c", "", "a/" + "b" * 300, "a\n/b"])
def test_a_repository_that_is_none_is_refused(folder: Path, repo: str) -> None:
    assert "no owner/name" in refused(folder, repo=repo)


def test_a_missing_path_is_one_line(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path / "nowhere")
    assert "cannot be read" in refused(Path("/" + "a" * 5000))


def test_an_empty_folder_is_one_line(tmp_path: Path) -> None:
    assert "no .yaml file" in refused(tmp_path)


BAD_TEXTS: dict[str, tuple[bytes, str]] = {
    "does not parse": (b"a: [1", "not YAML"),
    "a list": (b"- a\n- b\n", "not a mapping"),
    "a word": (b"word", "not a mapping"),
    "empty": (b"", "empty"),
    "a tag": (b"a: !!python/object:os.system {}", "not YAML"),
    "an alias bomb": (
        b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 10))
            for c in range(ord("b"), ord("j"))
        ),
        "values",
    ),
    "huge": (b"a: " + b"x" * 2_000_000, "characters"),
}


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_a_master_that_cannot_be_used_is_a_defect_and_nothing_is_stored(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, expected = BAD_TEXTS[case]
    (tmp_path / "amd-master.yaml").write_bytes(content)
    assert refused(tmp_path) == "nothing was imported"
    said = capsys.readouterr().err
    assert expected in said
    assert said.count("\n") == 1


def test_a_file_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "amd-master.yaml").write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in refused(tmp_path)


def test_one_bad_file_does_not_stop_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "nvidia-master.yaml").write_text("a: [1")
    run_command(folder)
    said = capsys.readouterr()
    assert "defect: nvidia-master.yaml: not YAML" in said.err
    assert "1 defects" in said.out
    assert ConfigSnapshot.objects.get().name == "amd-master.yaml"


def _entry(**changes: Any) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(master("bad"))["bad"]
    return entry | changes


BAD_ENTRIES: dict[str, Any] = {
    "null": None,
    "list": [1],
    "no model": _entry(model=None),
    "model is long": _entry(model="m" * 400),
    "prefix is long": _entry(**{"model-prefix": "m" * 100}),
    "precision is long": _entry(precision="p" * 100),
    "framework is long": _entry(framework="f" * 100),
    "runner is long": _entry(runner="r" * 200),
    "NUL in a text": _entry(image="a\0b"),
    "NUL deep inside": _entry(router={"name": ["\0"]}),
}


@pytest.mark.parametrize("case", BAD_ENTRIES)
def test_a_bad_entry_costs_itself_only(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = {"bad": BAD_ENTRIES[case]} | json.loads(master())
    (tmp_path / "amd-master.yaml").write_text(json.dumps(both))
    run_command(tmp_path)
    assert "defect: amd-master.yaml: bad:" in capsys.readouterr().err
    assert [key.key for key in ConfigKey.objects.all()] == [KEY]
    assert ConfigDefinition.objects.count() == 1


def test_other_files_may_hold_anything(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "runners.yaml").write_bytes(b"labels: 1\n")
    (folder / f"{'n' * 200}.yaml").write_bytes(b"x: 1\n")
    (folder / "notes.yaml").write_bytes(b"a\0b")
    run_command(folder)
    assert ConfigKey.objects.get().key == KEY
    said = capsys.readouterr().err
    assert "notes.yaml" in said
    assert "nnn.yaml" in said
