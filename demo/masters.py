"""The demo's master configs at a commit: texts, and the recipes they expand to."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from demo.recipes import Recipe, recipe
from ingest.config_keys import expand_master, expand_wildcards

FOLDER = Path(__file__).parent / "configs"
FILES = ("amd-master.yaml", "nvidia-master.yaml")
RUNNERS = "runners.yaml"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a master: the value at a path under a config key."""

    key: str
    path: tuple[str | int, ...]
    value: object


def image(name: str, *keys: str) -> tuple[Edit, ...]:
    """Return the edits that give keys a new image."""
    return tuple(Edit(key, ("image",), name) for key in keys)


def checkpoint(name: str, *keys: str) -> tuple[Edit, ...]:
    """Return the edits that give keys new weights."""
    return tuple(Edit(key, ("model",), name) for key in keys)


def search_space(key: str, *blocks: dict[str, Any]) -> Edit:
    """Return the edit that replaces the first fixed-length search space of a key."""
    return Edit(key, ("scenarios", "fixed-seq-len", 0, "search-space"), [*blocks])


@dataclass(frozen=True, slots=True)
class Masters:
    """Texts of the config files at one commit, by file name."""

    texts: tuple[tuple[str, str], ...]

    def edited(self, edits: Sequence[Edit]) -> "Masters":
        """Return the masters after some edits."""
        if not edits:
            return self
        return Masters(tuple((name, _edit(text, edits)) for name, text in self.texts))

    def recipes(self, patterns: Iterable[str]) -> list[Recipe]:
        """Expand the config keys that patterns name, in file order."""
        expanded = [item for _, text in self.texts for item in _expand(text)]
        keys = list(dict.fromkeys(item.key for item in expanded))
        named, unknown = expand_wildcards(patterns, keys)
        if unknown:
            raise ValueError(f"no config key is named {', '.join(unknown)}")
        return [item for item in expanded if item.key in named]


def first_masters() -> Masters:
    """Return the masters with which the story begins."""
    return Masters(tuple((name, _read(name)) for name in FILES))


def runners_text() -> str:
    """Return the file that says how much memory the nodes of a label have."""
    return _read(RUNNERS)


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _edit(text: str, edits: Sequence[Edit]) -> str:
    master = _load(text)
    mine = [edit for edit in edits if edit.key in master]
    if not mine:
        return text
    master = copy.deepcopy(master)
    for edit in mine:
        *parents, last = edit.path
        target = master[edit.key]
        for step in parents:
            target = target[step]
        target[last] = edit.value
    return yaml.dump(master, Dumper=yaml.CSafeDumper, sort_keys=False)


@lru_cache(maxsize=64)
def _load(text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return loaded


@lru_cache(maxsize=64)
def _expand(text: str) -> list[Recipe]:
    expansion = expand_master(text, runners_text())
    if expansion.defects:
        raise ValueError(f"the demo's master is malformed: {expansion.defects[0]}")
    return [
        recipe(item.config_key, item.fingerprint, item.concurrencies, item.entry)
        for item in expansion.entries
    ]
