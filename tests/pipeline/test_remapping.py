"""Runs that a config file maps again: which ones, and what goes wrong with one."""

import json
import random
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.models import ConfigRecipe, ConfigSnapshot, RawRecord, Run
from ingest.choices import choose, forget_unapplied, stale_runs
from ingest.claims import claimed
from ingest.definitions import Commit
from ingest.pipeline import Remapped, import_config_files, remap_stale_runs, replay_run
from ingest.snapshots import import_configs
from tests.pipeline.bundles import (
    KEY,
    REPOSITORY,
    SHA,
    STARTED,
    busy_row,
    changelog,
    iso,
    master,
    results,
    row,
    run_object,
)
from tests.pipeline.conftest import Desk, the_run, the_sweep

MASTER, RUNNERS = "amd-master.yaml", "runners.yaml"


def days(number: float) -> datetime:
    return STARTED + timedelta(days=number)


def import_at(day: float, text: str, name: str = MASTER, sha: str = "") -> None:
    sha = sha or f"{int(day * 10) + 1000:040x}"
    import_config_files({name: text}, repository=REPOSITORY, sha=sha, at=days(day))


def take(desk: Desk, run_id: int, day: float, *rows: Any, **parts: Any) -> Run:
    at = iso(days(day))
    facts = {"created_at": at, "run_started_at": at, "head_sha": f"{run_id:040x}"}
    desk.ingest(run_object(run_id, **facts), results(*(rows or [row()])), **parts)
    return the_run(run_id)


def test_a_run_that_cannot_be_mapped_again_stops_nobody(desk: Desk) -> None:
    for number in range(3):
        take(desk, 90001 + number, number)
    broken = RawRecord.objects.filter(artifact__run=the_run(90001))
    broken.update(body="{")
    at = days(-1)
    done = import_config_files(
        {MASTER: master()}, repository=REPOSITORY, sha=SHA, at=at
    )
    assert "run 90001 could not be mapped again" in done.defects[-1]
    assert the_sweep(90002).config_key.key == KEY
    assert the_sweep(90003).config_key.key == KEY
    assert the_sweep(90001).config_key.is_synthetic
    assert remap_stale_runs() == Remapped()


@pytest.mark.django_db(transaction=True)
def test_a_run_that_another_worker_holds_is_mapped_by_whoever_comes_next(
    desk: Desk,
) -> None:
    take(desk, 90001, 0)
    ConfigSnapshot.objects.update(is_applied=True)
    other = connection.copy()
    with other.cursor() as cursor:
        with claimed(REPOSITORY, 90001):
            cursor_lock = _held_locks()
        cursor.execute("SELECT pg_advisory_lock((%s::bigint << 32) | %s)", cursor_lock)
        import_at(-1, master())
        assert the_sweep().config_key.is_synthetic
        assert ConfigSnapshot.objects.filter(is_applied=False).exists()
        cursor.execute("SELECT pg_advisory_unlock_all()")
    other.close()
    assert remap_stale_runs().run_ids == [90001]
    assert the_sweep().config_key.key == KEY


def _held_locks() -> list[int]:
    """Return the two halves of the session's advisory lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT classid::bigint, objid::bigint FROM pg_locks "
            "WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        )
        return list(cursor.fetchone())


def test_replay_reads_before_it_makes_others_wait(desk: Desk) -> None:
    run = take(desk, 90001, 0)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        replay_run(run)
    texts = [query["sql"] for query in queries]
    lock = next(i for i, text in enumerate(texts) if "xact_lock" in text)
    reads = [
        i for i, text in enumerate(texts) if '"dashboard_rawrecord"."body"' in text
    ]
    assert reads
    assert max(reads) < lock


def test_a_time_that_moves_meanwhile_is_looked_at_again(desk: Desk) -> None:
    import_at(5, master())
    ConfigSnapshot.objects.update(is_applied=False)
    found = stale_runs()
    ConfigSnapshot.objects.update(at=days(4))
    forget_unapplied(found.sights)
    assert not ConfigSnapshot.objects.get().is_applied
    forget_unapplied(stale_runs().sights)
    assert ConfigSnapshot.objects.get().is_applied


def _offloading() -> str:
    """A master whose recipe depends on how much memory its runner has."""
    entry = json.loads(master())
    search = {"tp": 2, "conc-list": [4], "kv-offloading": "dram"}
    group = {"dram-utilization": 0.5, "search-space": [search]}
    entry[KEY]["scenarios"] = {"agentic-coding": [group]}
    return json.dumps(entry)


def _runners(mib: int) -> str:
    host = {"available-cpu-dram-mib": mib, "gpus-per-node": 8}
    return json.dumps({"hardware": {"mi355x-amds": host}})


def _recipes() -> list[str]:
    snapshot = ConfigSnapshot.objects.get(name=MASTER)
    found = ConfigRecipe.objects.filter(matrix_id=snapshot.matrix_id)
    return sorted(found.values_list("fingerprint", flat=True))


def test_recipes_are_those_of_the_runners_file_that_applies(desk: Desk) -> None:
    """A master's own commit comes first, then the newest by then, then any."""
    found = []
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        ConfigSnapshot.objects.all().delete()
        imports = [
            (3, _runners(3_000_000), RUNNERS, ""),
            (-1, _runners(2_000_000), RUNNERS, ""),
            (0, _offloading(), MASTER, SHA),
            (0, _runners(1_000_000), RUNNERS, SHA),
        ]
        for number in order:
            import_at(*imports[number])
        found.append(_recipes())
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 1


