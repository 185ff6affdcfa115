"""The recorded runs through the whole pipeline: figures, any order, twice."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction

from dashboard.corrections import Target, correct, undo
from dashboard.models import ChangelogEntry, EvalResult, Point, Run, RunStat, Sweep
from ingest.pipeline import derive_run, replay_run
from tests.ingest import golden

SHORT_ROLE = re.compile(r"/EP\d+| DPA")


@pytest.fixture(scope="module")
def loaded(
    shared_data: Path, django_db_setup: None, django_db_blocker: Any
) -> Iterator[Path]:
    """Every recorded run ingested once for the module, and rolled back after it."""
    with django_db_blocker.unblock(), transaction.atomic():
        golden.import_masters(shared_data)
        for run_id in golden.RUN_IDS:
            golden.ingest(shared_data, run_id)
        yield shared_data
        transaction.set_rollback(True)


@pytest.fixture
def all_runs(loaded: Path, db: None) -> Path:
    """The recorded runs, inside the test's own savepoint."""
    return loaded


def test_recorded_runs_give_the_published_figures(all_runs: Path) -> None:
    found = {run_id: golden.seen(run_id) for run_id in golden.RUN_IDS}
    assert found == golden.EXPECTED


def test_every_recorded_point_has_its_figures(all_runs: Path) -> None:
    rows = _figures((all_runs / "runs" / "README.md").read_text())
    wrong: list[object] = []
    for run_id, key, label, concurrency, figures in rows:
        points = Point.objects.filter(
            sweep__run__github_run_id=run_id,
            sweep__config_key__key=key,
            concurrency=concurrency,
            is_current=True,
        ).select_related("deployment")
        found = [p for p in points if _fits(p.deployment.label, label)]
        for point in found:
            stored = point.facts.get("stored_interactivity", {})
            interactivity = stored.get("median_intvty", point.median_intvty)
            measured = (
                point.tput_per_gpu,
                point.output_tput_per_gpu,
                interactivity,
                point.median_ttft,
            )
            rounded = [
                round(value, digits)
                for value, digits in zip(measured, (1, 1, 1, 3), strict=True)
            ]
            if any(
                abs(a - b) > 10**-digits
                for a, b, digits in zip(rounded, figures, (1, 1, 1, 3), strict=True)
            ):
                wrong.append((run_id, key, label, concurrency, rounded, figures))
        if len(found) != 1:
            wrong.append((run_id, key, label, concurrency, len(found)))
    assert len(rows) == 26 + 16 + 29 + 19 + 33 + 13 + 8 + 13 + 13 + 13
    assert wrong == []


def _figures(readme: str) -> list[tuple[int, str, str, int, list[float]]]:
    """Read the tables of figures per point: run, key, label, concurrency, values."""
    rows, run_id = [], 0
    for line in readme.partition("## Figures per point")[2].splitlines():
        if line.startswith("### "):
            run_id = int(line[4:])
        elif line.startswith("## "):
            break
        elif line.startswith("| ") and not line.startswith(("| key", "| ---")):
            key, point, *values = [cell.strip() for cell in line.strip("|").split("|")]
            label, _, concurrency = point.rpartition(" c")
            figures = [float(value) for value in values]
            rows.append((run_id, key, label, int(concurrency), figures))
    return rows


def _fits(label: str, written: str) -> bool:
    """Compare labels; the tables leave out EP and DPA of roles, and the method."""
    if "P " not in written:
        return label.removesuffix(" mtp") == written
    short = SHORT_ROLE.sub("", label)
    spec = "mtp" if short.endswith(" mtp") else "none"
    plain = short.removesuffix(" mtp")
    return written in (plain, f"{plain} {spec}")


def test_quoted_evals_are_stored_exactly(all_runs: Path) -> None:
    evals = EvalResult.objects.filter(run__github_run_id=33598359757, is_current=True)
    found = {(e.config_key.key, e.concurrency): (e.strict, e.flexible) for e in evals}
    assert found == {
        (golden.SGLANG, 64): (0.9697, 0.9568),
        (golden.SGLANG, 256): (0.9651, 0.9530),
        (golden.MTP, 64): (0.9712, 0.9575),
        (golden.MTP, 128): (0.9674, None),
    }


def test_reused_measurements_become_official_once(all_runs: Path) -> None:
    source = Run.objects.get(github_run_id=33598359757)
    merge = Run.objects.get(github_run_id=33700000003)
    assert source.publication == Run.Publication.OFFICIAL
    assert source.published_by == merge
    assert source.published_at == merge.created_at
    assert not merge.sweeps.exists()
    sweeps = source.sweeps.all()
    assert {s.official_at for s in sweeps} == {merge.created_at}
    assert {s.measured_at for s in sweeps} == {source.created_at}


def test_current_sweeps_are_the_newest_complete_official_ones(all_runs: Path) -> None:
    current = Sweep.objects.filter(state=Sweep.State.CURRENT)
    found = {s.config_key.key: s.run.github_run_id for s in current}
    assert found == {
        golden.AGENTIC: 31900000004,
        golden.ATOM: 33100000001,
        golden.SGLANG: 33600000007,
        golden.MTP: 33600000007,
        "dsr1-fp4-gb200-dynamo-trt": 33400000005,
        "dsv4-fp4-b200-dynamo-sglang-mtp": 33400000005,
        "qwen3.5-fp8-gb200-dynamo-sglang": 33400000005,
    }


