"""The names of benchmark jobs, and the plan that they make together."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.vocabulary.deployments import deployment_label
from ingest.jobs import JobPlan, parse_job_name, planned_evals, planned_points

STACK = "qwen3.5 fp4 mi355x sgl"


def parsed(name: str) -> JobPlan:
    plan = parse_job_name(name)
    assert plan is not None
    return plan


@pytest.mark.parametrize(
    ("name", "label", "scenario", "concurrencies"),
    [
        (f"canary / / p3.000 | {STACK} TP2    c4", "TP2", None, (4,)),
        (
            f"single-node 8k1k / / p3 | {STACK} TP2 mtp   c128",
            "TP2 mtp",
            "8k/1k",
            (128,),
        ),
        (
            f"single-node 1k1k / p3.5 | {STACK} TP8/PP2/DCP8/PCP4/EP8/DPA    c1",
            "TP8/PP2/DCP8/PCP4/EP8 DPA",
            "1k/1k",
            (1,),
        ),
        (
            f"agentic / / p4.750 | {STACK} TP2/EP2 mtp dram KV offload hicache c12",
            "TP2/EP2 offload=dram:hicache mtp",
            "agentic-traces",
            (12,),
        ),
        (
            f"agentic / / p4.750 | {STACK} TP4 dram KV offload c12",
            "TP4 offload=dram",
            "agentic-traces",
            (12,),
        ),
        (
            f"multi-node 8k1k / / p5 | {STACK} 8P (TP4/EP4/DPA) x 1D (TP16)   c2x4x2",
            "8P TP4/EP4 DPA x 1D TP16",
            "8k/1k",
            (2, 4),
        ),
        (
            f"multi-node agentic / / p5 | {STACK} 2P (TP16/EP32) x 0D (TP16) mtp c1",
            "2P TP16/EP32 mtp",
            "agentic-traces",
            (1,),
        ),
    ],
)
def test_a_name_tells_deployment_scenario_and_concurrencies(
    name: str, label: str, scenario: str | None, concurrencies: tuple[int, ...]
) -> None:
    plan = parsed(name)
    assert deployment_label(plan.deployment) == label
    assert plan.scenario == scenario
    assert plan.concurrencies == concurrencies
    assert not plan.eval_only


def test_other_words_of_a_name() -> None:
    plan = parsed(f"agentic eval / / p1 | {STACK} TP2 c64 | eval-only")
    assert plan.eval_only
    assert plan.group == "agentic eval"
    assert (plan.model_prefix, plan.precision, plan.runner) == (
        "qwen3.5",
        "fp4",
        "mi355x",
    )


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("sgl", "sglang"),
        ("dyn-sgl", "dynamo-sglang"),
        ("sgl-disagg", "sglang-disagg"),
        ("dynamo-trt", "dynamo-trt"),
        ("atom", "atom"),
    ],
)
def test_short_framework_names_are_written_out(short: str, full: str) -> None:
    assert parsed(f"canary / / p1 | m fp4 b200 {short} TP2 c4").framework == full


def test_aggregated_nodes_have_no_decode_fields() -> None:
    plan = parsed(f"multi-node 8k1k / / p1 | {STACK} 1P (TP4) x 0D (TP4) c4")
    assert plan.deployment.decode_workers == 0
    assert plan.deployment.decode_tp is None
    assert not plan.deployment.disagg


@pytest.mark.parametrize(
    "name",
    [
        "",
        "|",
        "check-changelog",
        "setup",
        "agentic eval /",
        "collect-results / collect-results",
        "sweep-single-node-8k1k",
        f"agentic / / high | {STACK} TP2 c4",
        f"agentic / / p4.750 | {STACK} TP2 c4 | something",
        f"agentic / / p4.750 | {STACK} TP2 c4 | eval-only | eval-only",
        f"agentic / / p4.750 | {STACK} TP2 mtp extra c4",
        f"agentic / / p4.750 | {STACK} TP0 c4",
        f"agentic / / p4.750 | {STACK} 1P (TP2) x 1P (TP2) c4",
        f"agentic / / p4.750 | {STACK} 1P TP2 x 1D TP2 c4",
        f"agentic / / p4.750 | {STACK} TP2 <script> c4",
        f"agentic / / p4.750 | {STACK} TP2 c4x",
        f"agentic / / p4.750 | {STACK} c4",
        "agentic / / p4.750 | fp4 mi355x sgl TP2 c4",
    ],
)
def test_what_is_no_measurement_job_is_not_read(name: str) -> None:
    assert parse_job_name(name) is None


@pytest.mark.parametrize(
    "name",
    [
        f"canary / / p1 | {STACK} TP2 c" + "4x" * 5_000,
        f"canary / / p1 | {STACK} TP2" + "/EP2" * 2_500 + " c4",
        "canary " + "/ " * 5_000 + f"p1 | {STACK} TP2 c4",
        "|" * 10_000,
        "p1" * 5_000,
        f"canary / / p{'1' * 10_000} | {STACK} TP2 c4",
        f"canary / / p1 | {STACK} TP2 {'mtp ' * 2_500} c4",
        f"canary / / p1 | {STACK} TP{'9' * 900} c4",
    ],
)
def test_hostile_names_are_refused(name: str) -> None:
    assert parse_job_name(name) is None


@given(st.text(alphabet="p1.|/ TPx()c4DEAgentic-only\u0661", max_size=80))
def test_no_name_breaks_the_parser(name: str) -> None:
    parse_job_name(name)
    parse_job_name(f"agentic / / p1 | {STACK} {name} c4")


def test_b200_and_gb200_are_planned_apart() -> None:
    names = [f"canary / / p1 | m fp4 {gpu} sgl TP2 c4" for gpu in ("b200", "gb200")]
    planned = planned_points(map(parsed, names))
    assert [plan.runner for plan, _ in planned] == ["b200", "gb200"]


def test_attempts_and_evals_add_no_points() -> None:
    job = f"agentic / / p1 | {STACK} TP2 c4"
    plans = [parsed(job), parsed(job), parsed(job + " | eval-only")]
    assert len(planned_points(plans)) == 1


def test_evals_are_counted_once_and_a_job_of_several_concurrencies_is_one() -> None:
    names = [
        f"eval / / p3 | {STACK} TP2   c64 | eval-only",
        f"eval / / p9 | {STACK} TP2   c64 | eval-only",
        "eval / / p3 | qwen3.5 fp4 mi355x atom TP2   c64 | eval-only",
        f"multi-node eval / / p3 | {STACK} 1P (TP4) x 1D (TP4) c4x8 | eval-only",
        f"single-node 8k1k / / p3 | {STACK} TP2   c64",
    ]
    assert planned_evals(map(parsed, names)) == 3
    assert planned_evals([]) == 0


def test_a_canary_counts_once_with_its_twin() -> None:
    canary = parsed(f"canary / / p1 | {STACK} TP2 c4")
    twin = parsed(f"single-node 8k1k / / p1 | {STACK} TP2 c4")
    other = parsed(f"single-node 8k1k / / p1 | {STACK} TP2 c8")
    for plans in ([canary, twin, other], [other, twin, canary], [canary, other]):
        points = {(p.scenario, c) for p, c in planned_points(plans)}
        assert points == {("8k/1k", 4), ("8k/1k", 8)}
        assert len(planned_points(plans)) == 2


def test_a_canary_of_a_recipe_of_its_own_takes_the_scenario_of_its_stack() -> None:
    canary = parsed(f"canary / / p1 | {STACK} TP2 c4")
    other = parsed(f"single-node 8k1k / / p1 | {STACK} TP4 c8")
    assert planned_points([canary, other])[0][0].scenario == "8k/1k"
    short = replace(other, scenario="1k/1k")
    assert planned_points([canary, other, short])[0][0].scenario is None
    assert planned_points([canary]) == [(canary, 4)]


PLANNED = {
    "31544080186": 41,
    "31560100623": 41,
    "31900000004": 16,
    "33100000001": 29,
    "33300000002": 19,
    "33400000005": 33,
    "33484262630": 19,
    "33500000006": 13,
    "33588417338": 16,
    "33598359757": 13,
    "33600000007": 13,
    "33700000003": 0,
}


@pytest.mark.parametrize(("run", "points"), PLANNED.items())
def test_recorded_runs_plan_what_they_planned(
    shared_data: Path, run: str, points: int
) -> None:
    jobs = json.loads((shared_data / "runs" / run / "jobs.json").read_text())
    names = [job["name"] for job in jobs]
    plans = [plan for name in names if (plan := parse_job_name(name)) is not None]
    assert len(plans) == sum("|" in name for name in names)
    assert len(planned_points(plans)) == points
