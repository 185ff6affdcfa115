"""Names and addresses of the imaginary repository that the demo's runs belong to."""

import hashlib

REPOSITORY = "frontierboard/demo-benchmarks"
ADDRESS = f"https://github.com/{REPOSITORY}"
SWEEP_WORKFLOW = ".github/workflows/run-sweep.yml"
MANUAL_WORKFLOW = ".github/workflows/e2e-tests.yml"

# Ids grow with time, and stay far below those of the public benchmark's runs.
FIRST_RUN_ID = 7_100_000_001
RUN_ID_STEP = 1_013

CLUSTERS = (
    "b200-mesa",
    "gb200-rack",
    "h200-mesa",
    "mi300x-mesa",
    "mi325x-fjord",
    "mi355x-fjord",
)
# Runner labels that do not begin with the name of the cluster they stand for.
CLUSTER_OF_LABEL = {"mi355x": "mi355x-fjord", "h200-mesa-multinode": "h200-mesa"}


def run_id(number: int) -> int:
    """Return the id of the story's n-th run, counted from 0."""
    return FIRST_RUN_ID + number * RUN_ID_STEP


def run_url(run: int) -> str:
    """Return the page of a run."""
    return f"{ADDRESS}/actions/runs/{run}"


def pull_url(number: int) -> str:
    """Return the page of a pull request."""
    return f"{ADDRESS}/pull/{number}"


def commit(text: str) -> str:
    """Return a 40-digit commit id made of a text."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def cluster_of(label: str) -> str:
    """Return the cluster behind a runner label (``cluster:`` is only a prefix)."""
    name = label.removeprefix("cluster:")
    return CLUSTER_OF_LABEL.get(name, name)
