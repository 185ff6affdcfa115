"""Points in the official shape, while an ingestion commits."""

# mypy: allow-untyped-calls

import json
from collections.abc import Mapping, Sequence
from functools import partial

import pytest
from django.db import connection
from django.db.models import Q

from dashboard.queries.published_points import (
    history_texts,
    newest_texts,
    official_sweeps,
)
from tests.factories import DeploymentFactory, PointFactory, SweepFactory
from tests.queries.meanwhile import after

pytestmark = pytest.mark.django_db

NEWEST = partial(newest_texts, without=frozenset())


def nothing(_: Sequence[int]) -> Mapping[int, str]:
    return {}


@pytest.mark.parametrize(
    ("texts", "query"), [(history_texts, 1), (NEWEST, 1), (NEWEST, 2)]
)
def test_a_deployment_that_comes_between_two_queries_is_told(texts, query) -> None:
    sweep = SweepFactory(official=True)
    PointFactory(sweep=sweep)
    sweeps = official_sweeps([sweep.config_key.model], Q())

    def comes() -> None:
        PointFactory(sweep=sweep, deployment=DeploymentFactory(tp=4))

    with connection.execute_wrapper(after(query, comes)):
        found = [json.loads(text) for text in texts(sweeps, nothing)]
    assert sorted(row["decode_tp"] for row in found) == [2, 4]
