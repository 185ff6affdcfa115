"""Whose definition a config key carries, and what staff edits change."""

from datetime import timedelta

import pytest

from dashboard.ingest_requests import (
    request_checkpoint_replay,
    request_repository_derivation,
)
from dashboard.models import (
    Checkpoint,
    CheckpointAlias,
    ConfigDefinition,
    ConfigKey,
    Generation,
    Repository,
)
from dashboard.vocabulary.checkpoints import kind_of_change
from ingest import tasks
from ingest.pipeline import (
    derive_repository,
    import_config_files,
    replay_checkpoint,
    replay_run,
)
from tests import factories
from tests.pipeline.bundles import (
    KEY,
    MODEL,
    REPOSITORY,
    STARTED,
    iso,
    master,
    results,
    row,
    run_object,
)
from tests.pipeline.conftest import Desk, the_run, the_sweep

OFFICIAL = master(image="img/official:1")


def import_at(day: int, text: str, repository: str = REPOSITORY) -> None:
    import_config_files(
        {"amd-master.yaml": text},
        repository=repository,
        sha=f"{day + 100:040x}",
        at=STARTED + timedelta(days=day),
    )


def image_of(key: str = KEY) -> str:
    definition = ConfigKey.objects.get(key=key).definition
    assert definition is not None
    return definition.image


def by_run(desk: Desk, run_id: int, day: int, text: str, **changes: object) -> None:
    at = iso(STARTED + timedelta(days=day))
    run = run_object(
        run_id,
        created_at=at,
        run_started_at=at,
        head_sha=f"{run_id:040x}",
        **changes,
    )
    desk.ingest(run, results(row()), configs={"amd-master.yaml": text})


@pytest.mark.parametrize("comes_first", [True, False])
def test_a_pull_request_redefines_a_key_for_nobody(
    desk: Desk, *, comes_first: bool
) -> None:
    theirs = master(image="img/theirs:1", runner="mi300x-amds")
    if not comes_first:
        import_at(0, OFFICIAL)
    by_run(desk, 90005, 5, theirs, event="pull_request", head_branch="topic")
    if comes_first:
        assert image_of() == "img/theirs:1"
        import_at(0, OFFICIAL)
    assert image_of() == "img/official:1"
    assert ConfigKey.objects.get(key=KEY).hardware == "mi355x"
    assert ConfigDefinition.objects.filter(config_key__key=KEY).count() == 2


def test_a_fork_redefines_a_key_for_nobody(desk: Desk) -> None:
    import_at(0, OFFICIAL)
    import_at(9, master(image="img/fork:1"), "fork/x")
    assert image_of() == "img/official:1"
    import_at(3, master(image="img/official:2"))
    assert image_of() == "img/official:2"


def test_a_run_of_the_default_branch_redefines_its_keys(desk: Desk) -> None:
    import_at(0, OFFICIAL)
    by_run(desk, 90005, 5, master(image="img/merged:1"))
    assert image_of() == "img/merged:1"


def test_a_repository_that_becomes_official_is_judged_anew(desk: Desk) -> None:
    import_at(9, master(image="img/fork:1"), "fork/x")
    import_at(0, OFFICIAL)
    desk.ingest(run_object(repository={"full_name": "fork/x"}), results(row()))
    repository = Repository.objects.get(full_name="fork/x")
    assert the_run().publication == "unofficial"
    for is_official, expected in (
        (True, ("official", "current", "img/fork:1")),
        (False, ("unofficial", None, "img/official:1")),
    ):
        repository.is_official = is_official
        repository.save()
        before = Generation.objects.get().number
        derive_repository(repository)
        found = (the_run().publication, the_sweep().state, image_of())
        assert found == expected
        assert Generation.objects.get().number > before


def test_the_tasks_behind_staff_edits_end_their_requests(desk: Desk) -> None:
    import_at(0, OFFICIAL)
    desk.ingest(None, results(row()))
    repository = Repository.objects.get()
    repository.default_branch = "trunk"
    repository.save()
    checkpoint = Checkpoint.objects.get()
    asked = [
        request_repository_derivation(repository=repository, requested_by="staff"),
        request_checkpoint_replay(checkpoint=checkpoint, requested_by="staff"),
    ]
    tasks.derive_repository.apply((repository.full_name, asked[0].pk))
    tasks.replay_checkpoint.apply((checkpoint.name, asked[1].pk))
    assert the_run().publication == "unofficial"
    for request in asked:
        request.refresh_from_db()
        assert (request.state, request.error) == ("done", "")


