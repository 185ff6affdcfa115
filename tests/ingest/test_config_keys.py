"""Master configs to matrix entries, fingerprints and wildcards."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.config_keys import (
    ConfigError,
    MatrixEntry,
    expand_master,
    expand_wildcards,
    fingerprint,
)
from ingest.config_keys.wildcards import matches

RUNNERS = """
hardware:
  cluster:h200-lab: {available-cpu-dram-mib: 1_000_000, gpus-per-node: 8}
  cluster:b200-lab: {available-cpu-dram-mib: 3_500_000, gpus-per-node: 8}
"""


def one_key(body: str, key: str = "foo-fp8-h200-sglang", **changes: str) -> str:
    """Write a master with one key; ``body`` holds its scenarios."""
    head = {
        "image": "example/server:v1",
        "model": "acme/Foo-1B-FP8",
        "model-prefix": "foo",
        "runner": "h200",
        "precision": "fp8",
        "framework": "sglang",
    } | {name.replace("_", "-"): value for name, value in changes.items()}
    lines = [f"  {name}: {value}" for name, value in head.items()]
    return "\n".join([f"{key}:", *lines, "  scenarios:", body]) + "\n"


def fixed(item: str, lengths: str = "isl: 8192, osl: 1024") -> str:
    return f"    fixed-seq-len: [{{{lengths}, search-space: [{{{item}}}]}}]"


def agentic(item: str, group: str = "dram-utilization: 0.8") -> str:
    return f"    agentic-coding: [{{{group}, search-space: [{{{item}}}]}}]"


def entries(text: str, runners: str | None = RUNNERS) -> list[MatrixEntry]:
    expansion = expand_master(text, runners)
    assert expansion.defects == []
    return expansion.entries


def test_fingerprint_of_a_known_entry() -> None:
    entry = {
        "tp": 2,
        "dcp-size": 1,
        "disagg": False,
        "dp-attn": False,
        "ep": 1,
        "framework": "sglang",
        "image": "example/server:v1",
        "isl": 8192,
        "max-model-len": 9472,
        "model": "acme/Foo-1B-FP8",
        "model-prefix": "foo",
        "osl": 1024,
        "pcp-size": 1,
        "pp": 1,
        "precision": "fp8",
        "run-eval": False,
        "runner": "h200",
        "spec-decoding": "none",
    }
    expected = "6be8985f8adfbddd428baeaa1e258e2a1b8dce9f073b03d822a05ce7674c8319"
    assert fingerprint(entry) == expected
    not_hashed = {"conc": 4, "exp-name": "foo_8k1k", "priority": 3, "queue-token": "x"}
    assert fingerprint(entry | not_hashed) == expected
    assert fingerprint(entry | {"tp": 4}) != expected
    planned = entries(one_key(fixed("tp: 2, conc-list: [4]")))
    assert [e.fingerprint for e in planned] == [expected]


def test_every_recorded_entry_is_reproduced(shared_data: Path) -> None:
    configs = shared_data / "configs"
    runners = (configs / "runners.yaml").read_text()
    made, defects = [], []
    for name in ("amd-master.yaml", "nvidia-master.yaml"):
        expansion = expand_master((configs / name).read_text(), runners)
        made += expansion.entries
        defects += expansion.defects
    lines = (configs / "matrix.jsonl").read_text().splitlines()
    recorded = [json.loads(line) for line in lines]
    assert defects == []
    assert [(e.config_key, e.fingerprint) for e in made] == [
        (r["config_key"], r["fingerprint"]) for r in recorded
    ]
    assert [e.entry for e in made] == [r["entry"] for r in recorded]
    assert len(made) == 1820
    assert sum(len(e.concurrencies) for e in made) == 2078


def test_declared_acceptance_lengths_of_recorded_masters(shared_data: Path) -> None:
    configs = shared_data / "configs"
    lengths: dict[str, set[float]] = {}
    text = (configs / "nvidia-master.yaml").read_text()
    for entry in expand_master(text, (configs / "runners.yaml").read_text()).entries:
        if entry.acceptance_length is not None:
            lengths.setdefault(entry.config_key, set()).add(entry.acceptance_length)
    assert len(lengths) == 16
    assert lengths["dsv4-fp4-b200-dynamo-vllm-mtp"] == {1.79, 2.49}
    assert lengths["qwen3.5-fp4-gb200-dynamo-sglang-agentic-mtp"] == {3.39}


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (4, 100, [4, 8, 16, 32, 64, 100]),
        (4, 64, [4, 8, 16, 32, 64]),
        (4, 4, [4]),
        (3, 4, [3, 4]),
    ],
)
def test_a_range_doubles_up_to_its_end(
    start: int, end: int, expected: list[int]
) -> None:
    text = one_key(fixed(f"tp: 2, conc-start: {start}, conc-end: {end}"))
    assert [e.concurrencies for e in entries(text)] == [(n,) for n in expected]


def test_several_nodes_put_fixed_concurrencies_into_one_entry() -> None:
    roles = "prefill: {num-worker: 1, tp: 4}, decode: {num-worker: 2, tp: 8, ep: 8}"
    text = one_key(
        fixed(f"{roles}, conc-list: [4, 8]"), multinode="true", disagg="true"
    )
    (entry,) = entries(text)
    assert entry.concurrencies == (4, 8)
    assert (entry.multinode, entry.disagg) == (True, True)
    assert entry.deployment.prefill_pp == entry.deployment.decode_dcp == 1
    assert (entry.deployment.decode_workers, entry.deployment.decode_ep) == (2, 8)
    assert entry.deployment.tp is None


def test_decode_without_workers_has_no_other_decode_field() -> None:
    roles = "prefill: {num-worker: 1, tp: 4}, decode: {num-worker: 0, tp: 4, ep: 4}"
    text = one_key(agentic(f"{roles}, conc-list: [4, 8]"), multinode="true")
    first, second = entries(text)
    assert (first.concurrencies, second.concurrencies) == ((4,), (8,))
    assert first.deployment.decode_workers == 0
    assert first.deployment.decode_tp is None
    assert first.deployment.decode_dp_attention is None


@pytest.mark.parametrize(
    ("runner", "share", "tp", "expected"),
    [
        ("cluster:h200-lab", 0.8, 8, 838),  # 1,048.576 GB x 0.8
        ("cluster:h200-lab", 0.8, 2, 209),  # a quarter of the node
        ("cluster:b200-lab", 0.5, 8, 1499),  # capped just below 3,000 GB
    ],
)
def test_memory_for_offloading_is_the_share_of_the_node(
    runner: str, share: float, tp: int, expected: int
) -> None:
    item = (
        f"tp: {tp}, kv-offloading: dram, kv-offload-backend: {{name: hicache}},"
        " conc-list: [4]"
    )
    text = one_key(agentic(item, f"dram-utilization: {share}"), runner=f'"{runner}"')
    (entry,) = entries(text)
    assert entry.entry["total-cpu-dram-gb"] == expected
    assert entry.entry["exp-name"] == f"foo_tp{tp}_conc4_kvdram-hicache"
    assert entry.deployment.kv_offload_backend == "hicache"
    assert entry.scenario == "agentic-traces"


def test_offloading_without_a_runners_file_has_no_fingerprint_and_says_so() -> None:
    item = "tp: 2, kv-offloading: dram, kv-offload-backend: {name: hicache}"
    text = one_key(agentic(f"{item}, conc-list: [4]"))
    expansion = expand_master(text)
    assert [e.fingerprint for e in expansion.entries] == [""]
    assert "no memory figure for runner h200" in expansion.defects[0]


def test_image_and_definition_as_written_and_as_compared() -> None:
    text = one_key(fixed("tp: 2, conc-list: [4]"), image="nvcr.io#acme/server:v1")
    expansion = expand_master(text)
    definition = expansion.definitions["foo-fp8-h200-sglang"]
    assert definition.image == "nvcr.io#acme/server:v1"
    assert expansion.entries[0].image == "nvcr.io/acme/server:v1"
    assert definition.scenario_kinds == ("fixed-seq-len",)
    assert json.loads(json.dumps(definition.raw)) == definition.raw


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (fixed("tp: two, conc-list: [4]"), "tp must be an integer, not 'two'"),
        (fixed("tp: 2, conc-list: []"), "conc-list must be a list"),
        (fixed("tp: 2, conc-start: 8, conc-end: 4"), "conc-end 4 is below"),
        (fixed("tp: 2, conc-start: 1"), "conc-end must be an integer, not nothing"),
        (fixed("tp: 2, conc-list: [99999999999]"), "conc-list 99999999999 is out"),
        (fixed("tp: 2, dp-attn: 1, conc-list: [4]"), "dp-attn must be true or false"),
        (fixed("tp: 2, dcp-size: 3, conc-list: [4]"), "cannot be divided"),
        (fixed("tp: 2, conc-list: [4]", "isl: 8192"), "osl must be an integer"),
        (agentic("tp: 2, kv-offloading: dram, conc-list: [4]", "x: 1"), "without a dr"),
        ("    speed-test: [1]", "unknown scenario speed-test"),
        ("    fixed-seq-len: 5", "fixed-seq-len must be a list"),
        ("    fixed-seq-len: [5]", "must be a mapping, not 5"),
        ("    []", "scenarios must be a mapping"),
    ],
)
def test_a_malformed_key_costs_only_itself(body: str, message: str) -> None:
    good = one_key(fixed("tp: 2, conc-list: [4]"), key="good-fp8-h200-sglang")
    expansion = expand_master(one_key(body) + good)
    (defect,) = expansion.defects
    assert defect.startswith("foo-fp8-h200-sglang: ")
    assert message in defect
    assert "\n" not in defect
    assert [e.config_key for e in expansion.entries] == ["good-fp8-h200-sglang"]
    assert "foo-fp8-h200-sglang" in expansion.definitions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("'*-fp8':\n  image: x\n", "a config key is made of"),
        ("'<script>': {}\n", "a config key is made of"),
        ("foo: 5\n", "the entry must be a mapping"),
        ("foo: {image: x}\n", "model must be a text, not nothing"),
    ],
)
def test_a_key_without_a_usable_definition_is_a_defect(text: str, message: str) -> None:
    expansion = expand_master(text)
    assert message in expansion.defects[0]
    assert (expansion.definitions, expansion.entries) == ({}, [])


def test_unknown_fields_and_repeated_keys_are_named_and_survive() -> None:
    text = one_key(fixed("tp: 2, conc-list: [4]"), trace_source="x")
    expansion = expand_master(text + text)
    assert len(expansion.entries) == 1
    assert "defined more than once" in expansion.defects[0]
    assert "unknown field trace-source" in expansion.defects[1]


ALIAS_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)
MERGE_BOMB = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("- a\n- b\n", "not a mapping"),
        ("just text", "not a mapping"),
        ("a: [1, 2", "not YAML"),
        ("a: !!python/object/apply:os.system [ls]", "not YAML"),
        ("a: !!timestamp 2026-99-99", "a value cannot be read"),
        (f"a: {'9' * 5000}", "a value cannot be read"),
        ("a: &a [*a]", "nested more than"),
        ("a: " + "[" * 500 + "]" * 500, "nested more than"),
        ("a: " + "[" * 100_000, "not YAML"),
        ("a: \0", "not YAML"),
        (ALIAS_BOMB, "more than 400,000 values"),
        (MERGE_BOMB, "more than 400,000 values"),
        ("a: " + "x" * 1_500_001, "more than 1,500,000 characters"),
    ],
)
def test_text_that_is_no_master_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)) as refused:
        expand_master(text)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_too_many_entries_are_refused() -> None:
    items = ", ".join(["{tp: 1, conc-start: 1, conc-end: 8388608}"] * 3000)
    body = f"    fixed-seq-len: [{{isl: 1024, osl: 1024, search-space: [{items}]}}]"
    with pytest.raises(ConfigError, match="more than 20,000 matrix entries"):
        expand_master(one_key(body))


KEYS = [
    "qwen3.5-fp4-mi355x-sglang",
    "qwen3.5-fp4-mi355x-sglang-mtp",
    "qwen3.5-fp4-b200-sglang",
    "qwen3.5-fp4-gb200-dynamo-sglang",
]


@pytest.mark.parametrize(
    ("patterns", "named", "unknown"),
    [
        (["qwen3.5-fp4-*-sglang"], [KEYS[0], KEYS[2], KEYS[3]], []),
        (["*gb200-dynamo-sglang"], [KEYS[3]], []),
        (["qwen3.5*"], KEYS, []),
        ([KEYS[1], KEYS[0]], KEYS[:2], []),
        ([KEYS[0], KEYS[0], "qwen3.5-fp4-mi355x-sglang*"], KEYS[:2], []),
        (["qwen3.5-fp4-b200"], [], ["qwen3.5-fp4-b200"]),
        (["*-b200-*"], [KEYS[2]], []),  # gb200 is another GPU
        (["qwen3.5-fp4-mi355x-sglan?"], [], ["qwen3.5-fp4-mi355x-sglan?"]),
        (["gone*", "gone*", "[a-z]*"], [], ["gone*", "[a-z]*"]),
        ([], [], []),
    ],
)
def test_wildcards_name_whole_keys_in_file_order(
    patterns: list[str], named: list[str], unknown: list[str]
) -> None:
    assert expand_wildcards(patterns, KEYS) == (named, unknown)


@given(
    pattern=st.text(alphabet="ab.*", max_size=8),
    key=st.text(alphabet="ab.", max_size=8),
)
def test_a_star_is_any_run_of_characters(pattern: str, key: str) -> None:
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    assert matches(pattern, key) == (re.fullmatch(expression, key) is not None)


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert not matches("*a" * 5_000 + "b", "a" * 10_000)
    assert matches("*a" * 5_000, "a" * 10_000)
