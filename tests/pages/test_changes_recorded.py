"""The page of changes over the real changelog, history and masters."""

# mypy: allow-untyped-calls

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.urls import reverse

from dashboard.models import ChangelogEntry, ConfigChange, FileDefect
from tests.ingest import golden
from tests.pages.changes import QUERIES, text_of

RUNS = (33100000001, 33300000002, 33484262630, 33598359757, 33700000003)


@pytest.fixture(scope="module")
def loaded(
    shared_data: Path, django_db_setup: None, django_db_blocker: Any
) -> Iterator[Path]:
    """Everything imported and some runs ingested, rolled back after the module."""
    with django_db_blocker.unblock(), transaction.atomic():
        golden.import_masters(shared_data)
        import_files(shared_data)
        for run_id in RUNS:
            golden.ingest(shared_data, run_id)
        yield shared_data
        transaction.set_rollback(True)


def import_files(shared_data: Path) -> None:
    call_command("import_changelog", str(shared_data / "perf-changelog.yaml"))
    call_command("import_config_history", str(shared_data / "config-history.jsonl"))


@pytest.fixture
def recorded(loaded: Path, db: None) -> Path:
    """The recorded data, inside the test's own savepoint."""
    return loaded


def of_file() -> list[ChangelogEntry]:
    return list(ChangelogEntry.objects.filter(run__isnull=True).order_by("index"))


def test_the_whole_changelog_is_there_with_its_odd_links(recorded):
    entries = of_file()
    assert len(entries) == 772
    odd = {e.pr_link: e.link_state for e in entries if e.link_state != "good"}
    base = "https://github.com/SemiAnalysisAI/InferenceX/pull"
    assert odd == {f"{base}/XXX": "placeholder"}
    (tab,) = [e for e in entries if e.pr_link.endswith("/changes")]
    assert (tab.link_state, tab.pr_number) == ("good", 2305)
    assert (
        FileDefect.objects.get().text
        == f"entry 691: pr-link is placeholder: {base}/XXX"
    )


def test_147_references_are_retired_and_none_is_lost(recorded):
    entries = of_file()
    assert len({key for entry in entries for key in entry.retired_keys}) == 147
    assert not any(entry.unknown_keys for entry in entries)
    assert sum(len(entry.raw_keys) for entry in entries) == 1066
    for entry in entries:
        exact = {key for key in entry.raw_keys if "*" not in key}
        assert exact <= {*entry.expanded_keys, *entry.retired_keys}


def test_11_of_16_model_changes_are_swaps(recorded):
    assert ConfigChange.objects.count() == 1236
    assert ConfigChange.objects.filter(kind="model").count() == 16
    assert ConfigChange.objects.filter(is_swap=True).count() == 11


def test_importing_twice_changes_nothing(recorded, capsys):
    import_files(recorded)
    said = capsys.readouterr().out
    assert "772 entries: 0 new, 0 changed, 0 removed; 5 wildcards, 147 retired" in said
    assert "1236 changes: 0 new, 0 changed" in said


def test_the_page_shows_the_swaps_with_the_dropped_band(client, recorded):
    page = client.get(reverse("changes"))
    rows = page.context["shown"]["swaps"].rows
    assert [(item.row.config_keys, item.row.dropped) for item in rows] == [
        ([golden.MTP], [["TP4 mtp", [4, 8, 16]]]),
        ([golden.SGLANG], [["TP4", [4, 8, 16]]]),
    ]
    for item in rows:
        assert (item.row.before, item.row.after) == (golden.OLD, golden.NEW)
        assert (item.row.run_id, item.row.previous_run_id) == (33598359757, 33300000002)
        pairs = {golden.MTP: 6, golden.SGLANG: 7}[item.row.config_keys[0]]
        assert [effect.count for effect in item.effects] == [pairs, pairs]
    text = text_of(page)
    assert "not like for like" in text
    assert "dropped</span> TP4 c4, c8, c16" in text


def test_placeholder_and_missing_links_take_the_pull_request_of_their_run(
    client, recorded
):
    page = client.get(reverse("changes"), {"kind": "changelog"})
    found = {
        entry.run.github_run_id: (row.link_state, row.pr)
        for entry, row in page.context["shown"]["changelog"].rows
        if entry.run
    }
    assert found[33484262630] == ("placeholder", 2801)
    assert found[33598359757] == ("placeholder", 2801)
    assert found[33700000003] == ("good", 2801)


def test_every_page_of_the_changelog_says_what_is_retired(client, recorded):
    seen: set[str] = set()
    for number in range(1, 34):
        query = {"kind": "changelog", "changelog_page": number}
        page = client.get(reverse("changes"), query)
        for entry, _ in page.context["shown"]["changelog"].rows:
            if entry.run is None:
                seen.update(entry.retired_keys)
    assert len(seen) == 147


def test_the_page_costs_as_many_queries_with_all_of_it(
    client, recorded, django_assert_num_queries
):
    with django_assert_num_queries(QUERIES, exact=False):
        client.get(reverse("changes"))


def test_models_of_the_past_are_offered(client, recorded):
    page = client.get(reverse("changes"), {"model": "gpt-oss-120b"})
    keys = page.context["keys"]
    assert "gptoss-fp4-mi355x-vllm" in keys
    assert all("gptoss" in key for key in keys)
