"""The history of a key in the database: sweeps a day apart, breaks derived."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard import models
from ingest.segments import derive_segments
from tests.factories import (
    CheckpointFactory,
    ConfigKeyFactory,
    DeploymentFactory,
    PointFactory,
    RunFactory,
    SweepFactory,
)

KEY = "qwen3.5-fp4-mi355x-sglang"
START = datetime(2026, 7, 1, 20, tzinfo=UTC)
# (concurrency, median interactivity, total throughput per GPU)
CURVE = [(4, 180.0, 300.0), (16, 120.0, 900.0), (64, 60.0, 1800.0), (256, 20.0, 2600.0)]


def add_sweep(day: int, *, key: str = KEY, **given: Any) -> models.Sweep:
    """Make an official sweep of a day; the newest that is not held is current.

    ``scale`` is by how much its throughput differs from the usual curve, ``tps`` the
    tensor parallel sizes measured; the rest goes to the sweep.
    """
    scale, tps = given.pop("scale", 1.0), given.pop("tps", (2,))
    checkpoint = given.pop("checkpoint", "org-a/Model-FP4")
    at = START + timedelta(days=day)
    config_key = ConfigKeyFactory(key=key)
    scenario = given.setdefault("scenario", "8k/1k")
    given.setdefault("state", "current")
    if given["state"] == "current" and not given.get("extends"):
        config_key.sweeps.filter(scenario=scenario, state="current").update(
            state="former"
        )
    curve = given.pop("curve", CURVE)
    run_fields = given.pop("run_fields", {})
    sweep: models.Sweep = SweepFactory(
        run=RunFactory(official=True, created_at=at, **run_fields),
        config_key=config_key,
        official_at=at,
        measured_at=at,
        checkpoint=CheckpointFactory(name=checkpoint),
        received_count=len(curve) * len(tps),
        grid=[[f"TP{tp}", [c for c, _, _ in curve]] for tp in tps],
        **given,
    )
    for tp in tps:
        _add_points(sweep, curve, tp, scale)
    return sweep


def _add_points(
    sweep: models.Sweep,
    curve: Sequence[tuple[int, float, float]],
    tp: int,
    scale: float,
) -> None:
    deployment = DeploymentFactory(tp=tp)
    for concurrency, intvty, tput in curve:
        PointFactory(
            sweep=sweep,
            deployment=deployment,
            concurrency=concurrency,
            median_intvty=intvty,
            tput_per_gpu=tput * scale,
            image=sweep.image,
        )


def derive(*keys: str) -> None:
    """Place the sweeps of some keys in their histories, as ingestion does."""
    found = models.Sweep.objects.filter(config_key__key__in=keys or [KEY])
    derive_segments(set(found.values_list("config_key_id", "scenario")))


def two_swaps(key: str = KEY) -> list[models.Sweep]:
    """Make nine sweeps: two swaps, an image bump, a dropped band, a held sweep."""
    old, new, third = "org-a/Model-FP4", "org-a/Model-FP4-V2", "org-b/Model-FP4-V2"
    sweeps = [
        add_sweep(0, key=key, checkpoint=old, tps=(2, 4)),
        add_sweep(6, key=key, checkpoint=old, tps=(2, 4), scale=1.02, image="img:2"),
        add_sweep(12, key=key, checkpoint=old, tps=(2, 4), scale=1.05, image="img:2"),
        add_sweep(20, key=key, checkpoint=new, scale=0.99, image="img:2"),
        add_sweep(26, key=key, checkpoint=new, scale=1.0, image="img:2"),
        add_sweep(30, key=key, checkpoint=third, scale=1.1, image="img:2"),
        add_sweep(36, key=key, checkpoint=third, scale=1.12, image="img:3"),
        add_sweep(41, key=key, checkpoint=third, scale=1.0, image="img:3"),
        add_sweep(
            45,
            key=key,
            checkpoint=third,
            scale=1.0,
            image="img:3",
            state="held",
            state_reason="4 of 8 points",
            planned_count=8,
        ),
    ]
    derive(key)
    return sweeps
