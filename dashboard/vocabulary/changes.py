"""The kinds of changes that are listed, and how a page writes one of them."""

from collections.abc import Mapping
from typing import Any

SWAP = "swap"
CHANGELOG = "changelog"
DEFECT = "defect"

# What may differ between two official sweeps of a key, and what a config's history
# tells. Some kinds are both.
MEASURED = (
    *("image", "grid", "recipe", "runner", "precision", "spec_method"),
    *("acceptance", "harness", "notice"),
)
CONFIGURED = (
    *("added", "removed", "model", "image", "runner", "precision"),
    *("framework", "model-prefix"),
)

KINDS: Mapping[str, str] = {
    SWAP: "checkpoint swap",
    CHANGELOG: "changelog entry",
    "image": "image",
    "grid": "grid",
    "recipe": "recipe",
    "runner": "runner",
    "precision": "precision",
    "spec_method": "speculative method",
    "acceptance": "acceptance length",
    "harness": "harness",
    "notice": "notice",
    "added": "key added",
    "removed": "key removed",
    "model": "checkpoint's name",
    "framework": "framework",
    "model-prefix": "model prefix",
    DEFECT: "defect",
}


def kind_label(kind: str) -> str:
    """Return how a kind is written on a page."""
    return KINDS.get(kind, kind.replace("_", " "))


def bands(places: object) -> list[str]:
    """Write deployments with their concurrencies: ``TP4 c4, 8, 16``.

    ``places`` is a list of [deployment label, [concurrencies]], as a grid marker has.
    """
    pairs = places if isinstance(places, list) else []
    return [f"{label} c{', '.join(map(str, numbers))}" for label, numbers in pairs]


def change_text(change: Mapping[str, Any]) -> str:
    """Say what a break or a marker is about, without its kind."""
    if change.get("kind") == "grid":
        dropped, added = bands(change.get("dropped")), bands(change.get("added"))
        told = ["dropped " + "; ".join(dropped)] if dropped else []
        told += ["added " + "; ".join(added)] if added else []
        return ", ".join(told)
    if "text" in change:
        return str(change["text"])
    return f"{change.get('from', '')} → {change.get('to', '')}"
