"""The search of the top bar: straight to what was meant, else groups of hits."""

# mypy: allow-untyped-calls

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects

from tests import factories

pytestmark = pytest.mark.django_db


def search(client, text):
    return client.get(reverse("search"), {"q": text})


@pytest.mark.parametrize(
    "text",
    [
        "7100",
        " 7100 ",
        "https://github.com/example/bench/actions/runs/7100",
        "https://github.com/example/bench/actions/runs/7100/attempts/2",
    ],
)
def test_a_run_id_or_its_address_leads_to_the_run(client, text):
    run = factories.RunFactory(github_run_id=7100)
    factories.RunFactory(title="7100 points")
    answer = search(client, text)
    assertRedirects(answer, run.get_absolute_url(), fetch_redirect_response=False)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("33598359757", "33598359757"),
        (
            "https://github.com/example/bench/actions/runs/7/attempts/2",
            "https%3A%2F%2Fgithub.com%2Fexample%2Fbench%2Factions%2Fruns%2F7%2Fattempts%2F2",
        ),
    ],
)
def test_an_unknown_run_is_offered_to_be_fetched(client, text, asked):
    page = search(client, text)
    assertContains(page, "is not stored")
    assertContains(page, f'href="/inference?unofficialRun={asked}"')


def test_a_short_number_is_no_run_to_fetch(client):
    page = search(client, "2801")
    assertContains(page, "No run and no config key matches")
    assertNotContains(page, "unofficialRun")


def test_a_run_that_was_found_leads_to_the_frontiers_too(client):
    for _ in range(2):
        run = factories.RunFactory(pr_number=88)
    page = search(client, "#88")
    assertContains(page, f'href="/inference?unofficialRun={run.github_run_id}"')


def test_a_pull_request_of_one_run_leads_to_it(client):
    run = factories.RunFactory(pr_number=88)
    answer = search(client, "#88")
    assertRedirects(answer, run.get_absolute_url(), fetch_redirect_response=False)


def test_an_exact_key_leads_to_its_page(client):
    key = factories.SweepFactory(official=True).config_key
    factories.ConfigKeyFactory(key=f"{key.key}-mtp")
    answer = search(client, key.key)
    assertRedirects(answer, key.get_absolute_url(), fetch_redirect_response=False)


def test_a_key_without_a_current_sweep_is_listed_with_its_runs(client):
    key = factories.SweepFactory().config_key
    page = search(client, key.key.removesuffix("g"))
    assertContains(page, "no current sweep")
    assertContains(page, f'href="/runs?key={key.key}"')


def test_several_meanings_are_listed_in_groups(client):
    by_id = factories.RunFactory(github_run_id=501, pr_number=1)
    by_pull = factories.RunFactory(pr_number=501)
    by_title = factories.RunFactory(title="Back to 501", pr_number=2)
    found = search(client, "501").context["found"]
    assert (found.by_id, found.by_pull, found.by_text) == (
        [by_id],
        [by_pull],
        [by_title],
    )


def test_every_word_must_match_one_title_or_one_key(client):
    wanted = factories.RunFactory(title="Fuse the all-reduce on MI355X")
    factories.RunFactory(title="Fuse nothing")
    key = factories.ConfigKeyFactory(key="qwen3.5-fp4-mi355x-sglang")
    assert search(client, "mi355x fuse").context["found"].by_text == [wanted]
    found = search(client, "SGLANG qwen").context["found"]
    assert (found.keys, found.by_text) == ([key], [])


def test_a_commit_is_found_by_its_start(client):
    run = factories.RunFactory(sha="abcdef12" * 5)
    assert search(client, "ABCDEF1").context["found"].by_text == [run]


def test_the_run_that_was_meant_is_never_cut_off(client):
    old = factories.RunFactory(github_run_id=501, title="old", pr_number=1)
    factories.RunFactory.create_batch(25, pr_number=501)
    found = search(client, "501").context["found"]
    assert found.by_id == [old]
    assert found.has_more_runs


@pytest.mark.parametrize("text", ["", "   "])
def test_nothing_asked_is_a_hint(client, text):
    assertContains(search(client, text), "Nothing was asked for")


@pytest.mark.parametrize("text", ["none", "%", "_", "²", "9" * 100, "-1", "#", "'\"\\"])
def test_odd_texts_find_nothing_and_say_so(client, text):
    factories.RunFactory()
    assertContains(search(client, text), "No run and no config key matches")


@pytest.mark.parametrize("text", ["a\x00b", "x" * 201, "x" * 10_000])
def test_a_text_that_cannot_be_read_is_refused_by_name(client, text):
    assertContains(search(client, text), "<li>q: ", status_code=400)


def test_what_was_typed_is_escaped(client):
    factories.RunFactory(title="<script>alert(1)</script>")
    page = search(client, "<script>alert(1)")
    assertContains(page, "&lt;script&gt;alert(1)")
    assert b"<script>alert" not in page.content


@pytest.mark.parametrize("size", [1, 30])
def test_three_queries_whatever_is_found(client, django_assert_num_queries, size):
    for n in range(size):
        factories.ConfigKeyFactory(key=f"sweep-{n}")
        factories.RunFactory()
    with django_assert_num_queries(3):  # runs, keys, freshness
        search(client, "sweep")


def test_documentation_of_the_interface_has_a_short_address(client):
    answer = client.get("/api/docs")
    assertRedirects(answer, "/api/v1/docs", fetch_redirect_response=False)
