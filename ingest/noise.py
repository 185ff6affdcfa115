"""Measures how much two runs of the same thing differ, from the official history."""

from collections.abc import Iterator, Sequence
from datetime import date

import numpy as np
import pandas as pd
from django.db import transaction
from django.db.models import Q

from dashboard.analysis.noise import estimate
from dashboard.analysis.pairing import pairs
from dashboard.analysis.segments import IMAGE
from dashboard.models import Generation, Noise, Sweep
from dashboard.queries.sides import COMPARED, points_of, sides

# How many pairs of sweeps are in memory at a time.
AT_ONCE = 200


def measure_noise(as_of: date) -> int:
    """Store the noise of every metric and band as of a day; return how many values.

    From consecutive official sweeps of one segment with equal checkpoint and image.
    The same day again replaces its values.
    """
    found = list(log_ratios())
    rows = estimate(pd.concat(found)) if found else pd.DataFrame()
    with transaction.atomic():
        Noise.objects.filter(as_of=as_of).delete()
        Noise.objects.bulk_create(
            Noise(metric=metric, band=band, as_of=as_of, value=value, pairs=count)
            for metric, band, value, count in rows.itertuples(index=False, name=None)
        )
        Generation.bump()
    return len(rows)


def log_ratios() -> Iterator[pd.DataFrame]:
    """Yield log ratios of comparable pairs: metric, concurrency, log_ratio."""
    ids = _pairs_of_sweeps()
    for start in range(0, len(ids), AT_ONCE):
        yield from _ratios(ids[start : start + AT_ONCE])


def _pairs_of_sweeps() -> list[tuple[int, int]]:
    """Return (earlier, later) sweep ids between which nothing is known to differ."""
    comparable = Sweep.objects.filter(
        previous__isnull=False, breaks=[], extends__isnull=True
    ).exclude(Q(markers__contains=[{"kind": IMAGE}]))
    return list(comparable.order_by("pk").values_list("previous_id", "pk"))


def _ratios(ids: Sequence[tuple[int, int]]) -> Iterator[pd.DataFrame]:
    wanted = {pk for pair in ids for pk in pair}
    known = {s.sweep_id: s for s in sides(Sweep.objects.filter(pk__in=wanted))}
    frames = points_of(known.values())
    for before, after in ids:
        both = pairs(frames[before, None], frames[after, None], COMPARED)
        for metric in COMPARED:
            old, new = both[f"{metric}_base"], both[f"{metric}_head"]
            usable = (old > 0) & (new > 0)
            if usable.any():
                yield pd.DataFrame(
                    {
                        "metric": metric,
                        "concurrency": both.loc[usable, "concurrency"],
                        "log_ratio": np.log(new[usable] / old[usable]),
                    }
                )
