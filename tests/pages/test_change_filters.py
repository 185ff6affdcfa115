"""The page of what changed: its filters, its pages, its CSV, its cost, odd texts."""

# mypy: allow-untyped-calls

import csv
import html
import io
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains

from dashboard.models import FileDefect
from tests import factories
from tests.pages.builders import add_points
from tests.pages.changes import (
    DAY,
    KEY,
    NEW,
    OLD,
    OTHER,
    QUERIES,
    config_change,
    entry_of_file,
    listed,
    swapped,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_keys() -> None:
    """Make changes of every kind for two keys, one of them of the past."""
    factories.ConfigKeyFactory(key=KEY, model="qwen3.5", hardware="mi355x")
    swapped()
    for key, day in ((KEY, DAY), (OTHER, DAY - timedelta(days=30))):
        factories.ChangelogEntryFactory(
            run=factories.RunFactory(created_at=day),
            raw_keys=[key],
            expanded_keys=[key] if key == KEY else [],
            retired_keys=[] if key == KEY else [key],
        )
        config_change(config_key=key, at=day)
    config_change(
        config_key=OTHER,
        kind="added",
        after="deepseek-ai/DeepSeek-R1-0528, image x",
        at=DAY - timedelta(days=40),
    )


def found(client: Any, query: str) -> dict[str, set[str]]:
    """Return the keys by list that a query leaves."""
    page = client.get(f"{reverse('changes')}?{query}")
    assert page.status_code == 200
    keys: dict[str, set[str]] = {}
    for name, shown in page.context["shown"].items():
        for row in shown.rows:
            one = row.row if name == "swaps" else row[1]
            keys.setdefault(name, set()).update(one.config_keys or one.retired_keys)
    return keys


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        (f"key={KEY}", {KEY}),
        ("key=MI355X", {KEY}),
        ("key=-fp8-", {OTHER}),
        (f"key={OTHER}", {OTHER}),
        ("model=qwen3.5", {KEY}),
        ("model=DeepSeek-R1-0528", {OTHER}),
        ("hardware=mi355x", {KEY}),
        ("hardware=mi355x&model=dsr1", set()),
        ("from=2026-08-20", {KEY}),
        ("to=2026-08-18", {OTHER}),
        ("from=2026-08-20&to=2026-08-20", {KEY}),
    ],
)
def test_each_filter_narrows_every_list(client, two_keys, query, keys):
    lists = found(client, query)
    assert set().union(*lists.values()) == keys
    if keys == {KEY}:
        assert set(lists) == {"swaps", "changelog", "configs"}


@pytest.mark.parametrize(
    ("query", "lists"),
    [
        ("kind=swap", {"swaps"}),
        ("kind=changelog", {"changelog"}),
        ("kind=added", {"configs"}),
        ("kind=grid", {"measured"}),
        ("kind=changelog&kind=swap", {"changelog", "swaps"}),
        ("kind=framework", set()),
    ],
)
def test_kinds_choose_the_lists(client, two_keys, query, lists):
    assert set(found(client, query)) == lists


def test_a_whole_key_is_exact_and_a_part_is_not(client):
    for key in (KEY, f"{KEY}-mtp"):
        config_change(config_key=key)
    assert len(listed(client, "configs", f"key={KEY}")) == 1
    assert len(listed(client, "configs", f"key={KEY[:-1]}")) == 2


def test_gb200_is_no_b200(client):
    factories.ConfigKeyFactory(key="x", hardware="b200")
    config_change(config_key="old-fp4-gb200-trt")
    past = config_change(config_key="old-fp4-b200-trt")
    assert listed(client, "configs", "hardware=b200") == [past]


def test_entries_without_a_date_are_left_out_of_days_and_that_is_said(client):
    entry_of_file()
    page = client.get(reverse("changes"), {"from": "2026-01-01"})
    assert page.context["shown"]["changelog"].rows == []
    assertContains(client.get(reverse("changes")), "entry 1 of the file, no date")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"kind": "x"}, "kind: x is not known. Allowed: swap, changelog, image"),
        ({"model": "gpt-9"}, "model: gpt-9 is not known. Allowed: nothing is stored"),
        ({"hardware": "<b>"}, "hardware: &lt;b&gt; is not known."),
        ({"from": "2026-02-30"}, "from: not a date such as 2026-08-31."),
        (
            {"from": "2026-02-02", "to": "2026-01-01"},
            "from: 2026-02-02 is after to, 2026-01-01.",
        ),
        ({"key": "k" * 201}, "key: Ensure this value has at most 200"),
        ({"key": "a\x00b"}, "key: Null characters"),
        ({"changelog_page": "x"}, "changelog_page: Enter a whole number."),
        ({"swaps_page": "0"}, "swaps_page: Ensure this value is greater"),
    ],
)
@pytest.mark.parametrize("path", ["/changes", "/changes.csv", "/changes.json"])
def test_an_odd_filter_is_named_with_what_is_allowed(client, path, query, sentence):
    answer = client.get(path, query)
    assert answer.status_code == 400
    # A page escapes what it says, a file is plain text.
    assert html.unescape(sentence) in html.unescape(answer.content.decode())


