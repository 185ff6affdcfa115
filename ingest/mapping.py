"""Rows of one run to config keys, with the doubts that come of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dashboard.analysis.physics import FlagText, Measurement, flags_of_all
from dashboard.vocabulary.provenance import PUBLISHED
from dashboard.vocabulary.scenarios import AGENTIC
from ingest.config_keys import (
    KEY_GRAMMAR,
    Mapping,
    RowMapper,
    Snapshot,
    expand_wildcards,
)
from ingest.rows import ChangelogRow, EvalRow, Identity, PointRow, SkipRow

Flags = list[FlagText]

AGENTIC_TYPE, FIXED_TYPE = "agentic-coding", "fixed-seq-len"
_TOGETHER = 1_000  # points; few enough to be made while the database stores as many


def scenario_type(scenario: str) -> str:
    """Return the word by which changelogs and configs name a kind of scenario."""
    return AGENTIC_TYPE if scenario == AGENTIC else FIXED_TYPE


@dataclass(frozen=True, slots=True)
class ExpandedEntry:
    """A changelog entry with its keys expanded against the run's snapshot."""

    row: ChangelogRow
    keys: list[str]
    unknown: list[str]

    @property
    def is_without_points(self) -> bool:
        """Tell whether the entry asks for evals only."""
        return self.row.evals_only or self.row.all_evals

    def covers(self, scenario: str) -> bool:
        """Tell whether the entry asks for a scenario."""
        types = self.row.scenario_types
        return types is None or scenario_type(scenario) in types


@dataclass(slots=True)
class MappedPoint:
    """A point row and the key it belongs to."""

    row: PointRow
    mapping: Mapping

    @property
    def is_published(self) -> bool:
        """Tell whether the official dashboard says it, and no artifact."""
        return self.row.facts.get("provenance") == PUBLISHED


@dataclass(frozen=True, slots=True)
class MappedEval:
    """An eval row and the key it belongs to."""

    row: EvalRow
    mapping: Mapping


def expand_entries(
    rows: Iterable[ChangelogRow], snapshot: Snapshot | None
) -> list[ExpandedEntry]:
    """Expand changelog keys at the run's own revision.

    Keys that the snapshot does not know are kept as unknown, not invented. Without
    a snapshot every key without a wildcard stands for itself.
    """
    entries = []
    for row in rows:
        known = list(snapshot.keys) if snapshot else _plain(row.config_keys)
        keys, unknown = expand_wildcards(row.config_keys, known)
        entries.append(ExpandedEntry(row, keys, unknown))
    return entries


def _plain(keys: Iterable[str]) -> list[str]:
    """Return what can be a config key: no pattern, and no text that none could be."""
    return [key for key in keys if KEY_GRAMMAR.fullmatch(key)]


def keys_for(entries: Sequence[ExpandedEntry], scenario: str) -> list[str] | None:
    """Return the keys that the changelog names for a scenario; None without one.

    A key that the snapshot lacks is named all the same: it may be newer than it.
    """
    covering = [e for e in entries if e.covers(scenario)]
    found = [key for e in covering for key in (*e.keys, *_plain(e.unknown))]
    return list(dict.fromkeys(found)) or None


