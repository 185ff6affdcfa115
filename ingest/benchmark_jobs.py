"""The benchmark jobs of a run, each once: what it was to measure and how it ended."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from dashboard.analysis.eval_plan import EVALUATED_LENGTHS
from dashboard.analysis.job_outcomes import Execution, job_outcome
from dashboard.models import Run
from ingest.artifacts.texts import clean_text, shortened
from ingest.config_keys import Mapping, job_identity
from ingest.jobs import JobPlan, parse_job_name, with_scenarios
from ingest.rows import Identity
from ingest.upserts import Values

INDEXED_TEXT = 500
SHORT_TEXT = 40  # as the columns of scenario and hardware
CLUSTER = "cluster:"
# Machines of a cluster under Slurm are called so: ``h100-dgxc-slurm_03``.
_MACHINE = re.compile(r"(?:-slurm)?[-_]\d+$")


def benchmark_jobs(
    run: Run, map_identity: Callable[[Identity], Mapping]
) -> Iterator[Values]:
    """Yield a row per job whose name the grammar reads, in the columns of its table.

    Jobs of all attempts with one name are one job. Other jobs (set-up, collection)
    measure nothing and are none of these.
    """
    executions: dict[str, list[Execution]] = {}
    machines: dict[str, str] = {}
    jobs = run.jobs.order_by("attempt", "pk")
    for name, attempt, conclusion, machine in jobs.values_list(
        "name", "attempt", "conclusion", "runner_name"
    ):
        executions.setdefault(name, []).append(Execution(attempt, conclusion))
        # A job that never got a machine says nothing against an earlier attempt.
        machines[name] = machine or machines.get(name, "")
    rows: dict[str, Values] = {}
    for name, plan in _plans(list(executions)):
        named = shortened(clean_text(name), INDEXED_TEXT)
        place = _place(plan, map_identity)
        cluster = _cluster(plan, machines[name])
        ended = job_outcome(executions[name])
        rows[named] = (run.pk, named, plan.eval_only, *place, cluster, *ended)
    yield from rows.values()


def _plans(names: list[str]) -> list[tuple[str, JobPlan]]:
    """Return the names that are of benchmark jobs, with what each was to measure."""
    read = {name: plan for name in names if (plan := parse_job_name(name))}
    throughput = {name: plan for name, plan in read.items() if not plan.eval_only}
    told = dict(zip(throughput, with_scenarios(throughput.values()), strict=True))
    # Names of eval jobs tell traces only: of fixed lengths one pair is evaluated.
    evals = {
        name: replace(plan, scenario=plan.scenario or EVALUATED_LENGTHS)
        for name, plan in read.items()
        if plan.eval_only
    }
    return [*told.items(), *evals.items()]


def _place(
    plan: JobPlan, map_identity: Callable[[Identity], Mapping]
) -> tuple[str, str, str]:
    """Return config key, scenario and hardware that a job's name tells."""
    identity = job_identity(plan, max(plan.concurrencies))
    mapping = map_identity(identity)
    scenario = shortened(plan.scenario or "", SHORT_TEXT)
    return mapping.config_key, scenario, shortened(identity.hardware, SHORT_TEXT)


def _cluster(plan: JobPlan, machine: str) -> str:
    """Return the cluster that a job asked for, else the pool of its machine."""
    if plan.runner.startswith(CLUSTER):
        return plan.runner.removeprefix(CLUSTER)
    return shortened(_MACHINE.sub("", machine.lower()), INDEXED_TEXT)
