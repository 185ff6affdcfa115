"""The run list: order, filters, pages, and what it refuses."""

# mypy: allow-untyped-calls

from datetime import UTC, datetime

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from tests import factories

pytestmark = pytest.mark.django_db


def text_of(response):
    """Return what a reader sees, roughly: one blank for each run of white space."""
    return " ".join(response.content.decode().split())


def test_list_says_that_nothing_is_stored(client):
    assertContains(client.get(reverse("runs")), "No run is stored yet")


def test_list_shows_newest_first_with_received_of_planned(client):
    old = factories.RunFactory(received_count=13, planned_count=19)
    new = factories.RunFactory(received_count=0, planned_count=None)
    page = text_of(client.get(reverse("runs")))
    assert page.index(str(new.github_run_id)) < page.index(str(old.github_run_id))
    assert "13 of 19" in page
    assert "of an unknown plan" in page


def test_list_counts_a_run_with_a_held_sweep_as_held(client):
    sweep = factories.SweepFactory(official=True, state="held")
    other = factories.SweepFactory(official=True, scenario="1k/1k")
    page = client.get(reverse("runs"), {"publication": "held"})
    assertContains(page, sweep.run.github_run_id)
    assertNotContains(page, other.run.github_run_id)
    assertContains(page, '<span class="badge badge-warn">held</span>', html=True)


def test_list_filters_by_publication(client):
    official = factories.RunFactory(official=True)
    unofficial = factories.RunFactory()
    page = client.get(reverse("runs"), {"publication": "official"})
    assertContains(page, official.github_run_id)
    assertNotContains(page, unofficial.github_run_id)


@pytest.mark.parametrize("text", ["88", "#88", "fused", "FLAG-X", "123456", " 88 "])
def test_list_finds_by_pull_request_title_branch_and_id(client, text):
    factories.RunFactory(
        github_run_id=123456, pr_number=88, title="Try fused", branch="x/flag-x"
    )
    factories.RunFactory(pr_number=501, title="Other", github_run_id=70000)
    page = client.get(reverse("runs"), {"q": text})
    assertContains(page, "Try fused")
    assertNotContains(page, ">70000<")


def test_list_says_that_nothing_matches(client):
    factories.RunFactory()
    page = client.get(reverse("runs"), {"q": "none", "has": ["held", "skips"]})
    assertContains(page, "No run matches: q none; has held, skips")


def narrow(client, query):
    """Return the ids of the runs that a query leaves, in their order."""
    page = client.get(f"{reverse('runs')}?{query}")
    return [run.github_run_id for run, _ in page.context["listed"]]


@pytest.mark.parametrize(
    "query",
    [
        "conclusion=failure",
        "event=schedule",
        "model=dsr1",
        "model=DeepSeek-R1-0528",
        "hardware=h200",
        "key=dsr1-fp8-h200-sglang",
        "model=dsr1&hardware=h200&event=schedule",
        "from=2027-01-05",
        "from=2027-01-05&to=2027-01-05",
        "has=incomplete",
        "has=skips&has=incomplete",
        "q=abcdef12",
        "q=fused+try",
    ],
)
def test_each_filter_narrows_the_list(client, query):
    factories.SweepFactory(run__received_count=9, run__planned_count=9)
    key = factories.ConfigKeyFactory(
        key="dsr1-fp8-h200-sglang", model="dsr1", hardware="h200"
    )
    wanted = factories.SweepFactory(
        config_key=key,
        run__title="Try fused",
        run__conclusion="failure",
        run__event="schedule",
        run__created_at=datetime(2027, 1, 5, 23, 59, tzinfo=UTC),
        run__sha="abcdef12" * 5,
        run__received_count=3,
        run__planned_count=4,
        run__skip_count=1,
    ).run
    assert narrow(client, query) == [wanted.github_run_id]


def test_a_run_of_evals_alone_is_found_by_its_key(client):
    factories.RunFactory()
    score = factories.EvalResultFactory()
    assert narrow(client, f"key={score.config_key.key}") == [score.run.github_run_id]


