"""Pages ask the database as often for a long history as for a short one (CASES E03)."""

from datetime import date

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.models import Generation
from ingest.scale.filling import fill
from ingest.scale.layout import Layout, Scale

PATHS = [
    "/keys/dsr1-fp4-b200-sglang",
    "/inference?model=DeepSeek-R1-0528",
    "/inference?model=DeepSeek-R1-0528&date=2026-08-25",
    "/api/v1/benchmarks?model=DeepSeek-R1-0528",
    "/api/v1/availability",
    "/api/v1/evaluations",
]


def counts(*, keys: int, dates: int) -> dict[str, int]:
    """Return how many queries each path takes with so much stored."""
    points = keys * dates * 10
    scale = Scale(points, keys, dates, seed=1, until=date(2026, 9, 1))
    found = {}
    with transaction.atomic():
        fill(Layout(scale), lambda _done, _total: None, vacuum=False)
        # What was kept of the other size had its own generation.
        Generation.objects.update(number=points)
        for path in PATHS:
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert Client().get(path).status_code == 200
            found[path] = len(queries)
        transaction.set_rollback(True)
    return found


@pytest.mark.django_db
def test_the_count_of_queries_is_flat_in_what_is_stored():
    few, many = counts(keys=20, dates=10), counts(keys=40, dates=30)
    assert many == few
