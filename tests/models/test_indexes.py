"""Lookups that have no index of their own still use one."""

import pytest
from django.db import connection

from dashboard.models import Point, RawRecord

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("model", "column", "index"),
    [
        (RawRecord, "artifact_id", "raw_record_place_unique"),
        (Point, "sweep_id", "point_unique"),
    ],
)
@pytest.mark.parametrize("condition", ["= 7", "IN (7, 8, 9)"])
def test_rows_of_a_parent_are_found_by_the_unique_index(
    model: type[RawRecord] | type[Point], column: str, index: str, condition: str
) -> None:
    table = model._meta.db_table
    query = f"EXPLAIN SELECT * FROM {table} WHERE {column} {condition}"
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(query)
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute(
            "SELECT count(*) FROM pg_indexes WHERE tablename = %s AND indexdef LIKE %s",
            [table, f"%({column})"],
        )
        (alone,) = cursor.fetchone()
    assert index in plan
    assert f"Index Cond: ({column}" in plan
    assert alone == 0


def test_points_have_no_index_of_deployments_alone() -> None:
    """Every ingestion would pay for it, and nothing asks for such points."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexdef FROM pg_indexes WHERE tablename = %s",
            [Point._meta.db_table],
        )
        columns = [text.partition(" USING btree ")[2] for (text,) in cursor.fetchall()]
    assert "(raw_record_id)" in columns
    assert "(deployment_id)" not in columns
