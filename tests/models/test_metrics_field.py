"""Metrics of a point: by name in Python and in queries, an array in the table."""

# mypy: allow-untyped-calls

import json

import pytest
from django.core import serializers
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import F, Max

from dashboard.models import Point
from dashboard.vocabulary.stored_metrics import STORED_METRICS, parted
from ingest.tables import POINTS
from ingest.upserts import upsert
from tests.factories import DeploymentFactory, PointFactory, SweepFactory

pytestmark = pytest.mark.django_db

LAST = STORED_METRICS[-1]
BEFORE = ("dashboard", "0024_newest_and_open_sweeps")


def stored() -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT metrics, more_metrics FROM dashboard_point ORDER BY id")
        return list(cursor.fetchall())


@pytest.mark.parametrize(
    "metrics",
    [{}, {"tput_per_gpu": 0.0}, {"median_ttft": 1e-7, LAST: 1e300}, {LAST: -12.5}],
)
def test_metrics_are_read_as_they_were_stored(metrics):
    point = PointFactory(metrics=metrics)
    point.refresh_from_db()
    assert point.metrics == metrics
    assert {type(value) for value in point.metrics.values()} <= {float}


def test_an_array_ends_with_the_last_metric():
    PointFactory(metrics={"output_tput_per_gpu": 2.0, LAST: None})
    assert stored()[0][0] == [None, 2.0]


def test_a_metric_is_looked_up_and_selected_by_its_name():
    fast = PointFactory(metrics={"p99.9_ttft": 0.5})
    PointFactory(metrics={"p99.9_ttft": 1.5})
    without = PointFactory(metrics={})
    points = Point.objects.order_by("pk")
    assert points.filter(metrics__isnull=True).count() == 0
    assert points.get(**{"metrics__p99.9_ttft__lt": 1}) == fast
    assert points.get(**{"metrics__p99.9_ttft__isnull": True}) == without
    assert points.get(metrics={"p99.9_ttft": 0.5}) == fast
    told = points.annotate(ttft=F("metrics__p99.9_ttft") * 2)
    assert list(told.values_list("ttft", flat=True)) == [1.0, 3.0, None]
    assert points.aggregate(most=Max("metrics__p99.9_ttft")) == {"most": 1.5}


def test_a_name_without_a_place_is_refused_by_queries_and_by_saving():
    with pytest.raises(ValueError, match="p42_ttft is no stored metric"):
        Point.objects.filter(metrics__p42_ttft=1).first()
    with pytest.raises(ValueError, match="p42_ttft is no stored metric"):
        PointFactory(metrics={"p42_ttft": 1.0})


def test_all_metrics_are_those_beside_the_array_too():
    point = PointFactory(metrics={LAST: 1.0}, more_metrics={"p42_ttft": 2.0})
    assert point.all_metrics == {LAST: 1.0, "p42_ttft": 2.0}
    assert PointFactory(metrics={LAST: 1.0}).all_metrics == {LAST: 1.0}


def test_metrics_are_written_to_fixtures_by_name():
    point = PointFactory(metrics={"tput_per_gpu": 3.0})
    text = serializers.serialize("json", [point])
    point.delete()
    for found in serializers.deserialize("json", text):
        found.save()
    assert Point.objects.get().metrics == {"tput_per_gpu": 3.0}


def migrate(*, back: bool) -> None:
    with connection.cursor() as cursor:
        # No table is altered while foreign keys of it wait for the commit.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes("dashboard")
    executor.migrate([BEFORE] if back else latest)


def test_rows_are_converted_to_what_ingestion_writes_and_back():
    measured: tuple[dict[str, float], ...] = (
        {name: n / 7 for n, name in enumerate(STORED_METRICS[:39])},
        {"tput_per_gpu": 1e22, "median_qps": 0.0, LAST: 1e-9},
        {"p42_ttft": 1.5, "joules_per_byte": 2.0, "median_ttft": 0.1},
        {"p42_ttft": 1.5},
        {},
    )
    sweep, deployment = SweepFactory(), DeploymentFactory()
    given = {"sweep_id": sweep.pk, "deployment_id": deployment.pk, "fingerprint": ""}
    given |= {"attempt": 1, "is_current": False, "is_excluded": False, "is_out": False}
    given |= {"flags": [], "image": "", "runner": "", "facts": {}}
    rows = []
    for concurrency, metrics in enumerate(measured, 1):
        listed, others = parted(metrics)
        row = given | {"concurrency": concurrency}
        row |= {"metrics": listed, "more_metrics": others}
        rows.append(tuple(row.get(name) for name in POINTS.columns))
    upsert(POINTS, rows)
    before = stored()

    migrate(back=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT metrics::text FROM dashboard_point ORDER BY id")
        found = [json.loads(text) for (text,) in cursor.fetchall()]
        assert found == list(measured)
        # As no row has it today: told to be missing.
        cursor.execute(
            "UPDATE dashboard_point SET metrics = metrics || %s",
            ['{"p99.9_qps": null, "p43_ttft": null}'],
        )
    migrate(back=False)

    assert stored() == before
    assert upsert(POINTS, rows).changed == 0
