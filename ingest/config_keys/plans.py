"""The plan of a job as an identity, so that it is mapped as the row it becomes."""

import re

from dashboard.vocabulary.scenarios import UNKNOWN
from ingest.jobs import JobPlan
from ingest.normalize import canonical_model, canonical_precision, hardware_name
from ingest.rows import Identity

_LENGTHS = re.compile(r"(\d+)k/(\d+)k|(\d+)_(\d+)")


def job_identity(plan: JobPlan, concurrency: int) -> Identity:
    """Return what the name of a job says about one of its points.

    Image, checkpoint, fingerprint, router and transfer are not in a job name, and
    neither is whether several nodes are disaggregated.
    """
    isl, osl = _lengths(plan.scenario or "")
    return Identity(
        model=canonical_model(plan.model_prefix, None) or plan.model_prefix,
        model_prefix=plan.model_prefix,
        precision=canonical_precision(plan.precision),
        hardware=hardware_name(plan.runner),
        hardware_label=plan.runner,
        framework=plan.framework,
        scenario=plan.scenario or UNKNOWN,
        isl=isl,
        osl=osl,
        deployment=plan.deployment,
        concurrency=concurrency,
        disagg_known=not plan.deployment.multinode,
    )


def _lengths(scenario: str) -> tuple[int | None, int | None]:
    """Return input and output tokens of a scenario text, if it is about lengths."""
    found = _LENGTHS.fullmatch(scenario)
    if found is None:
        return None, None
    if found[1] is not None:
        return int(found[1]) * 1024, int(found[2]) * 1024
    return int(found[3]), int(found[4])
