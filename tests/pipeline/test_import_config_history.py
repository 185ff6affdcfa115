"""The command that imports what master configs said in the past."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import CheckpointAlias, ConfigChange, FileDefect
from tests import factories
from tests.pipeline.conftest import counts

pytestmark = pytest.mark.django_db

KEY = "qwen3.5-fp4-b200-sglang"
OLD, NEW = "nvidia/Qwen3.5-397B-A17B-NVFP4", "nvidia/Qwen3.5-397B-A17B-NVFP4-V2"


def line(**changes: Any) -> str:
    given = {
        "sha": "f4eaa3981",
        "date": "2026-08-10T17:16:42-05:00",
        "key": KEY,
        "kind": "model",
        "old": OLD,
        "new": NEW,
    }
    return json.dumps({k: v for k, v in (given | changes).items() if v is not None})


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return tmp_path / "config-history.jsonl"


def run_command(path: Path, *lines: str) -> None:
    if lines:
        path.write_text("\n".join(lines) + "\n")
    call_command("import_config_history", str(path))


def defects() -> list[str]:
    return list(FileDefect.objects.order_by("pk").values_list("text", flat=True))


def test_changes_are_stored_once(history, capsys):
    run_command(history, line(), line(kind="runner", old="b200", new="b300"))
    said = capsys.readouterr().out
    assert "2 changes: 2 new, 0 changed; 1 model, 1 runner; 1 checkpoint swaps" in said
    before = counts()
    run_command(history)
    assert "2 changes: 0 new, 0 changed" in capsys.readouterr().out
    assert counts() == before
    swap = ConfigChange.objects.get(is_swap=True)
    assert (swap.config_key, swap.before, swap.after) == (KEY, OLD, NEW)
    assert swap.at == datetime(2026, 8, 10, 22, 16, 42, tzinfo=UTC)


@pytest.mark.parametrize(
    ("old", "new", "is_swap"),
    [
        (OLD, NEW, True),
        ("amd/MiniMax-M3-MXFP8", "MiniMaxAI/MiniMax-M3-MXFP8", True),
        ("deepseek-r1-fp4", "nvidia/DeepSeek-R1-0528-NVFP4-v2", False),
        (OLD, OLD.upper(), False),
    ],
)
def test_another_spelling_is_no_swap(history, old, new, is_swap):
    run_command(history, line(old=old, new=new))
    assert ConfigChange.objects.get().is_swap is is_swap


def test_only_line_feeds_end_a_line(history):
    text = "v1\u2028v2\u0085v3\x0b"
    told = json.loads(line()) | {"new": text}
    history.write_bytes(f"{json.dumps(told, ensure_ascii=False)}\r\n".encode())
    run_command(history)
    assert defects() == []
    assert ConfigChange.objects.count() == 1


def test_what_staff_say_of_a_spelling_counts(history):
    run_command(history, line(old="/models/mine", new=NEW))
    assert ConfigChange.objects.get().is_swap
    CheckpointAlias.objects.create(
        spelling="/Models/Mine",
        checkpoint=factories.CheckpointFactory(name=NEW),
        reason="the same files",
        author="staff",
    )
    run_command(history)
    assert not ConfigChange.objects.get().is_swap


def test_images_are_written_as_registries_do(history):
    image = "nvcr.io#nvidia/release:1"
    added = {"kind": "added", "model": OLD, "image": image, "old": None, "new": None}
    run_command(
        history,
        line(kind="image", old=image, new="a#b"),
        line(**added, sha="17d5e204f"),
        line(kind="removed", old=None, new=None),
    )
    found = {c.kind: (c.before, c.after) for c in ConfigChange.objects.all()}
    assert found == {
        "image": ("nvcr.io/nvidia/release:1", "a/b"),
        "added": ("", f"{OLD}, image nvcr.io/nvidia/release:1"),
        "removed": ("", ""),
    }


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ("{", "line 2: "),
        ("[1]", "line 2: not an object"),
        ("[" * 10_000, "line 2: "),
        (line(kind="moved"), "line 2: kind 'moved' is not one of added, removed"),
        (line(key="<script>"), "line 2: key '<script>' is none"),
        (line(sha="main"), "line 2: sha 'main' is no commit"),
        (line(date="2026-08-10"), "line 2: date is not a time with its zone"),
        (line(old=["a"]), "line 2: old is not a text"),
        (line(old="x" * 30_000), "line 2: more than 20,000 characters"),
    ],
)
def test_a_bad_line_is_a_defect_and_the_others_are_stored(
    history, capsys, bad, expected
):
    run_command(history, line(), bad, line(key="other"))
    assert ConfigChange.objects.count() == 2
    assert defects()[0].startswith(expected)
    assert f"defect: {expected}" in capsys.readouterr().err


def test_of_two_lines_about_one_change_the_later_counts(history):
    run_command(history, line(), line(new="nvidia/Other"))
    assert ConfigChange.objects.get().after == "nvidia/Other"
    assert defects() == ["line 2: told before, this line counts"]


@pytest.mark.parametrize("content", ["", "\n\n", "no json\n"])
def test_a_file_without_a_usable_line_is_one_line(history, content):
    history.write_text(content)
    with pytest.raises(CommandError, match="no line can be used") as error:
        run_command(history)
    assert "\n" not in str(error.value)
    assert not ConfigChange.objects.exists()
