"""Physical checks of one measurement, each at its edge and with what is missing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.analysis.physics import (
    Measurement,
    flags_of_all,
    physical_flags,
    topology_gpus,
)
from dashboard.vocabulary.deployments import Deployment

SINGLE = Deployment(multinode=False, disagg=False, tp=2, pp=1, dcp=1, pcp=1, ep=1)
DISAGG = Deployment(
    multinode=True,
    disagg=True,
    prefill_workers=1,
    prefill_tp=4,
    prefill_pp=1,
    prefill_pcp=1,
    decode_workers=5,
    decode_tp=4,
    decode_pp=1,
    decode_pcp=1,
)
SOUND = {
    "tput_per_gpu": 200.0,
    "input_tput_per_gpu": 100.0,
    "output_tput_per_gpu": 100.0,
    "median_e2el": 10.24,
}


def measured(metrics: dict[str, float] | None = None, **changes: Any) -> Measurement:
    """Two GPUs, 2 concurrent requests of 1,024 tokens in 10.24 s: Little's ratio 1."""
    facts: dict[str, Any] = {
        "metrics": SOUND | (metrics or {}),
        "deployment": SINGLE,
        "concurrency": 2,
        "osl": 1024,
        "gpus": 2,
        "prefill_gpus": None,
        "decode_gpus": None,
        "role_denominators": False,
    }
    return Measurement(**(facts | changes))


def codes(m: Measurement) -> list[str]:
    return [code for code, _ in physical_flags(m)]


def disaggregated(metrics: dict[str, float], **changes: Any) -> Measurement:
    roles = {"prefill_gpus": 4, "decode_gpus": 20, "gpus": 24} | changes
    return measured(
        metrics, deployment=DISAGG, role_denominators=True, osl=None, **roles
    )


def test_a_sound_measurement_has_no_flag() -> None:
    assert physical_flags(measured()) == []


@pytest.mark.parametrize(
    ("sizes", "gpus"),
    [
        ({"tp": 2}, 2),
        ({"tp": 2, "ep": 8}, 2),
        ({"tp": 2, "dcp": 2}, 2),
        ({"tp": 2, "pp": 3, "pcp": 4}, 24),
    ],
)
def test_expert_and_decode_context_parallelism_share_the_gpus(
    sizes: dict[str, Any], gpus: int
) -> None:
    assert topology_gpus(SINGLE._replace(**sizes)) == (gpus, None)


def test_roles_count_workers_and_no_decode_worker_needs_no_gpu() -> None:
    assert topology_gpus(DISAGG) == (4, 20)
    assert topology_gpus(DISAGG._replace(decode_workers=0)) == (4, 0)
    assert topology_gpus(DISAGG._replace(decode_pcp=None)) == (4, None)


def test_a_count_against_the_topology_is_flagged_per_role() -> None:
    assert codes(measured(gpus=16)) == ["gpu_count_mismatch", "littles_law"]
    roles = disaggregated(
        {"tput_per_gpu": 500.0, "input_tput_per_gpu": 2000.0,
         "output_tput_per_gpu": 200.0},
        decode_gpus=16,
    )  # fmt: skip
    found = dict(physical_flags(roles))
    assert "16 decode GPUs counted, the topology needs 20" in found.values()


def test_an_unknown_count_is_no_mismatch() -> None:
    assert codes(measured(gpus=None)) == []


@pytest.mark.parametrize("total", [198.1, 200.0, 201.9])
def test_throughputs_add_up_within_one_percent(total: float) -> None:
    assert codes(measured({"tput_per_gpu": total})) == []


@pytest.mark.parametrize("total", [197.9, 202.1, 20.0])
def test_throughputs_that_do_not_add_up_are_flagged(total: float) -> None:
    assert codes(measured({"tput_per_gpu": total})) == ["throughput_sum"]


def test_role_throughputs_add_up_by_the_gpus_of_their_role() -> None:
    shares = {"input_tput_per_gpu": 2000.0, "output_tput_per_gpu": 200.0}
    assert codes(disaggregated(shares | {"tput_per_gpu": 500.0})) == []
    assert codes(disaggregated(shares | {"tput_per_gpu": 2200.0})) == ["throughput_sum"]


