"""The kinds of changes that are listed, and how a page writes one of them."""

from collections.abc import Iterable, Mapping
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
    """Write deployments with their concurrencies, a text each: ``TP4 c4, c8, c16``.

    ``places`` are pairs (deployment label, concurrencies), as a grid marker has.
    """
    pairs = places if isinstance(places, Iterable) else ()
    return [
        f"{label} {', '.join(f'c{n}' for n in numbers)}" for label, numbers in pairs
    ]


def places_text(places: object) -> str:
    """Write deployments with their concurrencies: ``TP2 c4, c8; TP4 c16``."""
    return "; ".join(bands(places))


def grid_text(change: Mapping[str, Any]) -> str:
    """Say which places a grid marker dropped and added."""
    parts = [(word, change.get(word)) for word in ("dropped", "added")]
    return ", ".join(
        f"{word} {places_text(places)}" for word, places in parts if places
    )


def change_text(change: Mapping[str, Any]) -> str:
    """Say what a break or a marker is about, without its kind."""
    if change.get("kind") == "grid":
        return grid_text(change)
    if "text" in change:
        return str(change["text"])
    return f"{change.get('from', '')} → {change.get('to', '')}"
