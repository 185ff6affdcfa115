"""Which version of a config file applies to a run, and what a better one changes."""

from datetime import timedelta

import pytest

from dashboard.models import ConfigKey
from ingest.config_keys import expand_master
from ingest.pipeline import import_config_files
from tests.ingest import golden
from tests.pipeline.bundles import (
    KEY,
    MODEL,
    REPOSITORY,
    SHA,
    STARTED,
    changelog,
    iso,
    master,
    results,
    row,
    run_object,
)
from tests.pipeline.conftest import Desk, forget_runs, the_point, the_run, the_sweep

OTHER = "b" * 40


def import_at(days: int, sha: str, text: str, name: str = "amd-master.yaml") -> None:
    at = STARTED + timedelta(days=days)
    import_config_files({name: text}, repository=REPOSITORY, sha=sha, at=at)


def choice(name: str = "amd-master.yaml") -> tuple[str, str]:
    method, sha, *_ = the_run().snapshot[name]
    return method, sha


def fingerprint(text: str) -> str:
    return expand_master(text).entries[0].fingerprint


def test_the_files_of_the_runs_own_commit_come_first(desk: Desk) -> None:
    import_at(-1, OTHER, master(image="img/older"))
    import_at(5, SHA, master())
    desk.ingest(None, results(row()))
    assert choice() == ("exact", SHA)


def test_an_abbreviated_commit_is_the_same_commit(desk: Desk) -> None:
    import_at(5, SHA[:8], master())
    desk.ingest(None, results(row()))
    assert choice() == ("exact", SHA[:8])


@pytest.mark.parametrize("digits", [64, 16])
def test_a_version_that_holds_the_rows_recipes_comes_second(
    desk: Desk, digits: int
) -> None:
    recipe = master(image="img/sglang:9")
    import_at(-1, "c" * 40, master(image="img/sglang:8"))
    import_at(9, OTHER, recipe)
    measured = row(recipe_fingerprint=fingerprint(recipe))
    name = f"bmk_x_tp2_conc64_mi355x_01_recipe-{fingerprint(recipe)[:16]}"
    if digits == 64:
        desk.ingest(None, results(measured))
    else:
        desk.ingest(None, {name: {"agg_x.json": row()}})
    assert choice() == ("fingerprint", OTHER)
    assert the_sweep().mapping_method == "fingerprint"


def test_else_the_newest_at_or_before_the_run_and_else_the_earliest_after(
    desk: Desk,
) -> None:
    import_at(9, "d" * 40, master(image="img/4"))
    import_at(7, "c" * 40, master(image="img/3"))
    desk.ingest(None, results(row()))
    assert choice() == ("after", "c" * 40)
    import_at(-5, "e" * 40, master(image="img/1"))
    assert choice() == ("before", "e" * 40)
    import_at(0, OTHER, master(image="img/2"))
    assert choice() == ("before", OTHER)


def test_every_file_is_chosen_for_itself(desk: Desk) -> None:
    import_at(-3, OTHER, master("other-key", runner="h200"), "nvidia-master.yaml")
    import_at(1, SHA, master())
    desk.ingest(None, results(row()))
    assert choice() == ("exact", SHA)
    assert choice("nvidia-master.yaml") == ("before", OTHER)


def test_a_fork_without_files_of_its_own_takes_the_official_ones(desk: Desk) -> None:
    import_at(-1, OTHER, master())
    desk.ingest(run_object(repository={"full_name": "fork/x"}), results(row()))
    assert choice() == ("before", OTHER)


def test_files_that_come_after_their_run_map_it_again_as_if_they_had_come_before(
    desk: Desk,
) -> None:
    bundle = desk.write(None, results(row()))
    desk.take(bundle)
    synthetic = the_sweep().config_key
    assert synthetic.is_synthetic
    assert the_sweep().mapping_method == "unmapped"
    import_at(-1, OTHER, master())
    assert the_sweep().config_key.key == KEY
    assert the_sweep().mapping_method == "attributes"
    assert str(the_sweep().checkpoint) == MODEL
    assert not ConfigKey.objects.filter(is_synthetic=True).exists()
    late = golden.state()
    forget_runs()
    desk.take(bundle)
    assert golden.state() == late


def test_a_key_named_by_the_changelog_alone_is_defined_later(desk: Desk) -> None:
    desk.ingest(None, results(row()), changelog=changelog())
    assert (the_sweep().config_key.key, the_sweep().mapping_method) == (
        KEY,
        "changelog",
    )
    point, sweep = the_point(), the_sweep()
    import_at(-1, OTHER, master())
    assert the_sweep().mapping_method == "attributes"
    assert (the_point().pk, the_sweep().pk) == (point.pk, sweep.pk)
    assert the_sweep().config_key.definition is not None


def test_files_that_come_with_another_run_map_earlier_runs_again(desk: Desk) -> None:
    desk.ingest(None, results(row()))
    day2 = iso(STARTED + timedelta(days=1))
    report = desk.ingest(
        run_object(90002, head_sha=OTHER, created_at=day2, run_started_at=day2),
        results(row()),
        configs={"amd-master.yaml": master()},
    )
    assert report.remapped == [90001]
    assert choice() == ("after", OTHER)
    assert the_sweep().config_key.key == KEY


def test_importing_twice_maps_nothing_again(desk: Desk) -> None:
    import_at(-1, OTHER, master())
    desk.ingest(None, results(row()))
    state, stamps = golden.state(), golden.stamps()
    import_at(-1, OTHER, master())
    import_at(-1, OTHER.upper(), master())
    assert (golden.state(), golden.stamps()) == (state, stamps)
