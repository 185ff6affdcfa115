"""What a person sees of a bad file, without a test's transaction around the command."""

import contextlib
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import FileDefect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("command", "name", "text"),
    [
        ("import_changelog", "perf-changelog.yaml", "a: 1\n"),
        ("import_config_history", "config-history.jsonl", json.dumps(["no change"])),
    ],
)
def test_a_bad_file_is_one_line_and_a_defect_that_is_listed(
    tmp_path: Path, command: str, name: str, text: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(CommandError) as refusal:
        call_command(command, str(file))
    assert len(str(refusal.value).splitlines()) == 1
    assert FileDefect.objects.filter(name=name).exists()


def test_a_bad_master_is_a_defect_and_the_others_are_imported(tmp_path: Path) -> None:
    (tmp_path / "amd-master.yaml").write_text("x: [1\n")
    (tmp_path / "runners.yaml").write_text("{}\n")
    with contextlib.suppress(CommandError):
        call_command(
            "import_configs", str(tmp_path), sha="c0ffee00", at="2026-08-01T00:00:00Z"
        )
    assert FileDefect.objects.filter(name="amd-master.yaml").exists()
