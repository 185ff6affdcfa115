"""The command that imports a repository's whole changelog, and what it refuses."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import ChangelogEntry, FileDefect, Generation, Run
from ingest.changelog_files import import_changelog
from ingest.pipeline import import_config_files
from tests.pipeline.bundles import KEY, REPOSITORY, STARTED, iso, master, run_object
from tests.pipeline.conftest import counts

pytestmark = pytest.mark.django_db

LINK = f"https://github.com/{REPOSITORY}/pull/7"
GOOD = f"- config-keys: [{KEY}]\n  description: [Bump]\n  pr-link: {LINK}\n"


def run_command(path: Path, **options: Any) -> None:
    call_command("import_changelog", str(path), **options)


def entries() -> list[ChangelogEntry]:
    return list(ChangelogEntry.objects.order_by("index"))


def defects() -> list[str]:
    return list(FileDefect.objects.order_by("pk").values_list("text", flat=True))


def import_masters(*keys: str, sha: str = "b" * 40, day: int = 0) -> None:
    """Import one master that defines these keys."""
    entries = {name: json.loads(master(name))[name] for name in keys}
    import_config_files(
        {"amd-master.yaml": json.dumps(entries)},
        repository=REPOSITORY,
        sha=sha,
        at=STARTED + timedelta(days=day),
    )


@pytest.fixture
def masters() -> None:
    import_masters(KEY, f"{KEY}-mtp")


@pytest.fixture
def changelog(tmp_path: Path) -> Path:
    return tmp_path / "perf-changelog.yaml"


def test_every_entry_is_stored_once(masters, changelog, capsys):
    changelog.write_text(GOOD + GOOD.replace("[Bump]", "[Again]"))
    run_command(changelog)
    assert "2 entries: 2 new, 0 changed, 0 removed" in capsys.readouterr().out
    before, generation = counts(), Generation.objects.get().number
    ids = [entry.pk for entry in entries()]
    run_command(changelog)
    assert "2 entries: 0 new, 0 changed, 0 removed" in capsys.readouterr().out
    assert (counts(), Generation.objects.get().number) == (before, generation)
    assert [entry.pk for entry in entries()] == ids
    assert {(e.run, str(e.repository), e.pr_number) for e in entries()} == {
        (None, REPOSITORY, 7)
    }


def test_an_entry_that_left_the_file_goes(masters, changelog, capsys):
    changelog.write_text(GOOD + GOOD)
    run_command(changelog)
    changelog.write_text(GOOD)
    run_command(changelog)
    assert "0 new, 0 changed, 1 removed" in capsys.readouterr().out
    assert len(entries()) == 1


def test_keys_of_the_past_are_retired_and_wildcards_mean_keys_of_today(
    masters, changelog
):
    keys = "['qwen3.5-*-sglang*', gone-fp8-h100-vllm, 'gone*', '<b>no key</b>']"
    changelog.write_text(GOOD.replace(f"[{KEY}]", keys))
    run_command(changelog)
    (entry,) = entries()
    assert entry.expanded_keys == [KEY, f"{KEY}-mtp"]
    assert entry.retired_keys == ["gone-fp8-h100-vllm", "gone*"]
    assert entry.unknown_keys == ["<b>no key</b>"]
    assert entry.raw_keys[0] == "qwen3.5-*-sglang*"


def test_masters_that_come_later_tell_what_is_retired(changelog):
    changelog.write_text(GOOD.replace(f"[{KEY}]", f"[{KEY}, gone]"))
    run_command(changelog)
    (entry,) = entries()
    assert (entry.expanded_keys, entry.retired_keys) == ([], [])
    assert entry.unknown_keys == [KEY, "gone"]
    import_masters(KEY)
    (entry,) = entries()
    assert (entry.expanded_keys, entry.retired_keys) == ([KEY], ["gone"])
    assert entry.unknown_keys == []


def test_a_key_that_newer_masters_lack_becomes_retired(masters, changelog):
    changelog.write_text(GOOD)
    run_command(changelog)
    import_masters(f"{KEY}-mtp", sha="c" * 40, day=9)
    assert [(e.expanded_keys, e.retired_keys) for e in entries()] == [([], [KEY])]
    run_command(changelog, sha="b" * 40)
    assert [(e.expanded_keys, e.retired_keys) for e in entries()] == [([KEY], [])]


def test_what_only_a_pull_request_defines_retires_nothing(masters, changelog, desk):
    changelog.write_text(GOOD)
    run_command(changelog)
    pull = {
        "event": "pull_request",
        "head_branch": "x",
        "head_sha": "d" * 40,
        "created_at": iso(STARTED + timedelta(days=9)),
    }
    desk.ingest(
        run=run_object() | pull,
        configs={"amd-master.yaml": master("other")},
    )
    assert Run.objects.get().event == "pull_request"
    assert [e.expanded_keys for e in entries()] == [[KEY]]
    run_command(changelog)
    assert [e.expanded_keys for e in entries()] == [[KEY]]


@pytest.mark.parametrize(
    ("link", "state", "number"),
    [
        (f"{LINK}/changes", "good", 7),
        (f"https://github.com/{REPOSITORY}/pull/XXX", "placeholder", None),
        ("''", "missing", None),
        ("javascript:alert(1)", "invalid", None),
    ],
)
def test_the_state_of_a_link_is_told(masters, changelog, link, state, number):
    changelog.write_text(GOOD.replace(LINK, link))
    run_command(changelog)
    assert [(e.link_state, e.pr_number) for e in entries()] == [(state, number)]
    assert len(defects()) == (state != "good")


def test_a_bad_entry_is_a_defect_and_the_others_are_stored(masters, changelog, capsys):
    changelog.write_text(f"{GOOD}- just a text\n{GOOD}- config-keys: {KEY}\n")
    run_command(changelog)
    assert [entry.index for entry in entries()] == [0, 2, 3]
    assert defects()[0].startswith("entry 2: the record is str")
    assert "entry 4: config-keys is a string instead of a list" in defects()
    assert "defect: entry 2: " in capsys.readouterr().err
    changelog.write_text(GOOD)
    run_command(changelog)
    assert defects() == []


BAD_FILES = {
    "a mapping": (b"a: 1\n", "not a list of entries but a mapping"),
    "one text": (b"hello\n", "not a list of entries but one value"),
    "no entry": (b"[]\n", "no entry that can be read"),
    "only bad ones": (b"- 1\n- 2\n", "no entry that can be read"),
    "empty": (b"", "empty"),
    "no YAML": (b"- a: [1\n", "not YAML"),
    "alias bomb": (
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9))
            for n in range(98, 108)
        ),
        "more than",
    ),
    "huge": (b"- " + b"x" * 2_000_000, "characters"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_is_no_changelog_is_one_line_and_a_listed_defect(
    case, masters, changelog
):
    changelog.write_text(GOOD)
    run_command(changelog)
    content, expected = BAD_FILES[case]
    changelog.write_bytes(content)
    with pytest.raises(CommandError) as error:
        run_command(changelog)
    assert expected in str(error.value)
    assert "\n" not in str(error.value)
    assert expected in defects()[0]
    assert len(entries()) == 1  # what was stored before stays


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"repo": "nobody"}, "no owner/name"),
        ({"sha": "main"}, "not a commit"),
        ({"sha": "c" * 40}, "no master config of commit cccccccccccc is imported"),
    ],
)
def test_odd_options_are_refused_and_nothing_is_stored(
    options, expected, masters, changelog
):
    changelog.write_text(GOOD)
    before = counts()
    with pytest.raises(CommandError, match=expected):
        run_command(changelog, **options)
    assert counts() == before


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_is_one_line(content, changelog):
    if content is not None:
        changelog.write_bytes(content)
    with pytest.raises(CommandError, match="cannot be read") as error:
        run_command(changelog)
    assert "\n" not in str(error.value)


def test_texts_that_no_table_holds_are_made_whole(masters):
    text = GOOD.replace("[Bump]", r'["a\0b"]').replace(KEY, r'"k\0"')
    import_changelog(text, name="perf-changelog.yaml", repository=REPOSITORY)
    (entry,) = entries()
    assert entry.description == ["a\N{REPLACEMENT CHARACTER}b"]
    assert entry.unknown_keys == ["k\N{REPLACEMENT CHARACTER}"]


def test_a_master_that_does_not_parse_is_listed_and_the_rest_is_taken(desk):
    good = {"amd-master.yaml": master()}
    report = desk.ingest(configs=good | {"nvidia-master.yaml": "a: [1"})
    assert any("nvidia-master.yaml: not YAML" in line for line in report.notices)
    (defect,) = FileDefect.objects.all()
    assert (defect.repository, defect.name) == (REPOSITORY, "nvidia-master.yaml")
    assert defect.sha == "a" * 40
    desk.ingest(configs=good | {"nvidia-master.yaml": master("other")})
    assert defects() == []
