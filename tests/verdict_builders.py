"""Runs that are held against each other: official ones and those of pull requests."""

from collections.abc import Sequence
from datetime import timedelta
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
from tests.pages.key_builders import CURVE, KEY, START, add_sweep, derive

Curve = Sequence[tuple[int, float, float]]


def official(day: int, *, key: str = KEY, **given: Any) -> models.Sweep:
    """Make an official sweep of a day, in the history of its key."""
    sweep = add_sweep(day, key=key, **given)
    derive(key)
    return sweep


def unofficial(day: int, **given: Any) -> models.Sweep:
    """Make a sweep of a pull request's run: the usual curve, ``scale`` times as fast.

    ``run`` is a run that measures another key; ``run_fields`` and ``point_fields`` go
    to the run and to every point, the rest to the sweep.
    """
    curve: Curve = given.pop("curve", CURVE)
    scale, tp = given.pop("scale", 1.0), given.pop("tp", 2)
    fields = {"created_at": START + timedelta(days=day), **given.pop("run_fields", {})}
    run = given.pop("run", None) or RunFactory(**fields)
    point_fields = given.pop("point_fields", {})
    sweep: models.Sweep = SweepFactory(
        run=run,
        config_key=ConfigKeyFactory(key=given.pop("key", KEY)),
        checkpoint=CheckpointFactory(name=given.pop("checkpoint", "org-a/Model-FP4")),
        received_count=len(curve),
        grid=[[f"TP{tp}", [c for c, _, _ in curve]]],
        **given,
    )
    for concurrency, intvty, tput in curve:
        PointFactory(
            sweep=sweep,
            deployment=DeploymentFactory(tp=tp),
            concurrency=concurrency,
            median_intvty=intvty,
            tput_per_gpu=tput * scale,
            **point_fields,
        )
    models.Run.objects.filter(pk=run.pk).update(
        received_count=sum(s.received_count for s in run.sweeps.all()),
        planned_count=sweep.planned_count,
    )
    run.refresh_from_db()
    return sweep
