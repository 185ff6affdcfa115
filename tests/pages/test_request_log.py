"""One line per page: what it tells, what it keeps quiet, and that none is forged."""

import io
import json
import logging

import pytest

from dashboard.logs import LONGEST_VALUE, logging_settings

pytestmark = pytest.mark.django_db
FORGED = "\n2026-01-01 level='error' event='forged'\r\x1b[31m\u2028\u202e\ud800"


@pytest.fixture(params=["keyvalue", "json"])
def written(request):
    """Lines that are written from now on, in either form."""
    form = logging_settings(request.param)["formatters"]["events"]
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    make = form.pop("()")
    handler.setFormatter(make(**form))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield lambda: [line for line in lines.getvalue().split("\n") if line]
    root.removeHandler(handler)
    root.setLevel(level)


def pages(lines):
    return [line for line in lines if "page" in line and "/keys" in line]


def test_page_has_one_line_without_its_query(client, written):
    answer = client.get("/keys", {"q": "secret-of-somebody"})
    (line,) = pages(written())
    assert answer["X-Request-ID"] in line
    assert "secret-of-somebody" not in "".join(written())
    for word in ("GET", "keys", "200", "ms"):
        assert word in line


def test_probes_and_files_have_no_line(client, written):
    client.get("/healthz")
    client.get("/static/none.css")
    assert not [line for line in written() if "ms" in line and "view" in line]


def test_path_of_a_stranger_ends_no_line_and_makes_none(client, written):
    client.get("/keys/" + FORGED.replace("\ud800", ""))
    for line in written():
        assert not line.startswith("2026-01-01")
        assert line.isprintable()
    assert len(pages(written())) <= 2  # Django's own and the page's


def test_value_of_an_event_ends_no_line_and_is_cut(written):
    logging.getLogger("odd").warning("said %s", FORGED)
    logging.getLogger("odd").warning("x" * 10_000)
    first, second = written()
    assert first.isprintable()
    assert "forged" in first
    assert len(second) < LONGEST_VALUE + 300
    assert "(10000 characters)" in second


def test_json_lines_are_json(written):
    logging.getLogger("odd").warning(FORGED)
    (line,) = written()
    if line.startswith("{"):
        told = json.loads(line)
        assert told["event"] == FORGED
        assert told["level"] == "warning"


GIVEN = "0123456789abcdef.proxy_id-1"


def test_id_of_a_trusted_proxy_is_kept(client, settings):
    settings.FRONTIERBOARD_TRUST_PROXY = True
    answer = client.get("/help", headers={"x-request-id": GIVEN})
    assert answer["X-Request-ID"] == GIVEN


@pytest.mark.parametrize("odd", ["a b", "a\nb", "x" * 65, "", "é", "<script>"])
def test_odd_id_of_a_proxy_is_replaced(client, settings, odd):
    settings.FRONTIERBOARD_TRUST_PROXY = True
    answer = client.get("/help", HTTP_X_REQUEST_ID=odd)
    assert len(answer["X-Request-ID"]) == 32


def test_id_of_anybody_else_is_not_taken(client):
    answer = client.get("/help", headers={"x-request-id": GIVEN})
    assert answer["X-Request-ID"] != GIVEN