class RunMapper:
    """Maps the rows of one run; the changelog's keys are found once per scenario."""

    def __init__(
        self, snapshot: Snapshot | None, entries: Sequence[ExpandedEntry]
    ) -> None:
        """Take the matrix and the changelog that apply to the run."""
        self.snapshot = snapshot
        self.entries = entries
        self._mappers: dict[str, RowMapper] = {}
        self._evals_only: dict[tuple[str, str], bool] = {}

    def map(self, identity: Identity) -> Mapping:
        """Map one row's identity to its config key."""
        return self.mapper_for(identity.scenario).map(identity)

    def mapper_for(self, scenario: str) -> RowMapper:
        """Return the mapper of a scenario: changelog entries may name only one."""
        if scenario not in self._mappers:
            keys = keys_for(self.entries, scenario)
            self._mappers[scenario] = RowMapper(self.snapshot, keys)
        return self._mappers[scenario]

    def map_point(self, row: PointRow) -> MappedPoint | SkipRow:
        """Map one point row, or refuse it where its key ran evals only."""
        mapping = self.map(row.identity)
        if self.is_evals_only(mapping.config_key, row.identity.scenario):
            detail = f"the changelog asks only for evals of {mapping.config_key}"
            return SkipRow(row.ref, "evals_only", detail)
        return MappedPoint(row, mapping)

    def is_evals_only(self, config_key: str, scenario: str) -> bool:
        """Tell whether every entry that names the key asks only for evals."""
        place = (config_key, scenario)
        if place not in self._evals_only:
            self._evals_only[place] = self._asks_only_evals(*place)
        return self._evals_only[place]

    def _asks_only_evals(self, config_key: str, scenario: str) -> bool:
        naming = [
            e
            for e in self.entries
            if config_key in (*e.keys, *e.unknown) and e.covers(scenario)
        ]
        return bool(naming) and all(e.is_without_points for e in naming)

    def map_evals(
        self, rows: Iterable[EvalRow], measured: set[tuple[str, str]]
    ) -> list[MappedEval]:
        """Map eval rows; ``measured`` are the (key, scenario) pairs with points.

        Eval rows name neither image nor recipe. Where they fit several keys, the
        one that the same run measured is the one they belong to.
        """
        mapped = []
        for row in rows:
            mapping = self.map(row.identity)
            if mapping.method == "ambiguous":
                mapping = _prefer_measured(mapping, row.identity.scenario, measured)
            mapped.append(MappedEval(row, mapping))
        return mapped


def _prefer_measured(
    mapping: Mapping, scenario: str, measured: set[tuple[str, str]]
) -> Mapping:
    fitting = [key for key in mapping.candidates if (key, scenario) in measured]
    if len(fitting) != 1:
        return mapping
    return Mapping(
        config_key=fitting[0],
        method="attributes",
        candidates=mapping.candidates,
        entry=None,
        flags=(),
    )


def flagged(points: Sequence[MappedPoint]) -> Iterator[tuple[MappedPoint, Flags]]:
    """Yield points with every doubt about them: from reading, mapping and physics.

    Found for some at a time, just before these are stored: the database is busy then
    and this process would wait.
    """
    for start in range(0, len(points), _TOGETHER):
        part = points[start : start + _TOGETHER]
        physical = flags_of_all([_measurement(point.row) for point in part])
        for point, found in zip(part, physical, strict=True):
            yield point, [*_doubts(point.row, point.mapping), *found]


def _doubts(row: PointRow, mapping: Mapping) -> Iterator[FlagText]:
    # A stored record has its fields in another order than the upload had.
    yield from sorted(row.warnings)
    yield from _mapping_flags(mapping)
    yield from _spec_flags(row.identity, mapping)


def _measurement(row: PointRow) -> Measurement:
    identity = row.identity
    fixed = identity.scenario != AGENTIC
    return Measurement(
        row.metrics,
        identity.deployment,
        identity.concurrency,
        identity.osl if fixed else None,
        row.gpus,
        row.prefill_gpus,
        row.decode_gpus,
        fixed and identity.deployment.multinode,
        _flag(row.facts.get("power_valid")),
    )


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _mapping_flags(mapping: Mapping) -> list[FlagText]:
    if not mapping.flags and mapping.method not in ("ambiguous", "unmapped"):
        return []
    texts = {
        "outside_changelog": f"{mapping.config_key} is not named by the changelog",
        "config_key_ambiguous": f"fits {', '.join(mapping.candidates[:6])}",
        "config_key_unmapped": "fits no config key",
    }
    codes = list(mapping.flags)
    if mapping.method == "ambiguous":
        codes.append("config_key_ambiguous")
    if mapping.method == "unmapped":
        codes.append("config_key_unmapped")
    return [(code, texts.get(code, "")) for code in dict.fromkeys(codes)]


def _spec_flags(identity: Identity, mapping: Mapping) -> list[FlagText]:
    """Flag a row without speculative decoding under a key that names MTP.

    Only where no matrix entry says that the key holds such rows: names prove nothing.
    """
    spec = identity.deployment.spec_method
    if spec != "none" or mapping.entry is not None:
        return []
    if "mtp" in mapping.config_key.split("-"):
        text = f"spec_decoding is {spec}, the key {mapping.config_key} says mtp"
        return [("spec_differs_from_key", text)]
    return []
