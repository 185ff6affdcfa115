"""Rows and job plans to config keys, step by step."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboard.vocabulary.deployments import Deployment
from ingest.config_keys import (
    RowMapper,
    Snapshot,
    expand_master,
    expand_wildcards,
    job_identity,
    map_row,
    unmapped_key,
)
from ingest.jobs import parse_job_name, planned_points
from ingest.rows import Identity

TP2 = Deployment(False, False, 2, 1, 1, 1, 1, False)  # noqa: FBT003
MTP = TP2._replace(spec_method="mtp")

ROW = Identity(
    model="qwen3.5",
    model_prefix="qwen3.5",
    precision="fp4",
    hardware="mi355x",
    hardware_label="mi355x",
    framework="sglang",
    scenario="8k/1k",
    isl=8192,
    osl=1024,
    deployment=TP2,
    concurrency=64,
    image="example/server:v1",
    checkpoint="acme/Qwen-FP4",
)

PLAIN = "qwen3.5-fp4-mi355x-sglang"
HEAD = {
    "image": "example/server:v1",
    "model": "acme/Qwen-FP4",
    "model-prefix": "qwen3.5",
    "runner": "mi355x",
    "precision": "fp4",
    "framework": "sglang",
}
Space = Sequence[dict[str, Any]]
FIXED: Space = [{"tp": 2, "conc-list": [4, 64]}]
ROLES: dict[str, Any] = {
    "prefill": {"num-worker": 1, "tp": 4},
    "decode": {"num-worker": 1, "tp": 8},
    "conc-list": [64],
}


def config(space: Space = FIXED, **changes: object) -> object:
    """Make a fixed-length master entry; changes go to its head."""
    head = HEAD | {name.replace("_", "-"): value for name, value in changes.items()}
    group = {"isl": 8192, "osl": 1024, "search-space": space}
    return head | {"scenarios": {"fixed-seq-len": [group]}}


def agentic(space: Space, **changes: object) -> object:
    head = HEAD | {name.replace("_", "-"): value for name, value in changes.items()}
    group = {"dram-utilization": 0.5, "search-space": space}
    return head | {"scenarios": {"agentic-coding": [group]}}


def snapshot(**configs: object) -> Snapshot:
    """Make a snapshot; a keyword names a key with ``_`` for ``-`` and ``0`` for it."""
    named = {name.replace("_", "-"): value for name, value in configs.items()}
    hosts = {"mi355x": {"available-cpu-dram-mib": 1_000_000, "gpus-per-node": 8}}
    runners = json.dumps({"hardware": hosts})
    expansion = expand_master(json.dumps(named), runners)
    assert expansion.defects == []
    return Snapshot(expansion.entries)


def test_one_key_alike_is_found_by_attributes() -> None:
    matrix = snapshot(first=config(), other=config(framework="vllm"))
    found = map_row(ROW, matrix)
    assert (found.config_key, found.method) == ("first", "attributes")
    assert found.candidates == ("first",)
    assert found.entry is not None
    assert found.entry.concurrencies == (64,)
    assert found.flags == ()


@pytest.mark.parametrize(
    "change",
    [
        {"model": "dsr1", "model_prefix": "dsr1"},
        {"precision": "fp8"},
        {"hardware": "mi325x"},
        {"framework": "vllm"},
        {"scenario": "1k/1k"},
        {"scenario": "agentic-traces"},
        {"deployment": MTP},
        {"deployment": Deployment(multinode=True, disagg=False)},
    ],
)
def test_a_row_of_another_stack_is_not_mapped(change: dict[str, Any]) -> None:
    found = map_row(replace(ROW, **change), snapshot(first=config()))
    assert found.method == "unmapped"
    assert found.entry is None
    assert found.config_key.startswith("unmapped-")


def test_the_name_of_a_key_proves_nothing() -> None:
    mixed = [*FIXED, {"tp": 2, "spec-decoding": "mtp", "conc-list": [64]}]
    matrix = snapshot(foo=config(mixed), foo_mtp=config(framework="vllm"))
    assert map_row(replace(ROW, deployment=MTP), matrix).config_key == "foo"


def test_b200_and_gb200_are_never_confused() -> None:
    matrix = snapshot(
        b=config(runner="b200-dgxc"), gb=config(runner="gb200"), h=config(runner="h200")
    )
    for gpu, key in (("b200", "b"), ("gb200", "gb"), ("h200", "h")):
        row = replace(ROW, hardware=gpu, hardware_label=gpu)
        assert map_row(row, matrix).candidates == (key,)
    assert map_row(replace(ROW, hardware="b300"), matrix).method == "unmapped"


def test_frameworks_are_compared_as_written_and_then_by_alias() -> None:
    space = [ROLES]
    disagg = {"multinode": True, "disagg": True}
    matrix = snapshot(
        raw=config(space, framework="sglang-disagg", **disagg),
        alias=config(space, framework="mori-sglang", **disagg),
        trt=config(framework="trt"),
    )
    row = replace(
        ROW,
        framework="mori-sglang",
        deployment=Deployment(multinode=True, disagg=True),
    )
    assert map_row(row, matrix).candidates == ("alias",)
    assert map_row(replace(ROW, framework="trtllm"), matrix).candidates == ("trt",)


def test_unknown_fields_filter_nothing() -> None:
    matrix = snapshot(first=config())
    unknown = replace(
        ROW,
        model="",
        model_prefix="",
        hardware_label="",
        scenario="unknown",
        isl=None,
        osl=None,
        image="",
        checkpoint=None,
    )
    assert map_row(unknown, matrix).candidates == ("first",)
    assert map_row(replace(unknown, scenario=""), matrix).candidates == ("first",)


def test_an_unknown_field_leaves_the_others_to_be_compared() -> None:
    matrix = snapshot(
        first=config(),
        model=config(model="dsr1", model_prefix="dsr1"),
        spec=config([{"tp": 2, "spec-decoding": "mtp", "conc-list": [64]}]),
    )
    unknown = replace(ROW, precision="", checkpoint=None)
    assert map_row(unknown, matrix).candidates == ("first",)


def test_disaggregation_counts_only_where_the_row_tells() -> None:
    matrix = snapshot(
        agg=config([ROLES | {"decode": {"num-worker": 0, "tp": 4}}], multinode=True),
        disagg=config([ROLES], multinode=True, disagg=True),
    )
    row = replace(ROW, deployment=Deployment(multinode=True, disagg=False))
    assert map_row(row, matrix).candidates == ("agg",)
    unknown = replace(row, disagg_known=False)
    assert map_row(unknown, matrix).candidates == ("agg", "disagg")


@pytest.mark.parametrize(
    ("first", "second", "change"),
    [
        ({"runner": "cluster:mi355x-amds"}, {}, {"hardware_label": "MI355X"}),
        ({"image": "other/server:v1"}, {}, {}),
        ({"image": "a#b/server:v1"}, {}, {"image": "example#server:v1"}),
        ({"space": [{"tp": 4, "conc-list": [64]}]}, {}, {}),
        ({"space": [{"tp": 2, "pp": 2, "conc-list": [64]}]}, {}, {}),
        ({}, {"router": {"name": "r", "version": "1"}}, {"router": "r"}),
        ({}, {"kv_p2p_transfer": "nixl"}, {"kv_p2p_transfer": "nixl"}),
        ({"space": [{"tp": 2, "conc-list": [32]}]}, {}, {}),
        ({"model": "acme/Qwen-FP4-V2"}, {}, {}),
    ],
)
def test_each_filter_narrows(
    first: dict[str, Any], second: dict[str, Any], change: dict[str, Any]
) -> None:
    matrix = snapshot(first=config(**first), second=config(**second))
    found = map_row(replace(ROW, **change), matrix)
    assert (found.candidates, found.method) == (("second",), "attributes")


def test_offloading_narrows_where_the_row_tells_it() -> None:
    dram = {
        "tp": 2,
        "kv-offloading": "dram",
        "kv-offload-backend": {"name": "hicache"},
        "conc-list": [64],
    }
    mooncake = dram | {"kv-offload-backend": {"name": "mooncake"}}
    matrix = snapshot(
        dram=agentic([dram]),
        mooncake=agentic([mooncake]),
        none=agentic([{"tp": 2, "conc-list": [64]}]),
    )
    row = replace(ROW, scenario="agentic-traces", isl=None, osl=None)
    offloading = TP2._replace(kv_offloading="dram", kv_offload_backend="hicache")
    assert map_row(row, matrix).candidates == ("none",)
    assert map_row(replace(row, deployment=offloading), matrix).candidates == ("dram",)
    evaluation = replace(row, image="")
    assert len(map_row(evaluation, matrix).candidates) == 3
    planned = replace(row, image="", checkpoint=None)
    assert map_row(planned, matrix).candidates == ("none",)


def test_a_filter_that_leaves_nothing_is_skipped() -> None:
    matrix = snapshot(first=config())
    tp4 = TP2._replace(tp=4)
    row = replace(
        ROW, image="new/server:v2", checkpoint="acme/V2", deployment=tp4, concurrency=7
    )
    assert map_row(row, matrix).candidates == ("first",)


def test_sizes_that_a_row_may_lack_do_not_hide_those_it_has() -> None:
    matrix = snapshot(
        first=config([{"tp": 4, "conc-list": [64]}]),
        second=config([{"tp": 2, "pp": 2, "conc-list": [64]}]),
    )
    assert map_row(ROW, matrix).candidates == ("second",)


def test_identical_recipes_stay_ambiguous_with_and_without_fingerprint() -> None:
    matrix = snapshot(
        zeta=config([{"tp": 2, "conc-list": [4, 64]}]),
        alpha=config([{"tp": 2, "conc-list": [64, 128]}]),
    )
    for row in (ROW, replace(ROW, fingerprint=matrix.entries[0].fingerprint)):
        found = map_row(row, matrix)
        assert found.method == "ambiguous"
        assert found.candidates == ("alpha", "zeta")
        assert found.config_key == "alpha"
        named = map_row(row, matrix, ["zeta"])
        assert named.config_key == "zeta"
        assert named.candidates == ("zeta",)
        assert len(map_row(replace(row, concurrency=4), matrix).candidates) == 1


def test_a_fingerprint_or_its_first_digits_decide_alone() -> None:
    matrix = snapshot(first=config(), second=config(image="other/server:v1"))
    (whole,) = {e.fingerprint for e in matrix.of_key("second")}
    for digits in (whole, whole[:16], whole.upper()):
        found = map_row(replace(ROW, fingerprint=digits), matrix)
        assert (found.config_key, found.method) == ("second", "fingerprint")
    unknown = map_row(replace(ROW, fingerprint="0" * 64), matrix)
    assert (unknown.config_key, unknown.method) == ("first", "attributes")
    assert matrix.with_fingerprint(whole[:15]) == []


def test_a_fingerprint_beats_the_changelog_and_says_so() -> None:
    matrix = snapshot(first=config(), second=config(image="other/server:v1"))
    row = replace(ROW, fingerprint=matrix.of_key("second")[0].fingerprint)
    found = map_row(row, matrix, ["first"])
    assert (found.config_key, found.flags) == ("second", ("outside_changelog",))


def test_the_changelog_chooses_among_keys_that_are_alike() -> None:
    matrix = snapshot(first=config(), second=config(image="other/server:v1"))
    found = map_row(ROW, matrix, ["second"])
    assert (found.config_key, found.method, found.flags) == ("second", "attributes", ())
    both = map_row(replace(ROW, image=""), matrix, ["second", "first"])
    assert (both.method, both.candidates) == ("ambiguous", ("first", "second"))


def test_a_row_that_the_changelog_does_not_name_is_mapped_and_flagged() -> None:
    matrix = snapshot(first=config(), other=config(framework="vllm"))
    found = map_row(ROW, matrix, ["other"])
    assert (found.config_key, found.flags) == ("first", ("outside_changelog",))
    assert map_row(ROW, matrix, []).flags == ()


def test_a_named_key_that_the_snapshot_lacks_takes_what_fits_no_named_key() -> None:
    matrix = snapshot(first=config(), other=config(framework="vllm"))
    found = map_row(ROW, matrix, ["other", "brand-new"])
    assert (found.config_key, found.method) == ("brand-new", "changelog")
    assert (found.flags, found.entry) == (("not_in_snapshot",), None)
    two = map_row(ROW, matrix, ["new-one", "new-two"])
    assert (two.config_key, two.flags) == ("first", ("outside_changelog",))


@pytest.mark.parametrize("matrix", [None, Snapshot(())])
def test_without_a_snapshot_only_a_changelog_of_one_key_maps(
    matrix: Snapshot | None,
) -> None:
    found = map_row(ROW, matrix, [PLAIN])
    assert (found.config_key, found.method) == (PLAIN, "changelog")
    assert (found.candidates, found.flags) == ((PLAIN,), ())
    for named in (None, [], [PLAIN, f"{PLAIN}-mtp"], ["qwen3.5*"]):
        assert map_row(ROW, matrix, named).method == "unmapped"


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({}, "unmapped-qwen3.5-fp4-mi355x-sglang-8k1k"),
        ({"deployment": MTP}, "unmapped-qwen3.5-fp4-mi355x-sglang-8k1k-mtp"),
        (
            {"scenario": "agentic-traces"},
            "unmapped-qwen3.5-fp4-mi355x-sglang-agentic",
        ),
        (
            {"deployment": Deployment(multinode=True, disagg=True)},
            "unmapped-qwen3.5-fp4-mi355x-sglang-multinode-disagg-8k1k",
        ),
        (
            {"model": "", "model_prefix": "", "hardware": ""},
            "unmapped-unknown-fp4-unknown-sglang-8k1k",
        ),
    ],
)
def test_a_synthetic_key_is_made_of_what_the_row_says(
    change: dict[str, Any], key: str
) -> None:
    assert unmapped_key(replace(ROW, **change)) == key


def test_a_synthetic_key_is_url_safe_and_keeps_rows_apart() -> None:
    odd = ["a/b", "a_b", "a b", "\u212b", "x" * 5_000, "x" * 5_001, "\ud800", "../.."]
    keys = [unmapped_key(replace(ROW, framework=name)) for name in odd]
    assert len(set(keys)) == len(odd)
    assert all(re.fullmatch(r"[a-z0-9.-]{1,100}", key) for key in keys)
    assert keys == [unmapped_key(replace(ROW, framework=name)) for name in odd]


def test_what_is_remembered_does_not_leak_between_changelogs_or_rows() -> None:
    matrix = snapshot(first=config(), second=config(image="other/server:v1"))
    all_keys, named = RowMapper(matrix), RowMapper(matrix, ["second"])
    for _ in range(2):
        assert all_keys.map(ROW).config_key == "first"
        assert named.map(ROW).config_key == "second"
        entry = all_keys.map(replace(ROW, concurrency=4)).entry
        assert entry is not None
        assert entry.concurrencies == (4,)


POINTS_PER_KEY = {
    "31560100623": {"qwen3.5-fp4-mi355x-sglang-agentic-mtp": 41},
    "31900000004": {"qwen3.5-fp4-mi355x-sglang-agentic-mtp": 16},
    "33100000001": {
        "qwen3.5-fp4-mi355x-sglang": 10,
        "qwen3.5-fp4-mi355x-sglang-mtp": 9,
        "qwen3.5-fp4-mi355x-atom": 10,
    },
    "33300000002": {
        "qwen3.5-fp4-mi355x-sglang": 10,
        "qwen3.5-fp4-mi355x-sglang-mtp": 9,
    },
    "33400000005": {
        "qwen3.5-fp8-gb200-dynamo-sglang": 8,
        "dsv4-fp4-b200-dynamo-sglang-mtp": 8,
        "dsr1-fp4-gb200-dynamo-trt": 17,
    },
    "33484262630": {
        "qwen3.5-fp4-mi355x-sglang": 10,
        "qwen3.5-fp4-mi355x-sglang-mtp": 9,
    },
    "33598359757": {
        "qwen3.5-fp4-mi355x-sglang": 7,
        "qwen3.5-fp4-mi355x-sglang-mtp": 6,
    },
}


@pytest.fixture(scope="session")
def recorded(shared_data: Path) -> Snapshot:
    configs = shared_data / "configs"
    runners = (configs / "runners.yaml").read_text()
    masters = [(configs / f"{v}-master.yaml").read_text() for v in ("amd", "nvidia")]
    return Snapshot(
        entry for text in masters for entry in expand_master(text, runners).entries
    )


def _named_keys(run: Path, matrix: Snapshot) -> list[str]:
    metadata = next(run.glob("artifacts/*changelog-metadata/*.json"))
    entries = json.loads(metadata.read_text())["entries"]
    patterns = [pattern for entry in entries for pattern in entry["config-keys"]]
    named, unknown = expand_wildcards(patterns, matrix.keys)
    assert unknown == []
    return named


@pytest.mark.parametrize(("run", "expected"), POINTS_PER_KEY.items())
@pytest.mark.parametrize("helped", [True, False])
def test_planned_points_of_recorded_runs_belong_to_their_keys(
    shared_data: Path,
    recorded: Snapshot,
    run: str,
    expected: dict[str, int],
    *,
    helped: bool,
) -> None:
    folder = shared_data / "runs" / run
    named = _named_keys(folder, recorded) if helped else None
    names = [job["name"] for job in json.loads((folder / "jobs.json").read_text())]
    plans = [plan for name in names if (plan := parse_job_name(name)) is not None]
    found = [
        map_row(job_identity(plan, concurrency), recorded, named)
        for plan, concurrency in planned_points(plans)
    ]
    assert Counter(mapping.config_key for mapping in found) == expected
    assert {mapping.method for mapping in found} == {"attributes"}


def test_recorded_plans_map_uniquely(recorded: Snapshot) -> None:
    unique = Counter[bool]()
    total = 0
    for entry in recorded.entries:
        for concurrency in entry.concurrencies:
            row = replace(
                ROW,
                model=entry.model,
                model_prefix=entry.model_prefix,
                precision=entry.precision,
                hardware=entry.hardware,
                hardware_label=entry.hardware_label,
                framework=entry.framework,
                scenario=entry.scenario,
                deployment=entry.deployment,
                concurrency=concurrency,
                image=entry.image,
                checkpoint=entry.checkpoint,
                router=entry.router,
                kv_p2p_transfer=entry.kv_p2p_transfer,
            )
            total += 1
            for fingerprint in ("", entry.fingerprint):
                mapping = map_row(replace(row, fingerprint=fingerprint), recorded)
                assert entry.config_key in mapping.candidates
                unique[bool(fingerprint)] += len(mapping.candidates) == 1
    assert unique[True] >= 0.995 * total
    assert unique[False] >= 0.95 * total
