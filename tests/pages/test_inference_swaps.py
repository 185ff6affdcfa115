"""The inference page of keys whose weights, or how they are measured, changed."""

# mypy: allow-untyped-calls

import csv
import io
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.asserts import assertContains, assertNotContains

from ingest.segments import derive_segments
from tests.factories import START, CheckpointFactory, RunFactory, SweepFactory
from tests.pages.builders import TRADE_OFF, add_points, curve, official_sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_ten_days_later")]

OLD, NEW = "org-a/Model-397B-FP4", "org-b/Model-397B-FP4-V2"
DAY = timedelta(days=1)
BEFORE = [(4, 150.0, 250.0), (64, 50.0, 1500.0)]


@pytest.fixture
def _ten_days_later(time_machine):
    time_machine.move_to(START + 10 * DAY, tick=False)


@pytest.fixture
def swapped():
    """A key of three sweeps, the weights swapped with the second one."""
    return history()


def history(key="key-a", made=(OLD, NEW, NEW), **fields):
    """Make the sweeps of a key, one a day; the newest is current."""
    newest = official_sweep(
        key, checkpoint=CheckpointFactory(name=made[-1]), key_fields=fields
    )
    sweeps = []
    for day, name in enumerate(made[:-1]):
        run = RunFactory(official=True, created_at=START + day * DAY)
        former = SweepFactory(
            config_key=newest.config_key,
            run=run,
            state="former",
            official_at=run.created_at,
            checkpoint=CheckpointFactory(name=name),
        )
        add_points(former, BEFORE)
        sweeps.append(former)
    newest.official_at = START + len(sweeps) * DAY
    newest.save()
    add_points(newest, TRADE_OFF)
    derive_segments({(newest.config_key_id, "8k/1k")})
    return [*sweeps, newest]


def test_a_line_says_from_what_to_what_it_was_swapped_and_since_when(client, swapped):
    broke = swapped[1].run.github_run_id
    answer = client.get("/inference")
    (entry,) = answer.context["legend"]
    assert entry.opening.sweep.run_id == broke
    words = f"checkpoint swapped from {OLD} to {NEW}"
    assertContains(answer, f"{words}, since run {broke}, 2026-08-02")
    (trace,) = [
        t for t in answer.context["figure"]["data"] if t["meta"]["role"] == "frontier"
    ]
    assert f"{words}, since run {broke}" in trace["hovertemplate"]


def test_what_was_before_the_swap_is_a_ghost_that_is_not_asked_for(client, swapped):
    ghost, line = client.get("/inference").context["figure"]["data"]
    assert (ghost["meta"]["role"], ghost["line"]["dash"]) == ("ghost", "dot")
    assert ghost["name"] == f"key-a ({OLD}, before the swap)"
    assert ghost["x"] == [50, 150]
    assert line["x"] == [20, 60, 120, 180]
    (alone,) = client.get("/inference?ghost=0").context["figure"]["data"]
    assert alone["meta"]["role"] == "frontier"


def test_a_swap_of_long_ago_wears_no_mark_and_is_still_told(
    client, swapped, time_machine
):
    time_machine.move_to(START + 40 * DAY, tick=False)
    answer = client.get("/inference")
    assert answer.context["legend"][0].opening is None
    assert [t["meta"]["role"] for t in answer.context["figure"]["data"]] == ["frontier"]
    assertContains(answer, f"checkpoint swapped from {OLD}")
    ghost, _ = client.get("/inference?ghost=1").context["figure"]["data"]
    assert ghost["x"] == [50, 150]


def test_as_of_a_day_marks_are_those_of_that_day(client, swapped, time_machine):
    time_machine.move_to(START + 90 * DAY, tick=False)
    then = client.get("/inference?date=2026-08-03").context["legend"]
    assert then[0].opening.swapped_from == OLD
    earlier = client.get("/inference?date=2026-08-01")
    assert earlier.context["legend"][0].opening is None
    assert earlier.context["swaps"] == []


def test_a_break_of_another_kind_is_named_as_what_it_is(client):
    sweeps = history(made=(OLD, OLD))
    sweeps[1].precision = "fp8"
    sweeps[1].save()
    derive_segments({(sweeps[1].config_key_id, "8k/1k")})
    answer = client.get("/inference")
    assertContains(answer, "precision changed from fp4 to fp8")
    assert answer.context["swaps"] == []
    ghost = answer.context["figure"]["data"][0]
    assert ghost["name"] == "key-a (before the break)"


def test_swaps_of_all_keys_of_the_model_are_listed(client, swapped):
    history("key-b", (NEW, OLD))
    history("key-c", (NEW, OLD), model="dsr1")
    curve("key-d")
    answer = client.get("/inference?model=qwen3.5&key=key-a")
    listed = [(s.config_key, s.swap["from"]) for s in answer.context["swaps"]]
    assert sorted(listed) == [("key-a", OLD), ("key-b", NEW)]
    assertContains(answer, 'href="/keys/key-b"')
    assertContains(answer, 'href="/changes?key=key-b"')
    assertNotContains(answer, "/keys/key-c")


def test_table_and_csv_say_with_what_the_segment_began(client, swapped):
    curve("key-b")
    text = client.get("/inference.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    found = {(r["config_key"], r["swapped_from"], r["segment_began_at"]) for r in rows}
    began = swapped[1].official_at.isoformat()
    assert found == {("key-a", OLD, began), ("key-b", "", "")}
    page = client.get("/inference?sort=-segment_began_at").content.decode()
    assert page.count('<span class="badge badge-info">swap</span> 2026-08-02') == 4


def test_hostile_names_stay_inert(client):
    history(made=("=cmd|'/c'!A0", "<script>alert(1)</script>%{x}", NEW))
    page = client.get("/inference").content.decode()
    assert "<script>alert(1)" not in page
    rows = client.get("/inference.csv").content.decode()
    assert "<script>alert(1)</script>%{x}" in rows
    history("key-b", made=("=cmd|'/c'!A0", NEW))
    cells = {
        row["swapped_from"]
        for row in csv.DictReader(
            io.StringIO(client.get("/inference.csv").content.decode())
        )
    }
    assert "'=cmd|'/c'!A0" in cells


def test_queries_do_not_grow_with_swaps(client):
    history()
    with CaptureQueriesContext(connection) as few:
        client.get("/inference")
    for n in range(5):
        history(f"key-{n}", (OLD, NEW) * 5)
    with CaptureQueriesContext(connection) as many:
        client.get("/inference")
    assert len(many) == len(few)
