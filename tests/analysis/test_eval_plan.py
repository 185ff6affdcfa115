"""Which arms the generator has evaluated, by the rule that its job names confirm."""

import pytest

from dashboard.analysis.eval_plan import Arm, arms_to_evaluate


def arm(concurrency: int, **changes) -> Arm:
    usual = {
        "config_key": "key",
        "scenario": "8k/1k",
        "model": "qwen3.5",
        "runner": "mi355x",
        "framework": "sglang",
        "precision": "fp4",
        "spec_method": "none",
        "dp_attention": False,
        "multinode": False,
        "topology": "TP2",
    }
    return Arm(**{**usual, **changes, "concurrency": concurrency})


def chosen(*arms: Arm, **options) -> list[tuple[object, int]]:
    found = arms_to_evaluate(arms, **options)
    return [(a.topology, a.concurrency) for a in found]


@pytest.mark.parametrize(
    ("concurrencies", "expected"),
    [
        ((4, 8, 16, 32, 64, 128, 256), [64, 256]),  # of 16 to 256 the third
        ((4, 8, 16, 32, 64, 128), [64, 128]),  # of four the upper middle one
        ((16, 32), [32]),
        ((16,), [16]),
        ((1, 2, 15), []),
        ((256, 16, 64), [256, 64]),
    ],
)
def test_one_node_has_its_highest_and_median_evaluated(concurrencies, expected):
    found = arms_to_evaluate(arm(c) for c in concurrencies)
    assert [a.concurrency for a in found] == expected


def test_all_parallel_sizes_of_these_concurrencies_are_evaluated():
    arms = [arm(c, topology=tp) for tp in ("TP2", "TP4") for c in (16, 32, 64)]
    assert chosen(*arms, arm(128, topology="TP8")) == [
        ("TP2", 64),
        ("TP4", 64),
        ("TP8", 128),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"spec_method": "mtp"},
        {"dp_attention": True},
        {"framework": "vllm"},
        {"precision": "fp8"},
        {"runner": "h200"},
        {"model": "dsr1"},
    ],
)
def test_each_stack_spec_method_and_attention_is_a_group(changes):
    assert chosen(arm(64), arm(16, **changes)) == [("TP2", 64), ("TP2", 16)]


@pytest.mark.parametrize("scenario", ["1k/1k", "1k/8k", "unknown"])
def test_other_lengths_are_not_evaluated(scenario):
    assert not arms_to_evaluate([arm(64, scenario=scenario)])


def test_several_nodes_have_the_highest_of_each_topology_evaluated():
    wide = [arm(c, multinode=True, topology="1P x 4D") for c in (12, 44, 76)]
    deep = [arm(c, multinode=True, topology="2P x 1D") for c in (333, 180)]
    low = arm(8, multinode=True, topology="1P x 1D")
    assert chosen(*wide, *deep, low) == [("1P x 4D", 76), ("2P x 1D", 333)]


def test_traces_have_the_highest_of_their_stack_evaluated_however_low():
    traces = {"scenario": "agentic-traces", "spec_method": "mtp"}
    arms = [arm(c, topology="TP2/EP2", **traces) for c in (1, 4, 8)]
    assert chosen(*arms, arm(12, topology="TP4", **traces)) == [("TP4", 12)]
    assert chosen(*arms) == [("TP2/EP2", 8)]


def test_all_evals_asks_for_every_arm_once():
    assert chosen(arm(16), arm(32), arm(64), arm(64), arm(4), every_arm=True) == [
        ("TP2", 16),
        ("TP2", 32),
        ("TP2", 64),
    ]
    assert chosen() == []
