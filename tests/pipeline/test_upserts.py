"""Upserts: natural keys with nulls, change detection, ids and stamps that stay."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import (
    DataError,
    IntegrityError,
    ProgrammingError,
    connection,
    transaction,
)
from django.test.utils import CaptureQueriesContext

from dashboard.models import (
    Artifact,
    Deployment,
    EvalResult,
    Point,
    RawRecord,
    RunStat,
    Skip,
    Sweep,
)
from dashboard.vocabulary import deployments
from ingest.tables import (
    ARTIFACTS_BY_BYTES,
    ARTIFACTS_BY_ID,
    CONFIG_KEYS,
    DEPLOYMENTS,
    EVALS,
    POINTS,
    RECORDS,
    RUN_STATS,
    SKIPS,
)
from ingest.upserts import (
    Stored,
    delete_others,
    insert,
    insert_in_parts,
    upsert,
)
from tests.factories import DeploymentFactory, RunFactory, SweepFactory

pytestmark = pytest.mark.django_db

Store = Callable[..., Stored]
KEY_ROW = ("k", "qwen3.5", "fp4", "mi355x", "sglang", "", False)


def point(sweep: Sweep, deployment: Deployment, **changes: Any) -> tuple[object, ...]:
    values: dict[str, object] = dict.fromkeys(POINTS.columns)
    values |= {
        "sweep_id": sweep.pk,
        "deployment_id": deployment.pk,
        "concurrency": 8,
        "fingerprint": "",
        "attempt": 1,
        "is_current": False,
        "is_excluded": False,
        "is_out": False,
        "flags": [],
        "image": "",
        "runner": "",
        "metrics": [1.0],
        "facts": {},
    }
    return tuple((values | changes).values())


@pytest.fixture
def place() -> tuple[Sweep, Any]:
    return SweepFactory(), DeploymentFactory()


def test_new_changed_and_same_are_told_apart(place: tuple[Sweep, Any]) -> None:
    rows = [point(*place, concurrency=conc) for conc in (1, 2, 3)]
    first = upsert(POINTS, rows)
    assert (first.new, first.changed, first.same) == (3, 0, 0)
    rows[1] = point(*place, concurrency=2, tput_per_gpu=5.0)
    second = upsert(POINTS, [*rows, point(*place, concurrency=4)])
    assert (second.new, second.changed, second.same) == (1, 1, 2)
    assert all(second.ids[key] == pk for key, pk in first.ids.items())


def test_the_stamp_moves_only_with_the_content(place: tuple[Sweep, Any]) -> None:
    upsert(POINTS, [point(*place)])
    Point.objects.update(updated_at=datetime(2020, 1, 1, tzinfo=UTC))
    before = Point.objects.get()
    upsert(POINTS, [point(*place)])
    assert Point.objects.get().updated_at == before.updated_at
    upsert(POINTS, [point(*place, metrics=[2.0])])
    after = Point.objects.get()
    assert after.updated_at > before.updated_at
    assert (after.pk, after.stored_at) == (before.pk, before.stored_at)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({"a": 1.0, "b": None}, {"b": None, "a": 1.0}, 0),
        ({"a": 1.0}, {"a": 1}, 0),
        ({"a": None}, {}, 1),
        ({"a": 0}, {"a": None}, 1),
        ({"a": [1, 2]}, {"a": [2, 1]}, 1),
        ({"a": "1"}, {"a": 1}, 1),
        ({"é\N{SNOWMAN}": "\\ \t\n"}, {"é\N{SNOWMAN}": "\\ \t\n"}, 0),
        ({"a": 10**40}, {"a": 10**40}, 0),
        ({"a": 10**40, "b": float("nan")}, {"a": 10**40, "b": None}, 0),
        ({"a": float("inf")}, {"a": None}, 0),
    ],
)
def test_json_columns_change_where_their_content_does(
    place: tuple[Sweep, Any], before: Any, after: Any, changed: int
) -> None:
    upsert(POINTS, [point(*place, facts=before)])
    assert upsert(POINTS, [point(*place, facts=after)]).changed == changed


def test_null_and_zero_are_different_values(place: tuple[Sweep, Any]) -> None:
    upsert(POINTS, [point(*place, tput_per_gpu=None)])
    assert upsert(POINTS, [point(*place, tput_per_gpu=0.0)]).changed == 1
    assert Point.objects.get().tput_per_gpu == 0
    assert upsert(POINTS, [point(*place, tput_per_gpu=None)]).changed == 1
    assert Point.objects.get().tput_per_gpu is None


def test_nulls_in_a_natural_key_are_equal() -> None:
    single = deployments.Deployment(multinode=False, disagg=False, tp=2)
    row = (*single, "TP2")
    first = upsert(DEPLOYMENTS, [row])
    second = upsert(DEPLOYMENTS, [row])
    assert (second.new, second.ids) == (0, first.ids)
    assert list(first.ids) == [tuple(single)]
    assert Deployment.objects.count() == 1


def test_a_null_reference_in_a_natural_key_is_one_row() -> None:
    run = RunFactory()
    row = (run.pk, None, "", 0, "odd", "detail", True)
    upsert(SKIPS, [row])
    again = upsert(SKIPS, [(*row[:5], "other", True)])
    assert (again.new, again.changed) == (0, 1)
    assert Skip.objects.get().detail == "other"


def test_kept_columns_are_written_once() -> None:
    upsert(CONFIG_KEYS, [KEY_ROW])
    again = upsert(CONFIG_KEYS, [("k", "other", *KEY_ROW[2:])])
    assert (again.new, again.changed, again.same) == (0, 0, 1)
    assert again.ids


def _artifact(run: Any, github_id: int | None, sha256: str) -> tuple[object, ...]:
    head: tuple[object, ...] = (
        run.pk,
        github_id,
        "name",
        sha256,
        "bmk",
        {},
        1,
        None,
        None,
        False,
    )
    return (*head, None, [], "fetched", "")


def test_a_partial_unique_index_looks_at_its_own_rows_only() -> None:
    run = RunFactory()
    upsert(ARTIFACTS_BY_ID, [_artifact(run, 5, "x")])
    upsert(ARTIFACTS_BY_BYTES, [_artifact(run, None, "x")])
    again = upsert(ARTIFACTS_BY_BYTES, [_artifact(run, None, "x")])
    assert (again.new, len(again.ids)) == (0, 1)
    renamed = upsert(ARTIFACTS_BY_ID, [_artifact(run, 5, "y")])
    assert renamed.changed == 1
    assert Artifact.objects.count() == 2


TEXTS = ["", "it's", 'say "x"', "\\ \t\n", "100 %", "%s", "é\N{SNOWMAN}", "x" * 300]


@pytest.mark.parametrize("count", [1, 2, 100, 101, 250])
def test_few_rows_are_stored_as_many_are(count: int) -> None:
    run = RunFactory()
    rows: list[tuple[Any, ...]] = [
        (
            *(run.pk, number, TEXTS[number % len(TEXTS)], f"{number}", "bmk"),
            {"text": TEXTS[number % len(TEXTS)], "whole": 10**17, "none": None},
            *(1, None if number % 2 else 2**40 + number),
            None if number % 3 else datetime(2026, 1, 2, 3, 4, 5, number, tzinfo=UTC),
            *(number % 2 == 0, None, [[number, 0.1 + 0.2]], "fetched", ""),
        )
        for number in range(count)
    ]

    first = upsert(ARTIFACTS_BY_ID, rows)
    again = upsert(ARTIFACTS_BY_ID, rows)

    assert (first.new, again.new, again.changed, again.same) == (count, 0, 0, count)
    assert first.ids == again.ids
    assert set(first.ids) == {(run.pk, number) for number in range(count)}
    stored = Artifact.objects.order_by("github_artifact_id")
    assert list(stored.values_list(*ARTIFACTS_BY_ID.columns)) == rows


@pytest.mark.parametrize("body", ["{}", '{"x": "' + "\\\\" * 500_000 + '"}'])
def test_long_texts_are_in_no_statement(body: str) -> None:
    run = RunFactory()
    (artifact,) = upsert(ARTIFACTS_BY_ID, [_artifact(run, 5, "x")]).ids.values()
    rows = [(artifact, "m", index, "0", body) for index in range(2)]

    with CaptureQueriesContext(connection) as asked:
        first = upsert(RECORDS, rows)
    again = upsert(RECORDS, rows)

    assert (first.new, again.new, again.same) == (2, 0, 2)
    assert set(RawRecord.objects.values_list("body", flat=True)) == {body}
    assert max(len(query["sql"]) for query in asked) < 10_000


@pytest.mark.parametrize("score", [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0])
def test_numbers_of_few_rows_are_stored_to_the_last_bit(score: float) -> None:
    row = dict.fromkeys(EVALS.columns)
    key, run = upsert(CONFIG_KEYS, [KEY_ROW]).ids[("k",)], RunFactory()
    row |= {
        "run_id": run.pk,
        "config_key_id": key,
        "deployment_id": DeploymentFactory().pk,
    }
    row |= {"scenario": "8k/1k", "task": "gsm8k", "attempt": 1, "score": score}
    row |= {name: [] for name in ("repeats", "mapping_candidates", "flags")}
    row |= dict.fromkeys(["lm_eval_version", "result_file", "mapping_method"], "")
    row["is_current"] = False

    upsert(EVALS, [tuple(row.values())])

    assert repr(EvalResult.objects.get().score) == repr(score)


@pytest.mark.parametrize(
    "row",
    [
        ("k", "", 1 << 31, 1),
        ("k", "", (1 << 32) + 5, 1),
        ("k\0", "", 1, 1),
        ("k", "x" * 41, 1, 1),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_few_rows_of_which_one_does_not_fit_are_refused(
    row: tuple[Any, ...], place: int
) -> None:
    run = RunFactory()
    rows = [(run.pk, "sound", "", 1, 1)]
    rows.insert(place, (run.pk, *row))
    with pytest.raises(DataError), transaction.atomic():
        upsert(RUN_STATS, rows)
    assert not RunStat.objects.exists()


def test_nothing_is_a_sound_thing_to_store() -> None:
    assert upsert(RUN_STATS, []).ids == {}


def test_a_key_given_twice_is_refused_whole() -> None:
    run = RunFactory()
    rows = [(run.pk, "k", "", 1, 1), (run.pk, "k", "", 2, 2)]
    with pytest.raises(ProgrammingError, match="second time"), transaction.atomic():
        upsert(RUN_STATS, rows)
    assert not RunStat.objects.exists()


def test_a_constraint_that_fails_stores_nothing(place: tuple[Sweep, Any]) -> None:
    rows = [point(*place), point(*place, concurrency=0)]
    with pytest.raises(IntegrityError), transaction.atomic():
        upsert(POINTS, rows)
    assert not Point.objects.exists()


@pytest.mark.parametrize("store", [insert, insert_in_parts, upsert])
def test_an_error_among_the_rows_stores_none_of_them(
    place: tuple[Sweep, Any], store: Store
) -> None:
    def rows() -> Iterator[tuple[object, ...]]:
        yield from (point(*place, concurrency=conc) for conc in range(1, 5000))
        raise ValueError("what is mapped meanwhile is no good")

    with pytest.raises(ValueError, match="no good"), transaction.atomic():
        store(POINTS, rows())
    assert Point.objects.count() == 0
    assert store(POINTS, [point(*place)]).new == 1


@pytest.mark.parametrize(
    ("column", "number"),
    [
        ("concurrency", 1 << 31),
        ("concurrency", (1 << 32) + 5),
        ("gpus", -(1 << 31) - 1),
        ("raw_record_id", 1 << 63),
    ],
)
@pytest.mark.parametrize("store", [insert, insert_in_parts, upsert])
def test_a_number_out_of_range_is_refused_and_not_cut_off(
    place: tuple[Sweep, Any], store: Store, column: str, number: int
) -> None:
    changes: dict[str, Any] = {"concurrency": 16, column: number}
    rows = [point(*place), point(*place, **changes)]
    with pytest.raises(DataError, match="out of range"), transaction.atomic():
        store(POINTS, rows)
    assert not Point.objects.exists()


@pytest.mark.parametrize("text", ["x\0", "x" * 5_000])
@pytest.mark.parametrize("store", [insert, insert_in_parts, upsert])
def test_what_the_database_refuses_while_rows_come_is_an_error_of_djangos(
    place: tuple[Sweep, Any], store: Store, text: str
) -> None:
    with pytest.raises(DataError), transaction.atomic():
        store(POINTS, [point(*place, fingerprint=text)])
    assert not Point.objects.exists()


@pytest.mark.parametrize("count", [0, 1, 1_000, 2_500])
def test_all_parts_are_stored(place: tuple[Sweep, Any], count: int) -> None:
    rows = [point(*place, concurrency=conc + 1) for conc in range(count)]
    assert insert_in_parts(POINTS, rows).new == count
    stored = Point.objects.order_by("pk").values_list("concurrency", flat=True)
    assert list(stored) == [conc + 1 for conc in range(count)]


@pytest.mark.parametrize("bad", [1, 1_500, 3_000])
def test_parts_with_a_row_that_names_nothing_are_refused(
    place: tuple[Sweep, Any], bad: int
) -> None:
    sweep, _ = place
    rows = [point(*place, concurrency=conc) for conc in range(1, 3_001)]
    rows[bad - 1] = point(*place, concurrency=bad, raw_record_id=sweep.pk + 10**9)
    with pytest.raises(IntegrityError, match="raw_record"), transaction.atomic():
        insert_in_parts(POINTS, rows)
    assert not Point.objects.exists()


def test_references_wait_for_the_commit_again_after_parts(
    place: tuple[Sweep, Any],
) -> None:
    insert_in_parts(POINTS, [point(*place)])
    assert Point.objects.update(raw_record_id=10**9) == 1
    with pytest.raises(IntegrityError, match="raw_record"), transaction.atomic():
        connection.check_constraints()
    Point.objects.update(raw_record_id=None)


@pytest.mark.parametrize(
    "metrics",
    [
        [],
        [1.5],
        [None, 2.0],
        [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2],
        [None, 1.0, None, -3.25],
    ],
)
@pytest.mark.parametrize("store", [insert, insert_in_parts, upsert])
def test_arrays_are_stored_to_the_last_bit(
    place: tuple[Sweep, Any], store: Store, metrics: list[float | None]
) -> None:
    store(POINTS, [point(*place, metrics=metrics)])
    with connection.cursor() as cursor:
        cursor.execute("SELECT metrics FROM dashboard_point")
        assert repr(cursor.fetchall()) == repr([(metrics,)])


def test_rows_of_a_scope_that_are_not_kept_go() -> None:
    run, other = RunFactory(), RunFactory()
    rows = [(r.pk, k, "", 1, 1) for r in (run, other) for k in ("a", "b")]
    ids = upsert(RUN_STATS, rows).ids
    assert delete_others(RunStat, [ids[(run.pk, "a")]], run=run) == 1
    assert RunStat.objects.filter(run=run).get().raw_key == "a"
    assert RunStat.objects.filter(run=other).count() == 2
