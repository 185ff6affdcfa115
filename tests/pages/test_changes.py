"""The page of what changed: changelog, swaps, configs of the past, defects."""

# mypy: allow-untyped-calls

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from dashboard.models import ChangelogEntry, ConfigChange, FileDefect
from tests import factories
from tests.pages.builders import TRADE_OFF, add_points

pytestmark = pytest.mark.django_db

KEY = "qwen3.5-fp4-mi355x-sglang"
OTHER = "dsr1-fp8-h200-vllm"
DAY = datetime(2026, 8, 20, 12, tzinfo=UTC)
OLD, NEW = "amd/Model-397B-MXFP4", "amd/Model-397B-MXFP4-V2"
PULL = "https://github.com/example/bench/pull"
# Keys of today and of the past, six lists with their sizes, points and evals of swaps,
# and the freshness of the data.
QUERIES = 16


def text_of(response: Any) -> str:
    """Return what a reader sees, roughly: one blank for each run of white space."""
    return " ".join(response.content.decode().split())


def listed(client: Any, name: str, query: str = "") -> list[Any]:
    """Return the rows of one list of the page."""
    page = client.get(f"{reverse('changes')}?{query}")
    assert page.status_code == 200
    shown = page.context["shown"].get(name)
    return [] if shown is None else [row for row, _ in shown.rows]


def entry_of_file(**given: Any) -> ChangelogEntry:
    given = {"base_ref": "", "head_ref": "", "index": 0, **given}
    repository = given.pop("repository", None) or factories.RepositoryFactory()
    entry: ChangelogEntry = factories.ChangelogEntryFactory(
        run=None, repository=repository, **given
    )
    return entry


def config_change(**given: Any) -> ConfigChange:
    repository = factories.RepositoryFactory()
    defaults = {"config_key": KEY, "kind": "image", "sha": "f4eaa3981", "at": DAY}
    return ConfigChange.objects.create(repository=repository, **{**defaults, **given})


def swapped(**given: Any) -> Any:
    """Make two official sweeps of a key, the later one with other weights."""
    key = factories.ConfigKeyFactory(key=given.pop("key", KEY))
    before = factories.SweepFactory(
        config_key=key,
        official=True,
        state="former",
        segment=1,
        checkpoint=factories.CheckpointFactory(name=OLD),
        official_at=DAY - timedelta(days=1),
    )
    after = factories.SweepFactory(
        config_key=key,
        official=True,
        segment=2,
        is_swap=True,
        previous=before,
        checkpoint=factories.CheckpointFactory(name=NEW),
        official_at=DAY,
        breaks=[{"kind": "checkpoint", "from": OLD, "to": NEW}],
        markers=[
            {"kind": "grid", "dropped": [["TP4", [4, 8]]], "added": [["TP8", [1]]]},
            {"kind": "image", "from": "img:1", "to": "img:2"},
        ],
        **given,
    )
    return before, after


# C38: odd changelogs


def test_a_placeholder_link_gives_the_pull_request_of_the_run(client):
    run = factories.RunFactory(pr_number=2801)
    factories.ChangelogEntryFactory(
        run=run, pr_link=f"{PULL}/XXXX", pr_number=None, link_state="placeholder"
    )
    page = client.get(reverse("changes"))
    assertContains(
        page, f'<a href="{PULL}/2801" rel="noopener">PR #2801</a>', html=True
    )
    assert "of the run" in text_of(page)
    assertContains(page, "placeholder link")
    assertNotContains(page, f'href="{PULL}/XXXX"')


def test_without_a_pull_request_of_the_run_a_placeholder_is_unknown(client):
    factories.ChangelogEntryFactory(
        run=factories.RunFactory(pr_number=None),
        pr_link=f"{PULL}/XXXX",
        pr_number=None,
        link_state="placeholder",
    )
    page = client.get(reverse("changes"))
    assertContains(page, "PR unknown")
    assertNotContains(page, f'href="{PULL}')


@pytest.mark.parametrize(
    ("link", "state"),
    [("", "missing"), ("javascript:alert(1)", "invalid"), ("TBD", "placeholder")],
)
def test_every_state_of_a_link_is_named_and_none_is_a_dead_link(client, link, state):
    entry_of_file(pr_link=link, pr_number=None, link_state=state)
    page = client.get(reverse("changes"))
    assertContains(page, f"{state} link")
    assertContains(page, "PR unknown")
    assertNotContains(page, f'href="{link or "javascript"}')


