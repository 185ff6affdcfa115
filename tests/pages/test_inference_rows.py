"""How much of a long table the inference page lists, and that the rest is never far."""

import re

import pytest
from django.test import Client

from dashboard.views.inference import MOST_ROWS
from tests.pages.builders import add_points, official_sweep

pytestmark = pytest.mark.django_db
ROW = re.compile(r"<tr data-point=")


@pytest.fixture
def many():
    count = MOST_ROWS + 30
    sweep = official_sweep("a-key")
    add_points(sweep, [(n, 500.0 - n, 100.0 + n) for n in range(1, count + 1)])
    return count


def test_a_long_table_says_how_much_of_it_is_listed_and_links_to_all(client, many):
    body = client.get("/inference").content.decode()
    assert len(ROW.findall(body)) == MOST_ROWS
    assert f"The first {MOST_ROWS} of the {many} points" in body
    link = re.search(r'id="all-rows" href="([^"]+)"', body)
    assert link is not None
    whole = client.get(link[1].replace("&amp;", "&")).content.decode()
    assert len(ROW.findall(whole)) == many
    assert f"The same {many} points" in whole
    assert "all-rows" not in whole


def test_files_and_chart_hold_every_point(client, many):
    assert len(client.get("/inference.csv").content.decode().splitlines()) == many + 1
    figure = client.get("/inference.json").json()
    assert sum(len(trace["x"]) for trace in figure["data"]) >= many


def test_a_short_table_is_whole(client: Client):
    sweep = official_sweep("a-key")
    add_points(sweep)
    body = client.get("/inference").content.decode()
    assert "all-rows" not in body


def test_only_all_rows_can_be_asked_for(client, many):
    answer = client.get("/inference?rows=7")
    assert answer.status_code == 400
    assert "rows" in answer.content.decode()