def test_superseded_uploads_are_points_that_are_not_current(all_runs: Path) -> None:
    points = Point.objects.filter(sweep__run__github_run_id=33588417338)
    assert points.count() == 11
    newest = points.get(deployment__label="TP2/EP2 mtp", concurrency=4, is_current=True)
    assert newest.attempt == 3
    assert round(newest.output_tput_per_gpu or 0, 1) == 120.8


def test_agentic_interactivity_is_recomputed_from_latency(all_runs: Path) -> None:
    point = Point.objects.get(
        sweep__run__github_run_id=31900000004,
        deployment__label="TP2/EP2 mtp",
        concurrency=4,
    )
    assert round(point.median_intvty or 0, 2) == 228.83


def test_link_states_and_the_newest_statistics_are_kept(all_runs: Path) -> None:
    entries = ChangelogEntry.objects.values_list("run__github_run_id", "link_state")
    links = dict(entries)
    assert links[33484262630] == "placeholder"
    assert links[33598359757] == "placeholder"
    assert links[33588417338] == "missing"
    assert links[33700000003] == "good"
    stat = RunStat.objects.get(run__github_run_id=33400000005, raw_key="b200-nscale")
    assert (stat.successes, stat.total) == (9, 10)


def test_invalid_power_is_flagged_and_stays_on_the_frontier(all_runs: Path) -> None:
    flagged = Point.objects.filter(flags__contains=[["power_invalid"]]) or [
        p for p in Point.objects.all() if "power_invalid" in dict(p.flags)
    ]
    places = {
        (p.sweep.run.github_run_id, p.deployment.label, p.concurrency) for p in flagged
    }
    assert (33100000001, "TP4", 8) in places
    assert (33300000002, "TP4 mtp", 16) in places
    assert not Point.objects.filter(is_out=True).exists()


def _history(key: str) -> list[Sweep]:
    placed = Sweep.objects.filter(config_key__key=key, segment__isnull=False)
    return list(placed.select_related("run", "previous__run").order_by("official_at"))


def test_each_of_two_keys_has_one_swap_and_no_other_key_has_any(
    all_runs: Path,
) -> None:
    swaps = Sweep.objects.filter(is_swap=True)
    found = {(s.config_key.key, s.run.github_run_id) for s in swaps}
    assert found == {(golden.SGLANG, 33598359757), (golden.MTP, 33598359757)}
    for swap in swaps:
        (broke,) = swap.breaks
        assert broke == {"kind": "checkpoint", "from": golden.OLD, "to": golden.NEW}
        assert swap.previous is not None
        assert swap.previous.run.github_run_id == 33300000002
    assert not Sweep.objects.filter(is_swap=False).exclude(breaks=[]).exists()


@pytest.mark.parametrize("key", [golden.SGLANG, golden.MTP])
def test_segments_and_markers_of_the_swapped_keys(all_runs: Path, key: str) -> None:
    history = _history(key)
    assert [(s.run.github_run_id, s.segment) for s in history] == [
        (33100000001, 1),
        (33300000002, 1),
        (33598359757, 2),
        (33500000006, 2),
        (33600000007, 2),
    ]
    _, bump, swap, again, recovery = history
    (image,) = bump.markers
    assert (image["kind"], image["from"][-8:], image["to"][-8:]) == (
        *("image", "20260730", "20260829"),
    )
    (grid,) = swap.markers
    assert (grid["kind"], grid["added"]) == ("grid", [])
    assert {label.split()[0] for label, _ in grid["dropped"]} == {"TP4"}
    assert sum(len(places) for _, places in grid["dropped"]) == 3
    assert again.markers == recovery.markers == []


def test_runs_that_are_not_official_have_no_place_in_a_history(all_runs: Path) -> None:
    for run_id in (33484262630, 33588417338, 31560100623):
        sweeps = Sweep.objects.filter(run__github_run_id=run_id)
        assert sweeps.exists()
        assert not sweeps.exclude(segment=None, previous=None).exists()


def test_excluding_the_swap_and_undoing_it_restores_every_place(all_runs: Path) -> None:
    before = golden.state()
    run = Run.objects.get(github_run_id=33598359757)
    correction = correct(
        target=Target(action="exclude", run=run), author="kim", reason="wrong weights"
    )
    derive_run(run)
    swaps = Sweep.objects.filter(is_swap=True)
    assert {s.run.github_run_id for s in swaps} == {33500000006}
    undo(correction=correction, author="kim", reason="they were right")
    derive_run(run)
    assert golden.state() == before


def test_ingesting_twice_changes_no_row(all_runs: Path) -> None:
    before, stamps = golden.state(), golden.stamps()
    for run_id in golden.RUN_IDS:
        report = golden.ingest(all_runs, run_id)
        assert report.tally.is_unchanged, (run_id, report.tally.by_table)
    assert golden.state() == before
    assert golden.stamps() == stamps


def test_replay_from_stored_records_changes_no_row(all_runs: Path) -> None:
    before, stamps = golden.state(), golden.stamps()
    for run in Run.objects.select_related("repository"):
        replay_run(run)
    assert golden.state() == before
    assert golden.stamps() == stamps


@pytest.mark.parametrize("seed", range(3))
def test_order_of_arrival_does_not_matter(all_runs: Path, seed: int) -> None:
    expected = golden.state()
    _forget_everything()
    order = [0, *golden.RUN_IDS]  # 0 stands for the master configs
    random.Random(seed).shuffle(order)
    for run_id in order:
        if run_id:
            golden.ingest(all_runs, run_id)
        else:
            golden.import_masters(all_runs)
    assert golden.state() == expected, order


def _forget_everything() -> None:
    names = [m._meta.db_table for m in apps.get_app_config("dashboard").get_models()]
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"TRUNCATE {', '.join(names)} CASCADE")
