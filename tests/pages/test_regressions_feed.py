"""The Atom feed of regressions: addresses from outside, stable ids, inert texts."""

# mypy: allow-untyped-calls

from xml.etree import ElementTree as ET

import pytest
from django.urls import reverse

from tests import factories

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"
SITE = "https://board.example.org"


@pytest.fixture(autouse=True)
def _site(settings):
    settings.FRONTIERBOARD_URL = SITE


def feed(client, **query):
    answer = client.get(reverse("regressions_feed"), query)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/atom+xml")
    return ET.fromstring(answer.content)  # noqa: S314  # our own


def entries(client, **query):
    return feed(client, **query).findall(f"{ATOM}entry")


def text(element, name):
    return element.find(f"{ATOM}{name}").text


def test_entries_are_the_newest_first_with_addresses_from_outside(client):
    old, new = factories.RegressionFactory.create_batch(2)
    found = entries(client)
    assert [e.find(f"{ATOM}link").get("href") for e in found] == [
        f"{SITE}{row.get_absolute_url()}" for row in (new, old)
    ]
    assert text(found[0], "title") == f"{new.config_key.key} 8k/1k: performance -9.0 %"
    assert new.summary in text(found[0], "summary")
    assert text(found[0], "published") == new.run.created_at.isoformat()
    links = {
        link.get("rel"): link.get("href")
        for link in feed(client, kind="performance").findall(f"{ATOM}link")
    }
    assert links == {
        "alternate": f"{SITE}/regressions?kind=performance",
        "self": f"{SITE}/regressions.atom?kind=performance",
    }


def test_ids_name_what_it_is_about_not_the_row_or_the_site(client, settings):
    row = factories.RegressionFactory()
    (first,) = entries(client)
    head = text(feed(client), "id")
    type(row).objects.filter(pk=row.pk).update(id=row.pk + 1000)
    settings.FRONTIERBOARD_URL = "https://elsewhere.example.org"
    (again,) = entries(client)
    assert text(again, "id") == text(first, "id")
    assert text(first, "id").startswith("urn:uuid:")
    assert text(feed(client), "id") == head


def test_filters_narrow_the_feed_and_odd_ones_are_refused(client):
    factories.RegressionFactory(state="noise")
    row = factories.RegressionFactory(state="untriaged")
    (only,) = entries(client, state="untriaged")
    assert row.config_key.key in text(only, "title")
    answer = client.get(reverse("regressions_feed"), {"state": "<b>"})
    assert answer.status_code == 400
    assert answer["Content-Type"].startswith("text/plain")


def test_a_change_of_triage_updates_the_entry(client):
    row = factories.RegressionFactory()
    (before,) = entries(client)
    row.state = "noise"
    type(row).objects.update(state="noise", updated_at="2030-01-01T00:00:00Z")
    (after,) = entries(client)
    assert text(before, "updated") != text(after, "updated")
    assert text(after, "updated") == "2030-01-01T00:00:00+00:00"
    assert "State: noise." in text(after, "summary")


def test_strangers_text_is_inert(client):
    hostile = "<script>alert(1)</script>\x0b\u202e&" + "x" * 5000
    factories.RegressionFactory(summary=hostile)
    answer = client.get(reverse("regressions_feed")).content.decode()
    assert "<script>" not in answer
    assert "\u202e" not in answer
    assert len(answer) < 4000


def test_an_empty_feed_is_a_feed(client):
    assert entries(client) == []
