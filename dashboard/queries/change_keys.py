"""Which config keys a filter of changes means: of today, and of the past."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from dashboard.models import ChangelogEntry, ConfigChange, ConfigKey
from dashboard.vocabulary.checkpoints import family_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFilters:
    """What changes are narrowed to; what is empty or None does not narrow.

    ``key`` is a whole key, else a part of some. ``models`` are families. Dates are of
    UTC and inclusive; what has no date is left out where one is given.
    """

    key: str = ""
    models: tuple[str, ...] = ()
    hardware: str = ""
    kinds: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None

    @property
    def is_of_keys(self) -> bool:
        """Tell whether only changes of some keys are meant."""
        return bool(self.key or self.models or self.hardware)

    def asks_for(self, *kinds: str) -> bool:
        """Tell whether one of these kinds is meant."""
        return not self.kinds or not set(kinds).isdisjoint(self.kinds)


class NamedKey(NamedTuple):
    """A key that is stored, or one of the past that its configs' history names.

    ``prefix`` is what its master calls the model, ``hardware`` is empty where nobody
    tells it. A key is retired where the history removed it and no config defines it.
    """

    key: str
    model: str
    hardware: str = ""
    prefix: str = ""
    is_stored: bool = False
    is_retired: bool = False


def named_keys() -> list[NamedKey]:
    """Return every key that tables name, those of the past after those of today.

    In two queries.
    """
    found = ConfigKey.objects.order_by("key").values_list(
        "key", "model", "hardware", "definition__entry__model-prefix"
    )
    stored = [
        NamedKey(key, model, hardware, prefix or "", is_stored=True)
        for key, model, hardware, prefix in found
    ]
    known = {key.key for key in stored}
    past = _keys_of_the_past().values()
    return stored + sorted(key for key in past if key.key not in known)


def _keys_of_the_past() -> dict[str, NamedKey]:
    """Return keys of the configs' history with the family of their checkpoint."""
    kinds = ConfigChange.Kind
    changes = ConfigChange.objects.order_by("at", "pk")
    found: dict[str, NamedKey] = {}
    for name, kind, after in changes.values_list("config_key", "kind", "after"):
        key = found.get(name, NamedKey(name, ""))
        if kind in {kinds.ADDED, kinds.MODEL}:
            family = family_of(after.partition(", image ")[0]) or key.model
            key = key._replace(model=family)
        if kind in {kinds.ADDED, kinds.REMOVED}:
            key = key._replace(is_retired=kind == kinds.REMOVED)
        found[name] = key
    return found


def keys_meant(filters: ChangeFilters, named: Iterable[NamedKey]) -> list[str] | None:
    """Return the keys and patterns that the filters mean; None where they mean all.

    Where nobody tells the model or the hardware of a key of the past, its name does:
    by the prefixes that masters use for the model, and by the names of GPUs.
    """
    if not filters.is_of_keys:
        return None
    known = {key.key: key for key in named}
    written = ChangelogEntry.objects.values_list("raw_keys", flat=True)
    names = known.keys() | {name for raw in written for name in raw}
    if filters.key:
        names = _holding(filters.key, names)
    prefixes = tuple(
        f"{key.prefix}-"
        for key in known.values()
        if key.prefix and key.model in filters.models
    )
    return sorted(
        name
        for name in names
        if _fits(filters, known.get(name, NamedKey(name, "")), prefixes)
    )


def _holding(text: str, names: Iterable[str]) -> set[str]:
    """Return the key of exactly this name, else all that hold the text."""
    found = set(names)
    if text in found:
        return {text}
    part = text.casefold()
    return {name for name in found if part in name.casefold()}


def _fits(filters: ChangeFilters, key: NamedKey, prefixes: tuple[str, ...]) -> bool:
    is_of_gpu = filters.hardware in {"", key.hardware} or (
        not key.is_stored and f"-{filters.hardware}-" in f"-{key.key}-"
    )
    is_of_model = not filters.models or key.model in filters.models
    return is_of_gpu and (
        is_of_model or (not key.model and key.key.startswith(prefixes))
    )