def test_a_description_that_was_one_text_is_shown_with_the_defect(client):
    factories.ChangelogEntryFactory(
        description=["Bump it"], defects=["description is a string instead of a list"]
    )
    page = client.get(reverse("changes"))
    assertContains(page, "Bump it")
    assertContains(page, "description is a string instead of a list")


def test_a_wildcard_shows_the_keys_that_it_means(client):
    keys = [f"{KEY}{end}" for end in ("", "-mtp")]
    factories.ChangelogEntryFactory(raw_keys=["qwen3.5-*"], expanded_keys=keys)
    page = text_of(client.get(reverse("changes")))
    assert "qwen3.5-*" in page
    assert "meant 2 keys" in page
    assert f"{KEY}, {KEY}-mtp" in page


def test_a_key_that_matches_nothing_is_named(client):
    factories.ChangelogEntryFactory(
        raw_keys=["no-such"], expanded_keys=[], unknown_keys=["no-such"]
    )
    assert "unknown key</span> no-such" in text_of(client.get(reverse("changes")))


def test_a_retired_key_is_shown_as_retired(client):
    entry_of_file(
        raw_keys=["gone", KEY], expanded_keys=[KEY], retired_keys=["gone", "gone*"]
    )
    page = text_of(client.get(reverse("changes")))
    assert '<span class="badge">retired</span> gone, gone*' in page
    assert "unknown key" not in page


def test_a_changelog_that_is_no_list_is_a_listed_defect(client):
    run = factories.RunFactory()
    factories.SkipFactory(run=run, reason="bad_changelog", detail="entries: not a list")
    factories.SkipFactory(run=run, reason="bad_json", detail="something else")
    FileDefect.objects.create(
        repository="example/bench",
        name="perf-changelog.yaml",
        text="not a list of entries but a mapping",
    )
    page = client.get(reverse("changes"))
    assertContains(page, "entries: not a list")
    assertContains(page, "not a list of entries but a mapping")
    assertContains(page, str(run.github_run_id))
    assertNotContains(page, "something else")


def test_each_run_of_a_day_keeps_its_own_pull_request(client):
    runs = [factories.RunFactory(pr_number=number) for number in (11, 12)]
    for run in runs:
        factories.ChangelogEntryFactory(
            run=run, pr_link="XXX", pr_number=None, link_state="placeholder"
        )
    rows = client.get(reverse("changes")).context["shown"]["changelog"].rows
    assert {(e.run.pk, row.pr) for e, row in rows} == {
        (runs[0].pk, 11),
        (runs[1].pk, 12),
    }


# One entry, once


def test_what_run_and_file_both_carry_is_listed_with_the_run(client):
    run = factories.RunFactory()
    of_run = factories.ChangelogEntryFactory(run=run)
    entry_of_file(repository=run.repository)
    other = entry_of_file(repository=run.repository, index=1, description=["Other"])
    assert listed(client, "changelog") == [of_run, other]


def test_another_repository_says_the_same_for_itself(client):
    factories.ChangelogEntryFactory()
    entry_of_file(repository=factories.RepositoryFactory(full_name="fork/bench"))
    assert len(listed(client, "changelog")) == 2


def test_runs_of_one_pull_request_are_counted_with_the_newest(client):
    old, new = (
        factories.ChangelogEntryFactory(
            index=0, run=factories.RunFactory(created_at=DAY + timedelta(days=days))
        )
        for days in (0, 1)
    )
    (entry,) = listed(client, "changelog")
    assert (entry, entry.runs) == (new, 2)
    assert "and 1 more" in text_of(client.get(reverse("changes")))
    assert listed(client, "changelog", f"to={DAY:%Y-%m-%d}") == [old]


def test_several_entries_of_a_run_are_all_listed(client):
    run = factories.RunFactory()
    for text in ("One", "Two"):
        factories.ChangelogEntryFactory(run=run, description=[text])
    assert len(listed(client, "changelog")) == 2


def test_a_hidden_run_carries_nothing(client):
    hidden = factories.RunFactory(publication="hidden")
    factories.ChangelogEntryFactory(run=hidden)
    entry = entry_of_file(repository=hidden.repository)
    assert listed(client, "changelog") == [entry]


# Swaps


