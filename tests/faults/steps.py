"""Where a worker stands still for a fault: steps of its request, tables it writes."""

import os
from contextlib import AbstractContextManager

import pytest

from tests.faults.site import Site

# By step: until what the request's progress, or the writing of a table, is held.
STEPS: dict[str, tuple[str, int] | str] = {
    "keeping artifacts": ("keeping artifacts", 9),
    "reading": ("reading", 3),
    "storing": ("storing", 0),
    "jobs": "job",
    "artifacts": "artifact",
    "records": "rawrecord",
    "config files": "configsnapshot",
    "changelog": "changelogentry",
    "deployments": "deployment",
    "sweeps": "sweep",
    "points": "point",
    "evals": "evalresult",
    "verdicts": "judgement",
    "before the commit": "generation",
    "mapping others again": ("done", 0),
}


def held(site: Site, step: str) -> AbstractContextManager[None]:
    """Hold a worker at a step until the block ends."""
    place = STEPS[step]
    if isinstance(place, str):
        return site.writes_held(place)
    return site.held_at_step(*place)


def steps(*short: str) -> list[object]:
    """Return steps as parameters: of those not named only a long run tries all."""
    is_long = os.environ.get("FRONTIERBOARD_LONG") == "1"
    mark = pytest.mark.skipif(not is_long, reason="long: set FRONTIERBOARD_LONG=1")
    rest = [step for step in STEPS if step not in short]
    return [*short, *(pytest.param(step, marks=mark) for step in rest)]