def test_forks_leave_the_files_of_what_is_official_no_more(desk: Desk) -> None:
    import_at(0, OFFICIAL)
    desk.ingest(run_object(repository={"full_name": "fork/x"}), results(row()))
    assert the_sweep().config_key.key == KEY
    repository = Repository.objects.get(full_name=REPOSITORY)
    repository.is_official = False
    repository.save()
    derive_repository(repository)
    assert the_run().snapshot == {}
    assert the_sweep().config_key.is_synthetic


def test_a_spelling_of_a_checkpoint_is_merged_and_parted(desk: Desk) -> None:
    import_at(0, OFFICIAL)
    desk.ingest(None, results(row()))
    assert str(the_sweep().checkpoint) == MODEL
    merged = Checkpoint.objects.create(name="org-a/Model-renamed")
    spelling = factories.CheckpointAliasFactory(
        spelling=MODEL.upper(), checkpoint=merged
    )
    replay_checkpoint(merged)
    definition = ConfigDefinition.objects.get()
    assert the_sweep().checkpoint == definition.checkpoint == merged
    spelling.delete()
    replay_checkpoint(merged)
    definition.refresh_from_db()
    assert str(the_sweep().checkpoint) == str(definition.checkpoint) == MODEL


def test_a_built_in_spelling_is_published_weights_until_staff_say_otherwise(
    desk: Desk,
) -> None:
    import_at(0, master(model="DeepSeek-R1-FP4"))
    desk.ingest(None, results(row(model="deepseek-r1-fp4")))
    known = Checkpoint.objects.get()
    assert str(known) == "nvidia/DeepSeek-R1-0528-NVFP4-v2"
    assert the_sweep().checkpoint == ConfigDefinition.objects.get().checkpoint == known
    parted = Checkpoint.objects.create(name="org-a/Other")
    spelling = factories.CheckpointAliasFactory(
        spelling="deepseek-r1-fp4", checkpoint=parted
    )
    replay_checkpoint(parted)
    assert the_sweep().checkpoint == ConfigDefinition.objects.get().checkpoint == parted
    spelling.delete()
    replay_checkpoint(parted)
    assert the_sweep().checkpoint == ConfigDefinition.objects.get().checkpoint == known


@pytest.mark.parametrize(
    ("day", "served"),
    [
        (0, "/mnt/models/Model-397B-FP4-copy"),
        (1, "/mnt/models/Model-397B-FP4-copy"),
        (0, "served"),
        (1, "served"),
        (0, MODEL.upper()),
        (1, MODEL.upper()),
    ],
)
def test_paths_served_names_and_letter_case_are_the_weights_of_the_config(
    desk: Desk, day: int, served: str
) -> None:
    import_at(0, OFFICIAL)
    desk.ingest(None, results(row()))
    at = iso(STARTED + timedelta(days=day))
    # The config at the run's own commit, or one of the day before.
    other = run_object(
        90002, created_at=at, run_started_at=at, head_sha=f"{100 + day * 50:040x}"
    )
    desk.ingest(other, results(row(model=served)))
    assert the_run(90002).snapshot["amd-master.yaml"][0] == (
        "before" if day else "exact"
    )
    assert the_sweep(90002).checkpoint == the_sweep().checkpoint
    assert Checkpoint.objects.count() == 1


def test_other_letter_case_without_any_config_is_one_checkpoint(desk: Desk) -> None:
    desk.ingest(None, results(row()))
    desk.ingest(run_object(90002), results(row(model=MODEL.lower())))
    assert the_sweep(90002).checkpoint == the_sweep().checkpoint
    assert Checkpoint.objects.get().name == MODEL


def test_what_staff_say_of_spellings_is_there_for_comparisons(db: None) -> None:
    alias = factories.CheckpointAliasFactory(spelling="/Mnt/Model")
    names = CheckpointAlias.objects.names()
    assert names == {"/mnt/model": alias.checkpoint.name}
    assert kind_of_change("/mnt/MODEL", alias.checkpoint.name, names) == "spelling"


def test_a_replay_that_changes_only_a_state_begins_a_generation(desk: Desk) -> None:
    desk.ingest(None, results(row()))
    replay_run(the_run())
    unchanged = Generation.objects.get().number
    replay_run(the_run())
    assert Generation.objects.get().number == unchanged
    the_run().sweeps.update(state="former")
    report = replay_run(the_run())
    assert report.tally.is_unchanged
    assert the_sweep().state == "current"
    assert Generation.objects.get().number > unchanged
