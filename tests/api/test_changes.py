"""What changed, and which checkpoints were swapped, as JSON."""

# mypy: allow-untyped-calls

from typing import Any

import pytest

from tests import factories
from tests.pages.changes import (
    DAY,
    KEY,
    NEW,
    OLD,
    OTHER,
    config_change,
    entry_of_file,
    swapped,
)

pytestmark = pytest.mark.django_db


def ask(client: Any, path: str, **query: Any) -> Any:
    response = client.get(f"/api/v1/{path}", query)
    assert response.status_code == 200
    return response.json()


def test_swaps_have_the_shape_that_scripts_rely_on(client):
    before, after = swapped()
    assert ask(client, "swaps") == [
        {
            "config_key": KEY,
            "scenario": "8k/1k",
            "from": OLD,
            "to": NEW,
            "run_id": after.run.github_run_id,
            "previous_run_id": before.run.github_run_id,
            "at": DAY.isoformat().replace("+00:00", "Z"),
            "dropped": [["TP4", [4, 8]]],
            "added": [["TP8", [1]]],
        }
    ]


def test_swaps_of_a_key_are_those_of_exactly_that_key(client):
    swapped()
    swapped(key=f"{KEY}-mtp")
    assert [s["config_key"] for s in ask(client, "swaps", key=KEY)] == [KEY]
    assert len(ask(client, "swaps")) == 2
    assert ask(client, "swaps", key="a\0b") == []
    assert ask(client, "swaps", key="none") == []


def test_changes_are_those_of_the_page_in_slices(client):
    swapped()
    factories.ChangelogEntryFactory()
    entry_of_file(raw_keys=[OTHER], expanded_keys=[], retired_keys=[OTHER])
    config_change()
    everything = ask(client, "changes")
    assert everything["total"] == 4
    kinds = [change["kinds"] for change in everything["changes"]]
    assert kinds == [["swap", "grid", "image"], ["changelog"], ["changelog"], ["image"]]
    assert everything["changes"][2]["retired_keys"] == [OTHER]
    assert everything["changes"][2]["at"] is None
    sliced = [ask(client, "changes", limit=1, offset=n)["changes"] for n in range(5)]
    assert [change for part in sliced for change in part] == everything["changes"]


def test_changes_take_the_filters_of_the_page(client):
    swapped()
    config_change(config_key=OTHER)
    assert ask(client, "changes", key=OTHER)["total"] == 1
    assert ask(client, "changes", kind=["swap", "runner"])["total"] == 1
    assert ask(client, "changes", **{"from": "2026-08-21"})["total"] == 0


@pytest.mark.parametrize(
    ("query", "parameter", "allowed"),
    [
        ({"kind": "x"}, "kind", "swap"),
        ({"hardware": "x"}, "hardware", "mi355x"),
        ({"from": "x"}, "from", None),
        ({"key": "a\0"}, "key", None),
        ({"limit": "0"}, "limit", None),
        ({"offset": "x"}, "offset", None),
    ],
)
def test_a_filter_that_cannot_be_read_is_named(client, query, parameter, allowed):
    factories.ConfigKeyFactory(hardware="mi355x")
    response = client.get("/api/v1/changes", query)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["parameter"] == parameter
    assert allowed is None or allowed in error["allowed"]