def test_late_runners_give_a_master_its_recipes(desk: Desk) -> None:
    import_at(0, _offloading())
    assert _recipes() == []
    import_at(3, _runners(3_000_000), RUNNERS)
    only_later = _recipes()
    assert len(only_later) == 1
    import_at(-1, _runners(2_000_000), RUNNERS)
    assert _recipes() != only_later


def test_a_runners_file_that_cannot_be_read_spoils_no_master(desk: Desk) -> None:
    done = import_config_files(
        {RUNNERS: "[1", MASTER: master()}, repository=REPOSITORY, sha=SHA, at=days(0)
    )
    assert done.files == 1
    assert done.defects[0].startswith("runners.yaml: not YAML")


def test_recipes_of_refused_rows_make_no_run_stale_for_ever(desk: Desk) -> None:
    import_at(-1, master())
    recipe = ConfigRecipe.objects.get().fingerprint
    run = take(
        desk,
        90001,
        0,
        row(recipe_fingerprint=recipe),
        changelog=changelog(**{"evals-only": True}),
    )
    assert run.received_count == 0
    assert (run.recipes, run.snapshot[MASTER][0]) == ([recipe], "fingerprint")
    import_at(9, master("unrelated"), "nvidia-master.yaml")
    ConfigSnapshot.objects.update(is_applied=False)
    assert stale_runs().runs == []


def test_only_runs_that_a_version_can_concern_are_looked_at(desk: Desk) -> None:
    for day in (0, 10, 20):
        import_at(day, master(image=f"img/{day}"))
    recipe = _recipe_of(day=20)
    take(desk, 90001, 1)
    take(desk, 90002, 11)
    take(desk, 90003, 21)
    take(desk, 90004, 1, row(recipe_fingerprint=recipe))
    Run.objects.update(snapshot={})
    import_at(12, master(image="img/12"))
    assert not Run.objects.exclude(snapshot={}).exists()
    Run.objects.filter(github_run_id=90002).update(created_at=days(13))
    snapshot = ConfigSnapshot.objects.filter(at=days(12))
    snapshot.update(is_applied=False)
    assert [r.github_run_id for r in stale_runs().runs] == [90002]
    ConfigSnapshot.objects.filter(at=days(20)).update(is_applied=False)
    found = {r.github_run_id for r in stale_runs().runs}
    assert found == {90002, 90003, 90004}


def _recipe_of(day: int) -> str:
    snapshot = ConfigSnapshot.objects.get(at=days(day))
    return ConfigRecipe.objects.get(matrix_id=snapshot.matrix_id).fingerprint


def test_choosing_takes_as_many_queries_for_one_version_as_for_many(
    desk: Desk,
) -> None:
    import_at(-50, master())
    run = take(desk, 90001, 0, busy_row(4, recipe_fingerprint="f" * 64))
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            choose(run, run.recipes)
        counts.append(len(queries))
        for day in range(-40, 40, 5):
            import_at(day, master(image=f"img/{day}"))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("seed", range(6))
def test_no_run_that_a_version_concerns_is_left_out(desk: Desk, seed: int) -> None:
    """Of twenty runs, those that looking at every one would find are found."""
    chance = random.Random(seed)
    texts = [master(image=f"img/{number}") for number in range(4)]
    for number in range(6):
        import_at(chance.randrange(-20, 20), chance.choice(texts), sha=f"{number:040x}")
    recipes = list(ConfigRecipe.objects.values_list("fingerprint", flat=True))
    repository = ConfigSnapshot.objects.all()[0].repository
    for number in range(20):
        run = Run(
            repository=repository,
            github_run_id=91000 + number,
            sha=f"{chance.randrange(12):040x}",
            created_at=days(chance.randrange(-25, 25)),
            recipes=chance.sample(recipes, chance.randrange(min(3, len(recipes) + 1))),
        )
        run.snapshot = choose(run, run.recipes).as_json()
        run.save()
    for number in (3, 7, 8):
        at, text = days(chance.randrange(-20, 20)), chance.choice(texts)
        commit = Commit(repository, f"{number:040x}", at)
        import_configs({MASTER: text}, commit)
    wanted = [
        run.github_run_id
        for run in Run.objects.order_by("created_at", "pk")
        if choose(run, run.recipes).as_json() != run.snapshot
    ]
    assert [run.github_run_id for run in stale_runs().runs] == wanted
