"""The catalogue of config keys: what it lists, narrows, sorts and refuses."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.models import Regression, Run
from tests.factories import (
    ChangelogEntryFactory,
    CheckpointFactory,
    ConfigDefinitionFactory,
    ConfigKeyFactory,
    EvalResultFactory,
    GenerationFactory,
)
from tests.pages.builders import curve
from tests.pages.key_builders import add_sweep, derive, two_swaps

pytestmark = pytest.mark.django_db
KEY = "qwen3.5-fp4-mi355x-sglang"


def rows(client: Client, query: str = "") -> list[dict[str, str]]:
    text = client.get(f"/keys.csv{query}").content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def keys(client: Client, query: str = "") -> list[str]:
    return [row["config_key"] for row in rows(client, query)]


def test_a_row_says_what_a_key_serves_and_what_changed_last(client):
    sweeps = two_swaps()
    (row,) = rows(client)
    current = sweeps[-2]
    assert row["checkpoint"] == "org-b/Model-FP4-V2"
    assert row["image"] == "img:3"
    assert row["run_id"] == str(current.run.github_run_id)
    assert (row["received"], row["planned"], row["has_swap"]) == ("4", "", "True")
    assert row["last_change"] == "image changed"
    assert row["last_change_run_id"] == str(sweeps[6].run.github_run_id)


def test_each_scenario_has_a_row_of_its_own(client):
    add_sweep(0)
    add_sweep(1, scenario="1k/1k")
    assert [row["scenario"] for row in rows(client)] == ["8k/1k", "1k/1k"]
    body = client.get("/keys").content.decode()
    assert f'href="/keys/{KEY}?scenario=8k/1k"' in body


def test_a_newer_changelog_entry_is_the_last_change(client):
    first, second = add_sweep(0), add_sweep(5, image="img:2")
    derive()
    ChangelogEntryFactory(run=first.run)
    assert rows(client)[0]["last_change"] == "image changed"
    third = add_sweep(9, image="img:2")
    derive()
    ChangelogEntryFactory(run=third.run)
    assert rows(client)[0]["last_change"] == "changelog entry"
    assert second.run_id != third.run_id


def test_an_entry_is_dated_by_when_its_run_was_published(client):
    first, second = add_sweep(0), add_sweep(5, image="img:2")
    derive()
    published = second.run.created_at + timedelta(days=1)
    Run.objects.filter(pk=first.run_id).update(published_at=published)
    ChangelogEntryFactory.create_batch(2, run=first.run)
    (row,) = rows(client)
    assert row["last_change"] == "changelog entry"
    assert row["last_change_run_id"] == str(first.run.github_run_id)


def test_only_open_regressions_are_counted(client):
    sweep = add_sweep(0)
    for kind, state in (
        ("performance", "untriaged"),
        ("accuracy", "investigating"),
        ("coverage", "noise"),
    ):
        Regression.objects.create(
            run=sweep.run,
            config_key=sweep.config_key,
            scenario=sweep.scenario,
            kind=kind,
            state=state,
        )
    assert rows(client)[0]["open_regressions"] == "2"


def test_evals_are_those_of_the_current_run(client):
    former, current = add_sweep(0), add_sweep(1)
    for sweep, strict in ((former, 0.97), (current, 0.97), (current, 0.5)):
        EvalResultFactory(
            run=sweep.run,
            config_key=sweep.config_key,
            strict=strict,
            concurrency=int(strict * 100),
        )
    row = rows(client)[0]
    assert (row["evals_passed"], row["evals"]) == ("1", "2")


def test_a_key_that_nobody_measured_shows_its_config(client):
    key = ConfigKeyFactory(key="never-measured")
    checkpoint = CheckpointFactory(name="org/Only-Configured")
    key.definition = ConfigDefinitionFactory(config_key=key, checkpoint=checkpoint)
    key.save()
    body = client.get("/keys").content.decode()
    assert "no current official sweep" in body
    assert "Only-Configured" in body


def test_filters_and_words_narrow_the_list(client):
    two_swaps()
    curve("key-b200", key_fields={"hardware": "b200", "framework": "trt"})
    assert keys(client, "?hardware=b200") == ["key-b200"]
    assert keys(client, "?framework=trtllm") == ["key-b200"]
    assert keys(client, "?swap=yes") == [KEY]
    assert keys(client, "?swap=no") == ["key-b200"]
    assert keys(client, "?q=MODEL-fp4-V2+mi355x") == [KEY]
    assert keys(client, "?model=qwen3.5&precision=fp4") == ["key-b200", KEY]


@pytest.mark.parametrize(
    ("sort", "first"),
    [("points", "b"), ("-points", "a"), ("age", "b"), ("-age", "a"), ("-key", "b")],
)
def test_columns_sort_both_ways_with_the_unmeasured_last(client, sort, first):
    add_sweep(0, key="a", tps=(2, 4))
    add_sweep(9, key="b")
    ConfigKeyFactory(key="0-never")
    found = keys(client, f"?sort={sort}")
    assert (found[0], found[-1]) == (first, "0-never")


def test_long_lists_are_paged_and_files_are_whole(client):
    for n in range(60):
        ConfigKeyFactory(key=f"key-{n:02}")
    page = client.get("/keys?page=2")
    assert "Page 2 of 2" in page.content.decode()
    assert "key-59" in page.content.decode()
    assert len(keys(client)) == 60


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?hardware=h9", "hardware: h9 is not known. Allowed: mi355x."),
        ("?swap=maybe", "swap: maybe is not known. Allowed: yes, no."),
        ("?sort=colour", "sort: colour is not known. Allowed: key, -key"),
        ("?page=0", "page: not a page number."),
    ],
)
def test_what_is_not_known_is_refused_by_name(client, query, said):
    add_sweep(0)
    for path in ("/keys", "/keys.csv"):
        answer = client.get(path + query)
        assert answer.status_code == 400
        assert said in answer.content.decode()


def test_empty_lists_say_why(client):
    assert "No run is stored" in client.get("/keys").content.decode()
    add_sweep(0)
    body = client.get("/keys?q=nothing").content.decode()
    assert "No key matches: q nothing" in body


def queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert client.get(path).status_code == 200
    return len(seen)


def test_query_count_does_not_grow_with_keys(client):
    add_sweep(0, key="a")
    few = queries(client, "/keys")
    for n in range(5):
        two_swaps(f"key-{n}")
    assert queries(client, "/keys") == few


def test_the_file_has_an_etag_of_the_data(client: Client):
    generation: Any = GenerationFactory()
    first = client.get("/keys.csv")
    again = client.get("/keys.csv", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    generation.number += 1
    generation.save()
    assert client.get("/keys.csv")["ETag"] != first["ETag"]
