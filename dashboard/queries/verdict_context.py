"""What stands beside a verdict: what its sweep ended, and what came after its baseline.

Both come of later runs, so neither is a part of the verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from dashboard.models import Regression, Run, Sweep

KeyAndScenario = tuple[str, str]
Recovered = Mapping[KeyAndScenario, Sequence[int]]


class Newest(NamedTuple):
    """The current official sweep of a key and scenario: its run, and when it counts."""

    run_id: int
    at: datetime

    def is_newer(self, *, than: datetime | None, own_run_id: int) -> bool:
        """Tell whether it came after a baseline, if there is one, in another run."""
        return self.run_id != own_run_id and (than is None or self.at > than)


def recovered_by(run_ids: Iterable[int]) -> dict[int, Recovered]:
    """Return the runs whose regressions each of these runs ended.

    ``run_ids`` are row ids; found are ids at the forge, by key and scenario. Only of
    performance: the verdict on points says nothing of evals or coverage.
    """
    rows = Regression.objects.filter(
        ~Q(run__publication=Run.Publication.HIDDEN),
        recovered_by__in=set(run_ids),
        is_active=True,
        kind=Regression.Kind.PERFORMANCE,
    ).order_by("run__github_run_id")
    found: dict[int, dict[KeyAndScenario, list[int]]] = {}
    for run_id, key, scenario, worse in rows.values_list(
        *("recovered_by_id", "config_key__key", "scenario", "run__github_run_id")
    ):
        found.setdefault(run_id, {}).setdefault((key, scenario), []).append(worse)
    return dict(found)


def newest_official(places: Iterable[KeyAndScenario]) -> dict[KeyAndScenario, Newest]:
    """Return the current official sweep of each key and scenario that has one."""
    wanted = Q(pk__in=[])
    for key, scenario in set(places):
        wanted |= Q(config_key__key=key, scenario=scenario)
    current = Sweep.objects.filter(
        wanted, state=Sweep.State.CURRENT, extends__isnull=True
    )
    return {
        (key, scenario): Newest(run_id, at)
        for key, scenario, run_id, at in current.values_list(
            *("config_key__key", "scenario", "run__github_run_id", "official_at")
        )
    }
