"""Schemathesis asks every operation what nobody thought of: none answers with a 5xx."""

# mypy: allow-untyped-calls

import json
from typing import Any, cast

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode

from dashboard.management.commands.write_openapi import document
from dashboard.models import ApiToken
from dashboard.wsgi import application
from tests import factories
from tests.api.filled import fill

pytestmark = pytest.mark.django_db

# A bundle is sent as it is.
schemathesis.serializer.alias("application/zip", "application/octet-stream")
SCHEMA = schemathesis.openapi.from_dict(json.loads(document()))
SCHEMA.app = application
OPERATIONS = {
    f"{found.method.upper()} {found.path}": found
    for found in (cast("Any", one).ok() for one in SCHEMA.get_all_operations())
}
BOUNDED = settings(
    max_examples=8,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def _one_connection():
    """The application would end the test's transaction with its first answer."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_no_question_ends_in_a_server_error(name, mode):
    filled = fill()
    token = ApiToken(
        name="bot", repository=factories.RepositoryFactory(), can_triage=True
    )
    headers = {
        "Authorization": f"Bearer {token.renew()}",
        "Accept-Encoding": "identity",
    }
    token.save()
    known = filled._asdict()

    @BOUNDED
    @given(case=OPERATIONS[name].as_strategy(generation_mode=mode))
    def ask(case):
        # Half of the questions are about something that is there.
        if len(str(case.query)) % 2:
            case.path_parameters = {
                n: known.get(n, v) for n, v in (case.path_parameters or {}).items()
            }
        response = case.call(headers=headers)
        case.validate_response(response, checks=[not_a_server_error])
        if 400 <= response.status_code < 500:
            assert set(response.json()["error"]) >= {"code", "parameter", "message"}

    try:
        ask()
    except Unsatisfiable:
        # Without parameters, or with one that is any text, nothing can be said wrongly.
        assert mode is GenerationMode.NEGATIVE
