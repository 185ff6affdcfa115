"""The recorded files of the official dashboard come back as they were imported.

Equal without any tolerance. Rows are compared without their order, which the official
dashboard does not promise.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client

from dashboard.models import EvalResult
from dashboard.queries.published_shapes import HISTORY_METRICS

MODEL = "DeepSeek-R1-0528"


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / "published" / f"{name}.json").read_text())


def counted(rows: Iterable[Any]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rows)


@pytest.fixture(scope="module")
def loaded(
    shared_data: Path, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """The whole folder imported once for the module, and rolled back after it."""
    with django_db_blocker.unblock(), transaction.atomic():
        call_command("import_published", str(shared_data / "published"))
        yield
        transaction.set_rollback(True)


@pytest.fixture
def answered(loaded: None, db: None, client: Client) -> Any:
    """Ask a path below ``/api/v1``, inside the test's own savepoint."""

    def ask(path: str, **query: Any) -> Any:
        response: Any = client.get(f"/api/v1/{path}", query)
        assert response.status_code == 200, response.content
        return json.loads(response.getvalue(), parse_constant=pytest.fail)

    return ask


def test_the_newest_rows_come_back_equal(answered: Any, shared_data: Path) -> None:
    published = read(shared_data, "benchmarks")
    assert len(published) == 435
    assert counted(answered("benchmarks", model=MODEL)) == counted(published)


def test_every_row_of_the_history_comes_back_equal(
    answered: Any, shared_data: Path
) -> None:
    """What else comes back is what only the newest rows held, in the same shape."""
    published = read(shared_data, "benchmarks-history")
    assert len(published) == 1129
    newest = [in_the_past(row) for row in read(shared_data, "benchmarks")]
    lengths = sorted({(row["isl"], row["osl"]) for row in published + newest})
    found = [
        row
        for isl, osl in lengths
        for row in answered("benchmarks/history", model=MODEL, isl=isl, osl=osl)
    ]
    assert counted(found) == counted(published) | counted(newest)
    assert counted(answered("benchmarks/history", model=MODEL)) == counted(found)


def in_the_past(row: dict[str, Any]) -> dict[str, Any]:
    """Return a newest row as the history has it: no image, fewer metrics."""
    metrics = {n: v for n, v in row["metrics"].items() if n in HISTORY_METRICS}
    return {n: v for n, v in row.items() if n != "image"} | {"metrics": metrics}


def test_the_evaluations_come_back_equal(answered: Any, shared_data: Path) -> None:
    published = read(shared_data, "evaluations")
    assert len(published) == 341
    assert counted(answered("evaluations")) == counted(published)


def test_every_published_eval_is_stored_and_on_the_page(
    loaded: None, db: None, client: Client, shared_data: Path
) -> None:
    """By model, hardware and task; a result that is repeated counts once.

    So does one that was published twice, the second time with the workers that a
    single node's evaluation carries by default (C25).
    """
    published = read(shared_data, "evaluations")
    apart = (
        *("id", "config_id", "metrics", "timestamp", "date"),
        *("num_prefill_gpu", "num_decode_gpu", "disagg"),
        *("prefill_num_workers", "decode_num_workers"),
    )
    evals = {
        json.dumps({n: v for n, v in row.items() if n not in apart}, sort_keys=True)
        for row in published
    }
    parts = ("model", "hardware", "task")
    expected = Counter(
        tuple(json.loads(found)[part] for part in parts) for found in evals
    )
    stored = EvalResult.objects.filter(is_current=True).values_list(
        "config_key__model", "config_key__hardware", "task"
    )
    assert Counter(stored) == expected
    for model in {model for model, _, _ in expected}:
        page = client.get("/evaluation", {"model": model, "task": "gsm8k"})
        assert page.status_code == 200
        assert "<tbody" in page.content.decode(), model


@pytest.mark.parametrize(
    ("name", "count"), [("availability", 689), ("reliability", 5546)]
)
def test_rows_of_days_come_back_equal(
    answered: Any, shared_data: Path, name: str, count: int
) -> None:
    published = read(shared_data, name)
    assert len(published) == count
    assert counted(answered(name)) == counted(published)


def test_the_workflows_of_a_day_come_back_equal(
    answered: Any, shared_data: Path
) -> None:
    published = read(shared_data, "workflow-info")
    found = answered("workflow-info", date="2026-06-14")
    assert {part: counted(rows) for part, rows in found.items()} == {
        part: counted(rows) for part, rows in published.items()
    }


def test_the_folder_once_more_changes_nothing(
    loaded: None, db: None, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("import_published", str(shared_data / "published"))
    told = capsys.readouterr().out
    assert "210 runs: 0 new, 0 changed, 210 same" in told
    assert "6239 rows of days, 0 changed" in told