def test_list_finds_runs_with_flagged_points_that_count(client):
    flags = [["power_invalid", "4 of 8 seen"]]
    factories.PointFactory(flags=flags, is_current=False)
    wanted = factories.PointFactory(flags=flags).sweep.run
    assert narrow(client, "has=flags") == [wanted.github_run_id]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("made", [1, 2, 3]),
        ("-made", [3, 2, 1]),
        ("points", [2, 3, 1]),
        ("-missing", [2, 1, 3]),
        ("missing", [1, 2, 3]),
        ("title", [3, 2, 1]),
    ],
)
def test_list_sorts_by_any_column_and_unknown_comes_last(client, sort, order):
    for number, title, counts in (
        (1, "c", (9, 9)),
        (2, "b", (1, 9)),
        (3, "a", (5, None)),
    ):
        factories.RunFactory(
            github_run_id=number,
            title=title,
            received_count=counts[0],
            planned_count=counts[1],
        )
    assert narrow(client, f"sort={sort}") == order


def test_sorting_keeps_the_filters_and_names_the_column(client):
    factories.RunFactory()
    page = client.get(reverse("runs"), {"q": "Sweep", "sort": "-points", "page": 1})
    assertContains(page, 'href="?q=Sweep&amp;sort=points"')
    assertContains(page, 'aria-sort="descending"', count=1)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"publication": "x"}, "publication: x is not known. Allowed: official"),
        ({"conclusion": "x"}, "conclusion: x is not known. Allowed: action_required"),
        ({"event": "x"}, "event: x is not known."),
        ({"model": "gpt-9"}, "model: gpt-9 is not known."),
        ({"hardware": "x"}, "hardware: x is not known. Allowed: nothing is stored"),
        ({"key": "<b>"}, "key: &lt;b&gt; is not known."),
        ({"key": "k" * 10_000}, "key: " + "k" * 60 + "… is not known."),
        ({"has": ["held", "x"]}, "has: x is not known. Allowed: held"),
        ({"from": "2026-02-30"}, "from: not a date such as 2026-08-31."),
        ({"to": "yesterday"}, "to: not a date such as 2026-08-31."),
        (
            {"from": "2026-02-02", "to": "2026-01-01"},
            "from: 2026-02-02 is after to, 2026-01-01.",
        ),
        ({"q": "a\x00b"}, "q: Null characters"),
        ({"q": "x" * 201}, "q: Ensure this value has at most 200"),
        ({"sort": "speed"}, "sort: speed is not known. Allowed: -branch, -conclusion"),
        ({"page": "x"}, "page: Enter a whole number."),
    ],
)
def test_list_names_the_parameter_that_it_cannot_read(client, query, sentence):
    response = client.get(reverse("runs"), query)
    assertContains(response, sentence, status_code=400)
    assertContains(response, 'class="error"', status_code=400)


@pytest.mark.parametrize("query", ["to=9999-12-31&from=0001-01-01", f"page={10**30}"])
def test_list_takes_values_at_the_edge(client, query):
    run = factories.RunFactory()
    assert narrow(client, query) == [run.github_run_id]


@pytest.mark.parametrize("text", ["9" * 40, "%", "_", "²", "-1"])
def test_list_takes_odd_search_texts(client, text):
    factories.RunFactory()
    assertContains(client.get(reverse("runs"), {"q": text}), "No run matches")


def test_list_pages_keep_the_filters(client):
    factories.RunFactory.create_batch(51)
    page = client.get(reverse("runs"), {"q": "Sweep", "page": 2})
    assertContains(page, "Page 2 of 2")
    assertContains(page, 'href="?q=Sweep&amp;page=1"')


@pytest.mark.parametrize("page", [3, 99999, 10**30])
def test_list_says_that_a_page_is_not_there(client, page):
    factories.RunFactory.create_batch(51)
    text = text_of(client.get(reverse("runs"), {"page": page}))
    assert f"There is no page {str(page)[:20]}" in text
    assert "this is page 2 of 2." in text
    assert "There is no page" not in text_of(client.get(reverse("runs"), {"page": 2}))


def test_list_names_the_parameters_that_it_ignores(client):
    factories.RunFactory()
    query = {"q": "Sweep", "status": "zzz", "<b>": "1", "x" * 100: "1"}
    page = client.get(reverse("runs"), query)
    shown = "x" * 60
    assertContains(page, f"Not understood, so ignored: status, &lt;b&gt;, {shown}…")
    assertNotContains(client.get(reverse("runs"), {"q": "Sweep"}), "so ignored")
    many = {f"name{n}": "1" for n in range(30)}
    assert len(client.get(reverse("runs"), many).context["form"].ignored) == 10


def test_list_asks_the_same_number_of_queries_for_many_runs(
    client, django_assert_num_queries
):
    factories.SweepFactory(official=True)
    for _ in range(30):
        factories.PointFactory(sweep=factories.SweepFactory())
    with django_assert_num_queries(5):  # two for choices, count, page, freshness
        client.get(reverse("runs"))