@pytest.mark.parametrize(
    "query",
    ["from=0001-01-01&to=9999-12-31", f"configs_page={10**30}", "key=%25", "x=1"],
)
def test_values_at_the_edge_are_taken(client, query):
    config_change()
    assert client.get(f"{reverse('changes')}?{query}").status_code == 200


def test_long_lists_have_pages_that_keep_the_filters(client):
    for number in range(30):
        config_change(config_key=f"{KEY}-{number}")
    page = client.get(reverse("changes"), {"key": KEY, "kind": "image"})
    link = f"?key={KEY}&amp;kind=image&amp;configs_page=2#configs"
    assertContains(page, f'href="{link}"')
    assert len(listed(client, "configs", f"key={KEY}&configs_page=2")) == 5


def test_an_empty_page_says_what_to_do(client):
    assertContains(client.get(reverse("changes")), "Nothing has changed yet")
    config_change()
    page = client.get(reverse("changes"), {"key": "nothing"})
    assertContains(page, "No change matches: key nothing")


def test_the_bar_links_to_the_page(client):
    page = client.get(reverse("changes"))
    assertContains(
        page, '<a href="/changes" aria-current="page">Changes</a>', html=True
    )


# CSV, cost, hostile texts


def test_csv_holds_the_rows_of_the_page(client, two_keys):
    text = client.get("/changes.csv", {"key": KEY}).getvalue().decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["kinds"] for row in rows] == ["swap; grid; image", "changelog", "image"]
    swap, entry, image = rows
    assert (swap["before"], swap["after"]) == (OLD, NEW)
    assert (swap["dropped"], swap["added"]) == ("TP4 c4, c8", "TP8 c1")
    assert (entry["pr"], entry["link_state"]) == ("501", "good")
    assert image["config_keys"] == KEY


def test_csv_runs_no_formula(client):
    factories.ChangelogEntryFactory(description=["=cmd()"])
    assert "'=cmd()" in client.get("/changes.csv").getvalue().decode()


def fill(count: int) -> None:
    for number in range(count):
        before, after = swapped(key=f"{KEY}-{number}")
        add_points(before)
        add_points(after)
        factories.EvalResultFactory(run=after.run, config_key=after.config_key)
        factories.ChangelogEntryFactory(raw_keys=[f"{KEY}-{number}"])
        entry_of_file(index=number, raw_keys=[f"{OTHER}-{number}"])
        config_change(config_key=f"{KEY}-{number}")
        factories.SkipFactory(reason="bad_changelog")
        FileDefect.objects.create(repository="a/b", name=f"{number}", text="not YAML")


def test_the_number_of_queries_does_not_grow(client, django_assert_num_queries):
    fill(1)
    with django_assert_num_queries(QUERIES):
        client.get(reverse("changes"))
    fill_more = [KEY, OTHER]
    for number, key in enumerate(fill_more, start=5):
        swapped(key=key)
        factories.ChangelogEntryFactory(raw_keys=[key])
        entry_of_file(index=number, raw_keys=[f"{key}-x"])
        config_change(config_key=key)
    with django_assert_num_queries(QUERIES):
        client.get(reverse("changes"))


def test_hostile_texts_are_inert(client):
    bad = "a\u202e\u2066\u2028\x1b[31m<script>alert(1)</script>"
    factories.ConfigKeyFactory(key=bad)
    swapped(key=bad)
    before, after = swapped()
    after.breaks = [{"kind": bad, "from": bad, "to": bad}]
    after.markers = [{"kind": "grid", "dropped": [[bad, [1]]], "added": []}]
    after.save()
    factories.EvalResultFactory(run=after.run, config_key=after.config_key, task=bad)
    factories.SweepFactory(
        config_key=before.config_key,
        scenario=bad[:40],
        official=True,
        segment=2,
        previous=before,
        markers=[{"kind": bad, "text": bad, "at": ""}],
    )
    factories.ChangelogEntryFactory(
        raw_keys=[bad, f"{bad}*"],
        expanded_keys=[bad],
        unknown_keys=[bad],
        retired_keys=[bad],
        description=[bad],
        scenario_types=[bad],
        defects=[bad],
        pr_link=f"javascript:{bad}",
        link_state="invalid",
    )
    config_change(config_key=bad, kind="model", before=bad, after=bad)
    factories.SkipFactory(reason="bad_changelog", detail=bad, member=bad)
    FileDefect.objects.create(repository=bad, name=bad, sha="a" * 40, text=bad)
    for query in ({}, {"key": "script"}, {bad: bad, "kind": bad}):
        body = client.get(reverse("changes"), query).content.decode()
        steering = {"\u202e", "\u2066", "\u2028", "\x1b"}
        assert [line for line in body.split("\n") if steering & set(line)] == []
        assert "<script>alert" not in body
        assert 'href="javascript' not in body
