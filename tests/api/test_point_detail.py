"""One point as JSON, and the requests of a replayed one as lines and CSV."""

# mypy: allow-untyped-calls

import json

import pytest

from ingest.progress import silent
from ingest.traces import read_trace
from tests import factories
from tests.traces import agentic_point, lines, record, warm_up

pytestmark = pytest.mark.django_db


@pytest.fixture
def replay():
    return agentic_point(lines(record(), record(1, 3.0), warm_up()))


def body_of(client, point):
    answer = client.get(f"/api/v1/points/{point.pk}")
    assert answer.status_code == 200
    return json.loads(answer.content)


def test_a_point_tells_what_its_page_tells(client):
    point = factories.PointFactory(
        sweep=factories.SweepFactory(official=True),
        metrics={"median_ttft": 0.5},
        flags=[["littles_law", "more in flight"]],
        raw_record=factories.RawRecordFactory(),
    )
    body = body_of(client, point)
    assert body["id"] == point.pk
    assert body["config_key"] == point.sweep.config_key.key
    assert body["run_id"] == point.sweep.run.github_run_id
    assert body["topology"]["tp"] == 2
    assert body["metrics"]["median_ttft_s"] == 0.5
    assert body["metrics"]["tput_per_gpu_tok_s"] is None
    assert body["acceptance"] is None
    assert body["requests"] is None
    (flag,) = body["flags"]
    assert (flag["code"], flag["is_out"]) == ("littles_law", True)
    assert body["record"]["path"] == f"/points/{point.pk}/record.json"
    assert [row["id"] for row in body["same_place"]] == [point.pk]


def test_the_state_of_requests_is_told(client, replay):
    assert body_of(client, replay)["requests"]["state"] == "new"
    read_trace(replay.pk, silent)
    told = body_of(client, replay)["requests"]
    assert (told["state"], told["kept"]) == ("done", 3)
    assert told["counts"]["warm_up"] == 1
    assert told["distributions"]["ttft"]["quantiles"]["median"] == 0.5


def test_requests_are_lines_or_csv(client, replay):
    read_trace(replay.pk, silent)
    answer = client.get(f"/api/v1/points/{replay.pk}/requests")
    assert answer["Content-Type"] == "application/x-ndjson"
    assert answer["X-Total-Requests"] == "3"
    rows = [json.loads(line) for line in answer.getvalue().splitlines()]
    assert [row["kind"] for row in rows] == ["measured", "warm-up", "measured"]
    assert rows[-1]["start_s"] == 3.0
    table = client.get(f"/api/v1/points/{replay.pk}/requests?format=csv")
    assert table["Content-Type"].startswith("text/csv")
    header, *more = table.getvalue().decode().splitlines()
    assert header.startswith("request,kind,conversation,turn,start_s")
    assert len(more) == 3


@pytest.mark.parametrize("sign", ["=", "\N{FULLWIDTH EQUALS SIGN}"])
def test_text_of_the_csv_is_no_formula(client, sign):
    named = record(metadata={"conversation_id": f"{sign}1+1"})
    point = agentic_point(lines(named))
    read_trace(point.pk, silent)
    table = client.get(f"/api/v1/points/{point.pk}/requests?format=csv")
    assert f",'{sign}1+1," in table.getvalue().decode()


@pytest.mark.parametrize("path", ["1000000", "99999999999999999999"])
def test_unknown_points_are_not_found(client, path):
    for address in (f"/api/v1/points/{path}", f"/api/v1/points/{path}/requests"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert json.loads(answer.content)["error"]["parameter"] == "point_id"


def test_requests_nobody_read_are_not_found_and_formats_are_known(client, replay):
    assert client.get(f"/api/v1/points/{replay.pk}/requests").status_code == 404
    odd = client.get(f"/api/v1/points/{replay.pk}/requests?format=xml")
    assert odd.status_code == 400
    assert json.loads(odd.content)["error"]["parameter"] == "format"


def test_points_of_a_hidden_run_are_not_found(client, replay):
    replay.sweep.run.publication = "hidden"
    replay.sweep.run.save()
    assert client.get(f"/api/v1/points/{replay.pk}").status_code == 404
