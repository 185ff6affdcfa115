"""The page of what changed: changelog, swaps, configs of the past, defects."""

# mypy: allow-untyped-calls

from datetime import timedelta

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from dashboard.models import FileDefect
from tests import factories
from tests.pages.builders import TRADE_OFF, add_points
from tests.pages.changes import (
    DAY,
    KEY,
    NEW,
    OLD,
    OTHER,
    PULL,
    config_change,
    entry_of_file,
    listed,
    swapped,
    text_of,
)

pytestmark = pytest.mark.django_db


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


def test_an_entry_with_a_defect_counts_as_one_and_is_found_by_it(client):
    odd = factories.ChangelogEntryFactory(
        raw_keys=[KEY],
        pr_link="XXX",
        link_state="placeholder",
        defects=["pr-link is placeholder: XXX"],
    )
    factories.ChangelogEntryFactory(raw_keys=[OTHER])
    page = text_of(client.get(reverse("changes")))
    assert 'id="defects">Defects <span class="muted">1</span>' in page
    assert "1 entry of the changelog was taken with a defect" in page
    assert "could be read" not in page
    assert listed(client, "changelog", "kind=defect") == [odd]
    assert listed(client, "changelog", f"kind=defect&key={OTHER}") == []


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


def test_an_entry_of_a_run_that_is_not_official_says_so(client):
    entry = factories.ChangelogEntryFactory()
    assertContains(client.get(reverse("changes")), ">unofficial<", count=1)
    entry.run.publication = "official"
    entry.run.save()
    assertNotContains(client.get(reverse("changes")), ">unofficial<")


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
        "dropped</span> TP4 c4, c8",
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
