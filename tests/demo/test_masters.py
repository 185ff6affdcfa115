from typing import Any

from demo.masters import first_masters
from ingest.config_keys import MatrixEntry, expand_master, expand_wildcards
from tests.demo.reading import DemoRun

Runs = dict[str, DemoRun]


def _entries(run: DemoRun) -> list[MatrixEntry]:
    runners = run.texts["runners.yaml"]
    found = []
    for name in ("amd-master.yaml", "nvidia-master.yaml"):
        expansion = expand_master(run.texts[name], runners)
        assert expansion.defects == []
        found += expansion.entries
    return found


def _entry_of(row: dict[str, Any], entries: list[MatrixEntry]) -> MatrixEntry:
    (found,) = [
        entry
        for entry in entries
        if entry.fingerprint == row["recipe_fingerprint"]
        and row["conc"] in entry.concurrencies
    ]
    return found


def test_every_sweep_row_is_in_the_matrix_of_its_commit(runs: Runs) -> None:
    for run in runs.values():
        if run.run["event"] == "workflow_dispatch":
            continue
        entries = _entries(run)
        keys = list(dict.fromkeys(entry.config_key for entry in entries))
        named = [key for item in run.entries for key in item["config-keys"]]
        expanded, unknown = expand_wildcards(named, keys)
        assert unknown == []
        for row in run.rows:
            entry = _entry_of(row, entries)
            assert entry.config_key in expanded
            assert entry.entry["image"] == row["image"]
            assert entry.entry["runner"] == row["hw"]


def test_rows_carry_the_topology_of_their_entry(runs: Runs) -> None:
    for run in runs.values():
        if run.run["event"] == "workflow_dispatch":
            continue
        entries = _entries(run)
        for row in run.rows:
            deployment = _entry_of(row, entries).deployment
            assert deployment.multinode == row["is_multinode"]
            assert deployment.spec_method == row["spec_decoding"]
            assert deployment.disagg == row["disagg"]
            if not row["is_multinode"]:
                assert (deployment.tp, deployment.ep) == (row["tp"], row["ep"])
                assert deployment.dp_attention == (row["dp_attention"] == "true")
                continue
            assert deployment.prefill_tp == row["prefill_tp"]
            assert deployment.prefill_workers == row["prefill_num_workers"]
            assert deployment.decode_workers == row["decode_num_workers"]


def test_a_full_sweep_measures_all_of_its_keys(runs: Runs) -> None:
    run = runs["dsr1-baseline"]
    keys = set(run.entries[0]["config-keys"])
    planned = [entry for entry in _entries(run) if entry.config_key in keys]
    assert len(run.rows) == sum(len(entry.concurrencies) for entry in planned)


def test_masters_have_enough_keys_and_scenarios() -> None:
    recipes = first_masters().recipes(["*"])
    assert len({recipe.key for recipe in recipes}) == 16
    assert len({recipe.framework for recipe in recipes}) >= 5
    assert {recipe.lengths for recipe in recipes} == {
        None,
        (1024, 1024),
        (8192, 1024),
    }
    assert all(
        recipe.label.startswith("cluster:")
        for recipe in recipes
        if recipe.lengths is None
    )


def test_one_row_claims_a_path_where_the_master_names_a_checkpoint(runs: Runs) -> None:
    claimed = {row["model"] for row in runs["gb200-baseline"].rows}
    assert all(model.startswith("/") for model in claimed)
    (checkpoint,) = {
        entry.checkpoint
        for entry in _entries(runs["gb200-baseline"])
        if entry.config_key == "dsr1-fp4-gb200-dynamo-trt"
    }
    assert checkpoint == "northwind/DeepSeek-R1-0528-FP4"
