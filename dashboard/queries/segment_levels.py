"""The level of a key over the sweeps of one segment, and since when it is worse."""

import numpy as np
from django.db.models import QuerySet

from dashboard.analysis.change_points import first_bad
from dashboard.analysis.pairing import measured
from dashboard.analysis.pareto import Floats
from dashboard.analysis.sides import Side
from dashboard.models import Sweep
from dashboard.queries.noise import noise_before
from dashboard.queries.sides import points_of, sides
from dashboard.vocabulary.metrics import default_axes
from dashboard.vocabulary.scenarios import AGENTIC


def first_bad_run(head: Side, *, needed: int) -> int | None:
    """Return the run's row id where the level that the head is on began, if worse.

    The level of a sweep is the geometric mean of its y over the places that every
    sweep of the segment up to the head measured. None where fewer than ``needed``
    sweeps did.
    """
    known = _segment_up_to(head)
    if known.count() < needed:
        return None
    stretch = sorted(sides(known), key=lambda side: (side.at, side.run_id))
    y = default_axes(agentic=head.scenario == AGENTIC)[1]
    levels = _levels(stretch, y)
    # One run's own noise: the mean over its points shares the run's part of it.
    noise = noise_before([head.at.date()])[head.at.date()].value(y, 64)
    if noise is None:
        return None
    position = first_bad(levels, metric=y, noise=noise)
    if position is None:
        return None
    sweep_id = stretch[position].sweep_id
    return Sweep.objects.values_list("run_id", flat=True).get(pk=sweep_id)


def level_length(head: Side) -> int:
    """Return how many sweeps the segment has up to the head; none for a held one."""
    return _segment_up_to(head).count()


def _segment_up_to(head: Side) -> QuerySet[Sweep]:
    return Sweep.objects.filter(
        config_key__key=head.config_key,
        scenario=head.scenario,
        segment=head.segment,
        segment__isnull=False,
        extends__isnull=True,
        official_at__lte=head.at,
    )


def _levels(stretch: list[Side], y: str) -> list[float | None]:
    frames = points_of(stretch)
    metrics = (y,)
    sweeps = [measured(frames[s.sweep_id, s.attempt], metrics) for s in stretch]
    places = sorted(set.intersection(*(set(sweep.places) for sweep in sweeps)))
    if not places:
        return [None] * len(sweeps)
    return [_geometric_mean(sweep.at(places)) for sweep in sweeps]


def _geometric_mean(values: Floats) -> float | None:
    if not (values > 0).all():
        return None
    return float(np.exp(np.log(values).mean()))
