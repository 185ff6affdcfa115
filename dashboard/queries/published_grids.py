"""What official sweeps measured on which day, read from their grids, not from points.

A sweep's grid names the deployments of its points that count: sixteen thousand sweeps
say as much of it as a million points do.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Exists, OuterRef, Q, QuerySet

from dashboard.models import Artifact, ConfigKey, Deployment, Run, Sweep
from dashboard.queries.published_shapes import day_of, official_at
from dashboard.vocabulary import provenance
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.scenarios import lengths_of

# How a deployment is served: the spec method, and whether it is disaggregated.
Served = tuple[str, bool]
# The labels of a sweep whose grid is not known.
UNKNOWN = "[]"


class Told(NamedTuple):
    """Rows as texts, and whether grids tell of every official sweep."""

    texts: set[str]
    is_all: bool


def told_by_grids() -> Told:
    """Return (model, lengths, ..., day) of the sweeps whose grid says all of it.

    Sweeps of a key that measured the same deployments are one row of the database.
    They are read first: whatever comes meanwhile cannot be one that nothing names.
    """
    sweeps = Sweep.objects.filter(run__publication=Run.Publication.OFFICIAL)
    alike = sweeps.order_by().values("config_key_id", "scenario", "labels")
    rows = list(alike.annotate(runs=ArrayAgg("run_id")))
    days_of_runs, keys, served = _days(), ConfigKey.objects.in_bulk(), _served()
    texts, is_all = set[str](), True
    for row in rows:
        key = keys.get(row["config_key_id"])
        if key is None:  # went meanwhile, and with it the sweeps
            continue
        days = {days_of_runs.get(run_id) for run_id in row["runs"]}
        labels = orjson.loads(row["labels"])
        is_all = is_all and bool(labels) and None not in days
        for end in _ends(key, row["scenario"], labels, served):
            texts.update(f'{{"date":"{day}",{end}' for day in days if day)
    return Told(texts, is_all)


def untold_by_grids() -> QuerySet[Sweep]:
    """Return the others: a part may have been published, or no grid is known."""
    came = Artifact.objects.filter(run=OuterRef("run"), kind=provenance.PUBLISHED)
    official = Sweep.objects.filter(run__publication=Run.Publication.OFFICIAL)
    return official.filter(Q(labels=UNKNOWN) | Exists(came))


def _days() -> Mapping[int, str]:
    """Return the day of each official run by its id, but of those published in part."""
    came = Artifact.objects.filter(run=OuterRef("pk"), kind=provenance.PUBLISHED)
    official = Run.objects.filter(~Exists(came), publication=Run.Publication.OFFICIAL)
    return dict(official.annotate(day=day_of(official_at())).values_list("pk", "day"))


def _served() -> Mapping[str, set[Served]]:
    """Return how the deployments of each label are served: a label says both."""
    found: dict[str, set[Served]] = {}
    rows = Deployment.objects.values_list("label", "spec_method", "disagg")
    for label, spec_method, disagg in rows:
        found.setdefault(label, set()).add((spec_method, disagg))
    return found


def _ends(
    key: ConfigKey, scenario: str, labels: list[str], served: Mapping[str, set[Served]]
) -> Iterator[str]:
    """Yield the rest of each row, its names in order: the day comes first of all."""
    isl, osl = lengths_of(scenario)
    for spec_method, disagg in sorted(
        {way for label in labels for way in served[label]}
    ):
        row = {
            "disagg": disagg,
            "framework": canonical_framework(key.framework),
            "hardware": key.hardware,
            "isl": isl,
            "model": key.model,
            "osl": osl,
            "precision": key.precision,
            "spec_method": spec_method,
        }
        yield orjson.dumps(row).decode()[1:]
