"""Curves in the database: official sweeps with points on a simple trade-off."""

from collections.abc import Sequence
from typing import Any

from dashboard import models
from tests.factories import (
    CheckpointFactory,
    ConfigKeyFactory,
    DeploymentFactory,
    PointFactory,
    RunFactory,
    SweepFactory,
)

# (concurrency, median interactivity, total throughput per GPU): all on the frontier.
TRADE_OFF: list[tuple[int, float | None, float]] = [
    (4, 180.0, 300.0),
    (16, 120.0, 900.0),
    (64, 60.0, 1800.0),
    (256, 20.0, 2600.0),
]


def official_sweep(
    key: str = "qwen3.5-fp4-mi355x-sglang", **given: Any
) -> models.Sweep:
    """Make a key's current official sweep; ``key_fields`` go to the config key."""
    config_key = ConfigKeyFactory(key=key, **given.pop("key_fields", {}))
    return SweepFactory(config_key=config_key, official=True, **given)


def add_points(
    sweep: models.Sweep,
    trade_off: Sequence[tuple[int, float | None, float]] = TRADE_OFF,
    **given: Any,
) -> list[Any]:
    """Add a point per (concurrency, interactivity, throughput) and count them."""
    points = [
        PointFactory(
            sweep=sweep,
            concurrency=concurrency,
            median_intvty=intvty,
            tput_per_gpu=tput,
            **given,
        )
        for concurrency, intvty, tput in trade_off
    ]
    sweep.received_count += len(points)
    sweep.save(update_fields=["received_count"])
    return points


def curve(key: str = "qwen3.5-fp4-mi355x-sglang", **given: Any) -> models.Sweep:
    """Make a key's current official sweep with the usual points."""
    sweep = official_sweep(key, **given)
    add_points(sweep)
    return sweep


def story() -> dict[str, models.Sweep]:
    """Make what a page must be able to show: flags, holes, extensions, held sweeps."""
    sglang = curve(planned_count=5)
    add_points(sglang, [(8, 100.0, 500.0)])
    add_points(
        sglang,
        [(512, 300.0, 9000.0)],
        is_out=True,
        flags=[["littles_law", "more requests in flight than allowed: 16.0"]],
    )
    add_points(sglang, [(1024, None, 2700.0)])
    held = SweepFactory(
        config_key=sglang.config_key,
        run=RunFactory(official=True),
        state="held",
        official_at=sglang.measured_at.replace(year=2027),
        received_count=13,
        planned_count=19,
    )
    b200 = curve(
        "qwen3.5-fp4-b200-trt-mtp",
        key_fields={"hardware": "b200", "framework": "trt"},
        checkpoint=CheckpointFactory(name="nvidia/Model-397B-NVFP4"),
        spec_methods=["mtp"],
        acceptance_source="synthetic_declared",
        acceptance_length=3.39,
    )
    extension = SweepFactory(
        config_key=b200.config_key, official=True, extends=b200, received_count=0
    )
    add_points(extension, [(2, 240.0, 150.0)])
    disagg = curve(
        "qwen3.5-fp8-gb200-dynamo-trt",
        key_fields={"hardware": "gb200", "framework": "dynamo-trt", "precision": "fp8"},
        precision="fp8",
    )
    add_points(
        disagg,
        [(2048, 15.0, 500.0)],
        deployment=disaggregated(),
        gpus=24,
        prefill_gpus=4,
        decode_gpus=20,
        output_tput_per_gpu=200.0,
        input_tput_per_gpu=2000.0,
    )
    return {"sglang": sglang, "held": held, "b200": b200, "disagg": disagg}


def disaggregated() -> models.Deployment:
    """Make one prefill and five decode workers of four GPUs each."""
    single = ("tp", "pp", "dcp", "pcp", "ep", "dp_attention")
    roles = {"prefill_workers": 1, "prefill_tp": 4, "decode_workers": 5, "decode_tp": 4}
    nothing = dict.fromkeys(single)
    return DeploymentFactory(multinode=True, disagg=True, **nothing, **roles)
