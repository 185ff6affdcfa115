"""What operators ask: alive, and ready with each reason why not."""

import pytest
from celery import current_app
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


def test_healthz_answers_without_a_query(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/healthz").content == b"ok"


def test_readyz_answers_when_everything_is_there(client):
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "reasons": {}})


def test_readyz_counts_migrations_that_are_missing(client):
    MigrationRecorder.Migration.objects.filter(app="dashboard").delete()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "migrations are not applied" in answer.json()["reasons"]["database"]


def test_readyz_says_that_the_broker_is_away_and_not_where_it_is(client, monkeypatch):
    monkeypatch.setattr(
        current_app.conf, "broker_write_url", "redis://:secret@127.0.0.1:9/0"
    )
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["reasons"] == {"broker": "no answer (OperationalError)"}
