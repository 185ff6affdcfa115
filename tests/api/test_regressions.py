"""GET and PATCH /api/v1/regressions: the promised shape, filters, tokens, refusals."""

# mypy: allow-untyped-calls

import json

import pytest
from django.contrib.auth.models import Group, User

from dashboard.models import ApiToken
from tests import factories

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/regressions"


def listed(client, **query):
    return client.get(ADDRESS, query).json()


def patch(client, row, body, token=""):
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return client.patch(
        f"{ADDRESS}/{row.pk}",
        json.dumps(body),
        content_type="application/json",
        headers=headers,
    )


@pytest.fixture
def token():
    """Return the secret of a token that may triage the factories' runs."""
    made = ApiToken(
        name="bot", repository=factories.RepositoryFactory(), can_triage=True
    )
    plain = made.renew()
    made.save()
    return plain


def numbers():
    point = {
        "deployment": "TP2",
        "concurrency": 64,
        "metric": "tput_per_gpu",
        "base": 1000.0,
        "head": 910.0,
        "change": -0.09,
        "gain": -0.09,
        "z": -8.9,
        "flagged": True,
        "needs_look": False,
    }
    still = {**point, "concurrency": 4, "head": 1001.0, "change": 0.001}
    better = {**point, "concurrency": 256, "change": 0.38, "gain": 0.38}
    points = [point, {**still, "flagged": False}, better]
    return {"places": [["TP2", [64]]], "verdict": {"points": points}}


def test_a_regression_has_the_promised_shape(client):
    baseline = factories.SweepFactory(
        official=True, config_key__key="key-a", state="former"
    )
    row = factories.RegressionFactory(
        sweep__config_key=baseline.config_key, baseline=baseline, numbers=numbers()
    )
    (body,) = listed(client)
    assert body["id"] == row.pk
    assert body["config_key"] == "key-a"
    assert body["scenario"] == "8k/1k"
    assert body["kind"] == "performance"
    assert body["state"] == "untriaged"
    assert body["recovered"] is False
    assert body["run_id"] == row.run.github_run_id
    assert body["baseline_run_id"] == baseline.run.github_run_id
    assert body["change"] == -0.09
    assert [(p["deployment"], p["concurrency"]) for p in body["points"]] == [
        ("TP2", 64)
    ]
    assert body["places"] == [["TP2", [64]]]
    assert body["since"] == row.run.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert client.get(f"{ADDRESS}/{row.pk}").json() == body


def test_filters_are_those_of_the_page(client):
    first = factories.RegressionFactory(state="noise")
    second = factories.RegressionFactory(kind="coverage")
    gone = factories.RegressionFactory(is_active=False)
    assert [b["id"] for b in listed(client)] == [second.pk, first.pk]
    assert [b["id"] for b in listed(client, state="noise")] == [first.pk]
    assert [b["id"] for b in listed(client, kind="coverage")] == [second.pk]
    assert [b["id"] for b in listed(client, key=first.config_key.key)] == [first.pk]
    assert [b["id"] for b in listed(client, active="no")] == [gone.pk]
    assert [b["id"] for b in listed(client, limit=1, offset=1)] == [first.pk]


@pytest.mark.parametrize(
    ("query", "parameter", "allowed"),
    [
        ({"state": "recovered"}, "state", "untriaged"),
        ({"kind": "x"}, "kind", "performance"),
        ({"recovered": "maybe"}, "recovered", "yes"),
        ({"active": "x" * 5000}, "active", "all"),
        ({"owner": "stranger"}, "owner", "nobody"),
    ],
)
def test_odd_filters_name_the_parameter_and_what_is_allowed(
    client, query, parameter, allowed
):
    answer = client.get(ADDRESS, query)
    fault = answer.json()["error"]
    assert answer.status_code == 400
    assert fault["parameter"] == parameter
    assert allowed in fault["allowed"]
    assert len(fault["message"]) < 400


@pytest.mark.parametrize("query", [{"run": "x"}, {"limit": 0}, {"key": "a\0"}])
def test_odd_numbers_and_texts_are_refused(client, query):
    answer = client.get(ADDRESS, query)
    assert answer.status_code == 400
    assert answer.json()["error"]["parameter"] == next(iter(query))


def test_a_token_decides_under_its_name(client, token):
    kim = User.objects.create_user("kim")
    kim.groups.add(Group.objects.get_or_create(name="triage")[0])
    row = factories.RegressionFactory()
    body = {"state": "investigating", "owner": "kim", "note": "host 7"}
    answer = patch(client, row, body, token)
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["owner"]) == ("investigating", "kim")
    event = row.events.get()
    assert (event.author, event.note) == ("token bot", "host 7")


def test_who_may_not_decide_is_refused(client, token):
    row = factories.RegressionFactory()
    body = {"state": "noise"}
    assert patch(client, row, body).status_code == 401
    assert patch(client, row, body, "fb_x_y").status_code == 401
    ApiToken.objects.update(can_triage=False)
    assert patch(client, row, body, token).status_code == 403
    ApiToken.objects.update(can_triage=True)
    other = factories.RepositoryFactory(full_name="other/bench")
    ApiToken.objects.update(repository=other)
    assert patch(client, row, body, token).status_code == 403
    row.refresh_from_db()
    assert row.state == "untriaged"
    assert not row.events.exists()


def test_a_session_alone_decides_nothing(client, admin_client):
    row = factories.RegressionFactory()
    assert patch(admin_client, row, {"state": "noise"}).status_code == 401


def test_a_token_works_where_readers_must_log_in(client, token, settings):
    settings.FRONTIERBOARD_LOGIN_REQUIRED = True
    row = factories.RegressionFactory()
    assert client.get(ADDRESS).status_code == 401
    assert patch(client, row, {"state": "noise"}, token).status_code == 200


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"state": "recovered"}, "state"),
        ({"seen_state": "x", "state": "noise"}, "seen_state"),
        ({"owner": "stranger"}, "owner"),
        ({}, "body"),
        ({"note": "x" * 4001}, "note"),
    ],
)
def test_odd_decisions_are_refused(client, token, body, parameter):
    row = factories.RegressionFactory()
    answer = patch(client, row, body, token)
    assert answer.status_code == 400
    assert answer.json()["error"]["parameter"] == parameter
    assert not row.events.exists()


def test_what_changed_meanwhile_is_a_conflict(client, token):
    row = factories.RegressionFactory(state="infra")
    body = {"state": "noise", "seen_state": "untriaged"}
    answer = patch(client, row, body, token)
    assert answer.status_code == 409
    assert "is infra now" in answer.json()["error"]["message"]
    row.refresh_from_db()
    assert row.state == "infra"


def test_what_is_not_stored_is_not_found(client, token):
    row = factories.RegressionFactory()
    row.run.publication = "hidden"
    row.run.save()
    assert patch(client, row, {"state": "noise"}, token).status_code == 404
    assert client.get(f"{ADDRESS}/{row.pk}").status_code == 404
    assert client.get(f"{ADDRESS}/{10**30}").status_code == 404


def test_the_list_asks_as_often_whatever_it_holds(client, django_assert_num_queries):
    baseline = factories.SweepFactory(official=True)
    factories.RegressionFactory(baseline=baseline)
    with django_assert_num_queries(5):
        client.get(ADDRESS)
    factories.RegressionFactory.create_batch(5, baseline=baseline)
    with django_assert_num_queries(5):
        assert len(client.get(ADDRESS).json()) == 6
