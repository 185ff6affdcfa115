"""Every table has a factory whose default row the database takes."""

# mypy: allow-untyped-calls

import pytest

from dashboard import models
from tests import factories


@pytest.mark.django_db
@pytest.mark.parametrize("name", models.__all__)
def test_factory_makes_a_row_that_the_database_takes(name):
    row = getattr(factories, f"{name}Factory")()
    row.refresh_from_db()
    assert str(row)


@pytest.mark.django_db
def test_point_factory_mirrors_columns_in_metrics_and_takes_extra():
    point = factories.PointFactory(median_intvty=None, extra={"p99_ttft": 1.0})
    assert "median_intvty" not in point.metrics
    assert point.metrics["tput_per_gpu"] == point.tput_per_gpu
    assert point.metrics["p99_ttft"] == 1.0


@pytest.mark.django_db
def test_official_sweep_belongs_to_an_official_run():
    sweep = factories.SweepFactory(official=True)
    assert (sweep.state, sweep.run.publication) == ("current", "official")
    assert sweep.official_at == sweep.run.created_at
