"""The help page: everything that pages name is explained, under a stable anchor."""

# mypy: allow-untyped-calls

import re
from pathlib import Path

import pytest
from django.template import Context, Template
from django.urls import reverse

from dashboard.views.point_requests import SKIPPED
from dashboard.vocabulary.flags import FLAGS
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.skips import SKIP_REASONS
from dashboard.vocabulary.words import WORDS

pytestmark = pytest.mark.django_db
CODE = Path(__file__).resolve().parent.parent.parent

# Calls that name why something was not taken, with the reason in the same place.
REASONS = re.compile(
    r"(?:RefusedError|ArtifactError|SkipRow)\((?:[\w.]+\(.*?\), |[\w.]+, )?\"(\w+)\"",
)


def ids_of(client):
    page = client.get(reverse("help")).content.decode()
    return re.findall(r'\bid="([^"]+)"', page)


def test_every_word_metric_flag_and_reason_has_its_anchor_once(client):
    ids = ids_of(client)
    expected = (
        {word.anchor for word in WORDS.values()}
        | {f"metric-{name}" for name in METRICS}
        | {f"flag-{code}" for code in FLAGS}
        | {f"skip-{code}" for code in SKIP_REASONS}
    )
    assert expected <= set(ids)
    assert len(ids) == len(set(ids))


def test_links_to_a_run_are_explained(client):
    page = client.get(reverse("help")).content.decode()
    assert "/inference?unofficialRun=ID" in page
    assert "/evaluation?unofficialRun=ID" in page


def test_every_metric_shows_unit_direction_and_formula(client):
    page = " ".join(client.get(reverse("help")).content.decode().split())
    row = page[page.index("Time to first token</th>") :]
    row = row[: row.index("</tr>")]
    for part in ('<td class="nowrap">s</td>', "lower is better", "p99.9_ttft"):
        assert part in row
    assert "higher is better" in page


@pytest.mark.parametrize(
    "word",
    [
        *("config key", "deployment", "scenario", "concurrency", "record", "row"),
        *("run", "attempt", "sweep", "point", "official", "unofficial", "checkpoint"),
        *("model", "swap", "segment", "marker", "frontier", "baseline", "candidate"),
        *("gain", "verdict", "triage state", "skip", "flag", "generation", "held"),
    ],
)
def test_words_of_the_site_are_explained(word):
    assert WORDS[word].meaning.endswith(".")


def test_every_reason_that_the_ingestion_gives_is_explained():
    given = {
        reason
        for path in (CODE / "ingest").rglob("*.py")
        for reason in REASONS.findall(path.read_text())
    }
    assert len(given) > 20
    # What is no request of a replay is explained on the page of its point.
    assert given <= {*SKIP_REASONS, *SKIPPED}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            '{% help_link "median_ttft" %}',
            (
                '<a class="help-link" href="/help#metric-median_ttft">'
                "Median time to first token</a>"
            ),
        ),
        (
            '{% help_link metric "TTFT" %}',
            '<a class="help-link" href="/help#metric-median_ttft">TTFT</a>',
        ),
        (
            '{% help_link "config key" %}',
            '<a class="help-link" href="/help#word-config-key">config key</a>',
        ),
        ('{{ "no such word"|help_address }}', "/help"),
        ("{{ metric|help_address }}", "/help#metric-median_ttft"),
    ],
)
def test_headers_and_charts_link_to_explanations(source, expected):
    context = Context({"metric": METRICS["median_ttft"]})
    assert Template("{% load help %}" + source).render(context) == expected