def test_without_decode_gpus_output_is_of_all_gpus() -> None:
    alone = DISAGG._replace(decode_workers=0)
    m = disaggregated(SOUND, decode_gpus=0, gpus=4)._replace(deployment=alone)
    assert codes(m) == []


def test_sums_are_not_judged_where_a_part_or_a_count_is_missing() -> None:
    assert codes(disaggregated({"tput_per_gpu": 999.0}, prefill_gpus=None)) == []
    parts = measured()._replace(metrics={"tput_per_gpu": 200.0})
    assert codes(parts) == []


@pytest.mark.parametrize("ratio", [0.61, 1.0, 1.14])
def test_littles_law_leaves_room_for_requests_that_ramp_up(ratio: float) -> None:
    assert codes(measured({"median_e2el": 10.24 * ratio})) == []


@pytest.mark.parametrize("ratio", [0.59, 1.16, 16.0])
def test_littles_law_has_its_range(ratio: float) -> None:
    assert codes(measured({"median_e2el": 10.24 * ratio})) == ["littles_law"]


def test_littles_law_says_what_was_expected() -> None:
    [(code, text)] = physical_flags(measured({"median_e2el": 163.84}))
    assert code == "littles_law"
    assert "16.00" in text
    assert "expected ≈ 6.2 output tok/s/GPU for 2 GPUs" in text


def test_the_mean_latency_counts_before_the_median() -> None:
    assert codes(measured({"mean_e2el": 100.0})) == ["littles_law"]


@pytest.mark.parametrize(
    "change",
    [{"osl": None}, {"gpus": None}, {"metrics": {"output_tput_per_gpu": 100.0}}],
)
def test_littles_law_is_silent_where_a_part_is_missing(change: dict[str, Any]) -> None:
    assert "littles_law" not in codes(measured()._replace(**change))


@pytest.mark.parametrize("latency", [0.0, -1.0, 5e-324, 1e308])
def test_impossible_latency_is_flagged_without_dividing_by_it(latency: float) -> None:
    assert "littles_law" in codes(measured({"median_e2el": latency}))


def test_negative_values_are_named_and_zero_throughput_is_flagged() -> None:
    found = dict(physical_flags(measured({"median_ttft": -0.1, "p99_tpot": -1.0})))
    assert found["negative_value"] == "negative: median_ttft, p99_tpot"
    zero = dict.fromkeys(
        ("tput_per_gpu", "input_tput_per_gpu", "output_tput_per_gpu"), 0.0
    )
    assert codes(measured(zero)) == ["zero_throughput"]


@pytest.mark.parametrize(
    ("metrics", "wrong"),
    [
        ({"median_ttft": 1.0, "p90_ttft": 2.0, "p99_ttft": 3.0}, ""),
        ({"median_ttft": 1.0, "p90_ttft": 1.0, "p99.9_ttft": 1.0}, ""),
        ({"median_ttft": 1.000009, "p90_ttft": 1.0}, ""),
        ({"median_ttft": 1.1, "p90_ttft": 1.0}, "ttft"),
        ({"median_ttft": 1.1, "p99.9_ttft": 1.0}, "ttft"),
        ({"median_intvty": 50.0, "p90_intvty": 40.0, "p99_intvty": 30.0}, ""),
        ({"median_intvty": 50.0, "p99_intvty": 60.0}, "intvty"),
        ({"median_ttft": 2.0, "p90_ttft": 1.0, "p90_itl": 2.0, "p99_itl": 1.0},
         "ttft, itl"),
    ],
)  # fmt: skip
def test_percentiles_of_latency_rise_and_of_interactivity_fall(
    metrics: dict[str, float], wrong: str
) -> None:
    found = dict(physical_flags(measured(metrics))).get("percentile_order", "")
    assert found.removeprefix("percentiles out of order: ") == wrong


def test_invalid_power_is_flagged_and_absent_power_is_not() -> None:
    assert codes(measured(power_valid=False)) == ["power_invalid"]
    assert codes(measured(power_valid=None)) == codes(measured(power_valid=True)) == []


@pytest.mark.parametrize(
    ("metric", "value"), [("median_intvty", 1.1e7), ("p99_ttft", 3e6)]
)
def test_what_no_machine_can_do_is_implausible(metric: str, value: float) -> None:
    assert "implausible_value" in codes(measured({metric: value}))
    assert "implausible_value" not in codes(measured({metric: value / 100}))


