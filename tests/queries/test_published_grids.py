"""What was measured on which day, while an ingestion commits."""

# mypy: allow-untyped-calls

import pytest
from django.db import connection

from dashboard.models import ConfigKey, Sweep
from dashboard.queries.published_grids import told_by_grids
from tests.factories import ConfigKeyFactory, DeploymentFactory, SweepFactory
from tests.queries.meanwhile import after

pytestmark = pytest.mark.django_db


def measured(framework: str, tp: int) -> None:
    label = DeploymentFactory(tp=tp).label
    key = ConfigKeyFactory(key=f"qwen3.5-{framework}", framework=framework)
    SweepFactory(official=True, config_key=key, grid=[[label, [8]]])


def forget() -> None:
    Sweep.objects.all().delete()
    ConfigKey.objects.all().delete()


@pytest.mark.parametrize("query", [1, 2, 3])
def test_a_sweep_that_comes_between_two_queries_is_told_next_time(query: int) -> None:
    measured("sglang", 2)
    with connection.execute_wrapper(after(query, lambda: measured("vllm", 4))):
        assert len(told_by_grids().texts) == 1
    assert len(told_by_grids().texts) == 2


def test_a_key_that_goes_between_two_queries_is_told_no_more() -> None:
    measured("sglang", 2)
    with connection.execute_wrapper(after(1, forget)):
        assert told_by_grids().texts == set()