def test_a_swap_says_from_what_to_what_and_what_came_with_it(client):
    before, after = swapped()
    add_points(before, TRADE_OFF)
    add_points(after, [(c, x, y * 1.1) for c, x, y in TRADE_OFF[1:]])
    for sweep, share in ((before, 0.97), (after, 0.96)):
        factories.EvalResultFactory(
            run=sweep.run, config_key=sweep.config_key, strict=share
        )
    page = text_of(client.get(reverse("changes"), {"kind": "swap"}))
    for said in (
        f'<span class="muted">from</span> {OLD}',
        f'<span class="muted">to</span> {NEW}',
        "not like for like",
        "+10.0 %",
        "3 pairs",
        "Median interactivity: +0.0 %",
        "dropped</span> TP4 c4, 8",
        "added</span> TP8 c1",
        "img:1 → img:2",
        "97.00 %",
        "(95.93 % to 97.79 %, n 1319)",
        "recovery 98.97 %",
        str(before.run.github_run_id),
        str(after.run.github_run_id),
    ):
        assert said in page
    # No colour judges what is not like for like.
    assert not {"badge-bad", "badge-ok", "badge-warn"} & set(page.split('"'))


def test_a_swap_with_nothing_measured_at_one_place_says_so(client):
    swapped()
    page = text_of(client.get(reverse("changes")))
    assert "no matched point" in page
    assert "not measured" in page


def test_what_extends_a_sweep_counts_with_it(client):
    before, after = swapped()
    extension = factories.SweepFactory(
        config_key=before.config_key, official=True, state="former", extends=before
    )
    add_points(extension, [(2, 200.0, 100.0)])
    add_points(after, [(2, 200.0, 150.0)])
    assert "+50.0 % " in text_of(client.get(reverse("changes")))


def test_a_swap_and_an_image_in_one_run_are_both_said_once(client):
    swapped()
    page = client.get(reverse("changes"))
    assertContains(page, "img:1 → img:2", count=1)
    assertContains(page, f"</span> {NEW}", count=1)
    assert listed(client, "measured", "kind=image") != []


@pytest.mark.parametrize("given", [{"state": "held"}, {"run__publication": "hidden"}])
def test_a_swap_that_does_not_count_is_not_listed(client, given):
    swapped(**given)
    assert client.get(reverse("changes")).context["shown"]["swaps"].rows == []


def test_other_differences_between_sweeps_are_listed_by_kind(client):
    before, _ = swapped()
    marked = factories.SweepFactory(
        config_key=before.config_key,
        scenario="1k/1k",
        official=True,
        segment=2,
        previous=before,
        breaks=[{"kind": "precision", "from": "fp8", "to": "fp4"}],
        markers=[{"kind": "notice", "text": "moved house", "at": DAY.isoformat()}],
    )
    assert listed(client, "measured") == [marked]
    assert listed(client, "measured", "kind=precision") == [marked]
    assert listed(client, "measured", "kind=notice") == [marked]
    assert listed(client, "measured", "kind=recipe") == []
    page = text_of(client.get(reverse("changes")))
    assert "fp8 → fp4" in page
    assert "breaks the history" in page
    assert "moved house" in page


# Configs of the past


def test_model_changes_say_whether_they_are_a_swap(client):
    config_change(kind="model", before="a/x", after="b/x", is_swap=True)
    config_change(kind="model", before="x", after="b/x", sha="1234567", config_key="k")
    page = text_of(client.get(reverse("changes")))
    assert page.count(">other spelling<") == 1
    assert page.count('<span class="badge badge-info">swap</span>') == 1
    assert [c.is_swap for c in listed(client, "configs", "kind=swap")] == [True]


def test_a_removed_key_is_retired_unless_a_config_defines_it(client):
    for key in (KEY, OTHER):
        config_change(config_key=key, kind="added", sha="1111111")
        config_change(
            config_key=key, kind="removed", sha="2222222", at=DAY + timedelta(days=1)
        )
    factories.ConfigKeyFactory(key=KEY)
    assert client.get(reverse("changes")).context["retired"] == {OTHER}


# Filters


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
@pytest.mark.parametrize("name", ["changes", "changes_csv"])
def test_an_odd_filter_is_named_with_what_is_allowed(client, name, query, sentence):
    assertContains(client.get(reverse(name), query), sentence, status_code=400)


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
    text = client.get(reverse("changes_csv"), {"key": KEY}).content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["kinds"] for row in rows] == ["swap grid image", "changelog", "image"]
    swap, entry, image = rows
    assert (swap["before"], swap["after"]) == (OLD, NEW)
    assert (swap["dropped"], swap["added"]) == ("TP4 c4, 8", "TP8 c1")
    assert (entry["pr"], entry["link_state"]) == ("501", "good")
    assert image["config_keys"] == KEY


def test_csv_runs_no_formula(client):
    factories.ChangelogEntryFactory(description=["=cmd()"])
    assert "'=cmd()" in client.get(reverse("changes_csv")).content.decode()


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