# All that is looked at; of each its value where nothing is in doubt.
FULL = SOUND | {
    "mean_e2el": 10.24,
    "median_ttft": 1.0,
    "p90_ttft": 1.0,
    "p99.9_ttft": 2.0,
    "median_intvty": 50.0,
    "p90_intvty": 40.0,
    "std_ttft": 0.5,
}
ROLES = {
    "deployment": DISAGG,
    "role_denominators": True,
    "gpus": 24,
    "prefill_gpus": 4,
    "decode_gpus": 20,
    "osl": 10240,
}
WITHOUT_DECODE = {
    "deployment": DISAGG._replace(decode_workers=0),
    "role_denominators": True,
    "gpus": 4,
    "prefill_gpus": 4,
    "decode_gpus": 0,
    "osl": 2048,
}
# The throughputs of prefill and decode GPUs that add up to 200 tok/s of each GPU.
OF_ROLES = {"input_tput_per_gpu": 700.0, "output_tput_per_gpu": 100.0}
NUMBERS = st.sampled_from(
    [
        *(0.0, -0.0, -1e-9, 5e-324, 1.0, 1.000009, 1.1, 6.0, 6.2, 11.7, 11.9, 45.0),
        *(100.0, 102.0, 198.1, 201.9, 202.1, 1e7, 1.1e7, 2_592_000.0, 3e6, 1e308),
    ]
)
CIRCUMSTANCES: dict[str, list[Any]] = {
    "gpus": [None, 0, 1, 16],
    "prefill_gpus": [None, 0, 8],
    "decode_gpus": [None, 0, 16],
    "osl": [None, 0, 64],
    "concurrency": [1, 3],
    "power_valid": [None, True, False],
    "role_denominators": [True, False],
}


@st.composite
def alike(draw: st.DrawFn) -> list[Measurement]:
    """Sound measurements of the same metrics, in each at most one thing changed."""
    names = draw(st.lists(st.sampled_from([*FULL]), unique=True) | st.just([*FULL]))
    found = []
    for _ in range(draw(st.integers(0, 16))):
        roles: dict[str, Any] = draw(st.sampled_from([{}, ROLES, WITHOUT_DECODE]))
        values = FULL | (OF_ROLES if roles is ROLES else {})
        metrics = {name: values[name] for name in names}
        circumstances = {**roles}
        changed = draw(st.none() | st.sampled_from([*names, *CIRCUMSTANCES]))
        if changed in metrics:
            metrics[changed] = draw(NUMBERS)
        elif changed is not None:
            known = CIRCUMSTANCES[changed]
            circumstances[changed] = draw(st.sampled_from(known))
        found.append(measured(**circumstances)._replace(metrics=metrics))
    return found


@given(st.lists(alike(), max_size=3))
def test_measurements_have_together_the_flags_that_each_has_alone(
    groups: list[list[Measurement]],
) -> None:
    measurements = [m for group in groups for m in group]
    alone = [physical_flags(m) for m in measurements]

    assert flags_of_all(measurements) == alone


@pytest.mark.parametrize(
    ("circumstances", "metrics"),
    [
        ({"gpus": 16}, {}),
        ({"power_valid": False}, {}),
        ({}, {"tput_per_gpu": 202.1}),
        ({}, {"median_e2el": 10.24 * 1.16}),
        ({}, {"median_e2el": 10.24 * 0.59}),
        ({}, {"median_e2el": 3e6}),
        ({}, {"output_tput_per_gpu": -100.0}),
        # 0.59 by the decode GPUs alone, 0.7 by all of them.
        (ROLES, OF_ROLES | {"median_e2el": 10.24 * 0.59}),
        (WITHOUT_DECODE | {"osl": None}, {"tput_per_gpu": 100.0}),
    ],
)
def test_one_in_doubt_is_found_among_many_that_are_sound(
    circumstances: dict[str, Any], metrics: dict[str, float]
) -> None:
    doubted = measured(metrics, **circumstances)
    among = [*[measured()] * 10, doubted, *[measured()] * 10]

    found = flags_of_all(among)

    assert found[10] == physical_flags(doubted) != []
    assert not any(found[:10] + found[11:])
