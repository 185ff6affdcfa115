"""The recorded evals on the pages: each value, its state, and its baseline."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from dashboard.models import Regression
from tests.ingest import golden

OFFICIAL_AGENTIC, EVALS_ONLY, FAILED = 31900000004, 31544080186, 33484262630
FIRST, BUMP, NODES = 33100000001, 33300000002, 33400000005
SOURCE, MERGE, SLOWER, AGAIN = 33598359757, 33700000003, 33500000006, 33600000007
RUNS = (
    *(FIRST, BUMP, OFFICIAL_AGENTIC, NODES, FAILED),
    *(SOURCE, MERGE, SLOWER, AGAIN, EVALS_ONLY),
)
COUNTS = {
    EVALS_ONLY: 26, OFFICIAL_AGENTIC: 1, FIRST: 6, BUMP: 4, NODES: 17,
    FAILED: 4, SOURCE: 4, SLOWER: 4, AGAIN: 4,
}  # fmt: skip
_PLACE = re.compile(r"c(\d+) (\d\.\d{4}) / (\d\.\d{4}|absent)")


@pytest.fixture(scope="module")
def loaded(
    shared_data: Path, django_db_setup: None, django_db_blocker: Any
) -> Iterator[Path]:
    """The runs with evals, once for the module."""
    with django_db_blocker.unblock(), transaction.atomic():
        golden.import_masters(shared_data)
        for run_id in RUNS:
            golden.ingest(shared_data, run_id)
        yield shared_data
        transaction.set_rollback(True)


@pytest.fixture
def evals(loaded: Path, db: None) -> Path:
    """The folder of the recorded data, inside the test's own savepoint."""
    return loaded


def rows(client: Client, run_id: int) -> list[Any]:
    query = f"?unofficialRun={run_id}&model=all"
    found = client.get(f"/evaluation{query}").context["rows"]
    return [row for row in found if row.state is not None and row.judged is not None]


def told(readme: str, run_id: int) -> list[tuple[str, str, str, str]]:
    """Read (key, concurrency, strict, flexible) of a run from the recorded table."""
    section = readme.split("## Evals", 1)[1].split("\n## ", 1)[0]
    lines = (line.split("|") for line in section.splitlines() if "|" in line)
    return sorted(
        (cells[2].strip(), *place)
        for cells in lines
        if cells[1].strip() == str(run_id)
        for place in _PLACE.findall(cells[3])
    )


@pytest.mark.parametrize(("run_id", "count"), COUNTS.items())
def test_every_recorded_eval_is_on_the_page(
    client: Client, evals: Path, run_id: int, count: int
) -> None:
    expected = told((evals / "runs/README.md").read_text(), run_id)
    assert len(expected) == count
    assert expected == sorted(
        (
            row.key.key,
            str(row.concurrency),
            f"{row.judged.result.strict:.4f}",
            "absent"
            if row.judged.result.flexible is None
            else f"{row.judged.result.flexible:.4f}",
        )
        for row in rows(client, run_id)
    )


def test_the_four_quoted_evals_pass_their_floor_exactly(
    client: Client, evals: Path
) -> None:
    found = {
        (row.key.key, row.concurrency): (
            row.judged.result.strict,
            row.judged.result.flexible,
            row.judged.floor,
            row.outcome,
        )
        for row in rows(client, SOURCE)
    }
    assert found == {
        (golden.SGLANG, 64): (0.9697, 0.9568, 0.94, "pass"),
        (golden.SGLANG, 256): (0.9651, 0.9530, 0.94, "pass"),
        (golden.MTP, 64): (0.9712, 0.9575, 0.94, "pass"),
        (golden.MTP, 128): (0.9674, None, 0.94, "pass"),
    }
    body = client.get(f"/evaluation?unofficialRun={SOURCE}").content.decode()
    assert "flexible not measured" in body


def test_no_difference_is_shown_between_two_concurrencies_of_a_key(
    client: Client, evals: Path
) -> None:
    body = " ".join(client.get(f"/runs/{SOURCE}").content.decode().split())
    assert (
        f"{golden.SGLANG} 8k/1k gsm8k: TP2 c64 0.9697, TP2 c256 0.9651: "
        "z 0.67, p 0.51, <strong>no difference shown</strong>"
    ) in body
    assert "checkpoint differs" in body


def test_a_link_of_evals_only_opens_on_them_and_draws_them(
    client: Client, evals: Path
) -> None:
    answer = client.get(f"/evaluation?unofficialRun={EVALS_ONLY}")
    filters = answer.context["filters"]
    assert (filters.model, filters.task) == ("Qwen-3.5-397B-A17B", "gsm8k")
    trace = next(
        t
        for t in answer.context["figure"]["data"]
        if t["meta"]["key"] == f"run {EVALS_ONLY}"
    )
    assert len(trace["x"]) == 26
    assert {row.standing.checkpoint for row in rows(client, EVALS_ONLY)} == {golden.OLD}
    missing = [r for r in answer.context["rows"] if r.judged is None]
    assert len([r for r in missing if r.run.github_run_id == EVALS_ONLY]) == 15


def test_the_newest_scores_are_held_against_the_same_segment(
    client: Client, evals: Path
) -> None:
    newest = client.get("/evaluation?key=" + golden.SGLANG).context["rows"]
    bases = {row.concurrency: row.standing.former.moment.run for row in newest}
    assert bases == {64: SLOWER, 256: SLOWER}
    before = client.get(f"/evaluation?key={golden.SGLANG}&e_rundate=2026-09-03")
    assert {r.standing.former.reason for r in before.context["rows"]} == {
        "checkpoint differs"
    }


def test_recorded_scores_are_no_regression_of_accuracy(evals: Path) -> None:
    assert not Regression.objects.filter(kind="accuracy").exists()
