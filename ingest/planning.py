"""What a run was going to measure: from its jobs, else from its changelog's matrix."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from dashboard.vocabulary.deployments import deployment_label
from ingest.config_keys import Mapping, MatrixEntry, Snapshot, job_identity
from ingest.jobs import JobPlan, parse_job_name, planned_evals, planned_points
from ingest.mapping import ExpandedEntry
from ingest.rows import Identity

Place = tuple[str, int]  # deployment label, concurrency
SweepName = tuple[str, str]  # config key, scenario


@dataclass(frozen=True, slots=True)
class Plan:
    """Planned places per (config key, scenario); None where nobody can tell.

    ``identities`` holds what a job says of a key, for keys no config defines.
    """

    sweeps: dict[SweepName, list[Place]] | None
    source: str  # jobs | matrix | unknown
    identities: dict[str, Identity] = field(default_factory=dict)

    @property
    def total(self) -> int | None:
        """How many points were planned; None where nobody can tell."""
        if self.sweeps is None:
            return None
        return sum(len(places) for places in self.sweeps.values())

    def places(self, key: str, scenario: str) -> list[Place] | None:
        """Return the planned places of one sweep; None where no plan is known.

        What was measured though no job or entry planned it has no plan either.
        """
        return None if self.sweeps is None else self.sweeps.get((key, scenario))


NO_PLAN = Plan(None, "unknown")


def plan_from_jobs(
    names: Iterable[str], map_identity: Callable[[Identity], Mapping]
) -> Plan:
    """Plan the points that throughput jobs name, whatever became of the jobs.

    Without a job whose name can be read nobody can tell what was planned.
    """
    plans = _read(names)
    if not plans:
        return NO_PLAN
    found: dict[SweepName, set[Place]] = {}
    identities = {}
    for plan, concurrency in planned_points(plans):
        identity = job_identity(plan, concurrency)
        mapping = map_identity(identity)
        label = deployment_label(identity.deployment)
        sweep = (mapping.config_key, identity.scenario)
        found.setdefault(sweep, set()).add((label, concurrency))
        identities[mapping.config_key] = identity
    return Plan(_sorted(found), "jobs", identities)


def eval_count_from_jobs(names: Iterable[str]) -> int | None:
    """Return how many evals jobs name, None where no job's name can be read."""
    plans = _read(names)
    return planned_evals(plans) if plans else None


def _read(names: Iterable[str]) -> list[JobPlan]:
    return [plan for name in names if (plan := parse_job_name(name)) is not None]


def plan_from_matrix(snapshot: Snapshot, entries: Sequence[ExpandedEntry]) -> Plan:
    """Plan every point that the matrix makes of what a changelog asks for.

    Not of what it only adds to: which points are new is not in the changelog.
    """
    found: dict[SweepName, set[Place]] = {}
    for entry in snapshot.entries:
        if _is_asked_for(entry, entries):
            label = deployment_label(entry.deployment)
            places = found.setdefault((entry.config_key, entry.scenario), set())
            places.update((label, c) for c in entry.concurrencies)
    return Plan(_sorted(found), "matrix") if found else NO_PLAN


def _is_asked_for(entry: MatrixEntry, changelog: Sequence[ExpandedEntry]) -> bool:
    asking = [
        e
        for e in changelog
        if not e.is_without_points
        and entry.config_key in e.keys
        and e.covers(entry.scenario)
    ]
    return bool(asking) and not any(e.row.append_only for e in asking)


def _sorted(found: dict[SweepName, set[Place]]) -> dict[SweepName, list[Place]]:
    return {sweep: sorted(places) for sweep, places in sorted(found.items())}
