"""Long answers of the interface are kept, packed, until the data change."""

import gzip
import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.models import Generation, Point
from tests.api.filled import fill

pytestmark = pytest.mark.django_db
PATH = "/api/v1/points"


@pytest.fixture(autouse=True)
def _keeping(settings):
    settings.FRONTIERBOARD_KEPT_SECONDS = 60


def asked(client: Any, path: str = PATH, **headers: str) -> Any:
    answer = client.get(path, headers={"Accept-Encoding": "gzip", **headers})
    assert answer.status_code == 200, answer.getvalue()
    return answer


def points(answer: Any) -> Any:
    return json.loads(gzip.decompress(answer.content))["points"]


def test_the_same_question_is_answered_without_reading_points(client):
    fill()
    first = asked(client)
    with CaptureQueriesContext(connection) as queries:
        again = asked(client)
    assert points(again) == points(first) != []
    assert not any("dashboard_point" in q["sql"] for q in queries)
    assert again["ETag"] == first["ETag"]
    assert client.get(PATH, headers={"If-None-Match": first["ETag"]}).status_code == 304


def test_what_is_stored_meanwhile_is_answered_at_once(client):
    fill()
    before = points(asked(client))
    Point.objects.filter(pk=before[0]["id"]).update(is_current=False)
    Generation.bump()
    after = points(asked(client))
    assert [p["id"] for p in after] == [p["id"] for p in before[1:]]


def test_lines_are_never_answered_with_what_is_kept_as_json(client):
    fill()
    asked(client)
    answer = asked(client, Accept="application/x-ndjson", **{"Accept-Encoding": ""})
    assert answer["Content-Type"] == "application/x-ndjson"
    assert all(json.loads(line)["id"] for line in answer.getvalue().splitlines())
