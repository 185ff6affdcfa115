"""Which config key a row, or the plan of a job, belongs to, and how that is known."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import cast

from dashboard.vocabulary.deployments import Deployment
from dashboard.vocabulary.scenarios import AGENTIC, UNKNOWN
from ingest.config_keys.entries import MatrixEntry, slashed
from ingest.config_keys.snapshot import Snapshot
from ingest.normalize import canonical_framework
from ingest.rows import Identity

OUTSIDE_CHANGELOG = "outside_changelog"
NOT_IN_SNAPSHOT = "not_in_snapshot"
MAX_KEY = 100
MAX_REMEMBERED = 20_000

Entries = list[MatrixEntry]
Filter = Callable[[MatrixEntry], bool]
View = Callable[[Deployment], object]


@dataclass(frozen=True, slots=True)
class Mapping:
    """The config key of a row.

    ``method`` is ``fingerprint``, ``attributes``, ``changelog``, ``ambiguous`` or
    ``unmapped``; ``candidates`` are all keys that remain, sorted. ``entry`` is the
    entry of the chosen key that fits the row best, None where no snapshot holds it.
    ``flags``: ``outside_changelog`` (the run's changelog does not name the key) and
    ``not_in_snapshot`` (it names the key, the snapshot at hand does not).
    """

    config_key: str
    method: str
    candidates: tuple[str, ...]
    entry: MatrixEntry | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Narrowed:
    """What remains before the concurrency is looked at; the same for many rows.

    ``chosen`` remembers what followed from a concurrency and a checkpoint.
    """

    method: str
    entries: Entries
    flags: tuple[str, ...] = ()
    chosen: dict[tuple[int | None, str | None], Mapping] = field(default_factory=dict)

    def choice_for(self, identity: Identity) -> Mapping:
        """Return the mapping of a row, made once for rows that choose alike."""
        conc, checkpoint = identity.concurrency, identity.checkpoint
        place = (
            conc if conc in self.concurrencies else None,
            checkpoint if checkpoint in self.checkpoints else None,
        )
        if place not in self.chosen:
            self.chosen[place] = _chosen(self, identity)
        return self.chosen[place]

    @cached_property
    def concurrencies(self) -> frozenset[int]:
        """Return those that can choose; with any other every entry stays."""
        return frozenset(c for entry in self.entries for c in entry.concurrencies)

    @cached_property
    def checkpoints(self) -> frozenset[str]:
        """Return those that can choose."""
        return frozenset(entry.checkpoint for entry in self.entries)


def map_row(
    identity: Identity,
    snapshot: Snapshot | None,
    changelog_keys: Collection[str] | None = None,
) -> Mapping:
    """Find the config key of a row.

    1. The keys of the run's changelog are the candidates, else all keys.
    2. A recipe fingerprint decides if one key has it, the concurrency helping; it
       also decides against the changelog, which is flagged.
    3. Else the keys with an entry of the same model, precision, GPU, framework,
       spec method, node layout and scenario; if the changelog has none of them, all
       keys, flagged. Framework names are compared as written, then by alias.
    4. Those are narrowed by runner label, image, topology, offloading, router,
       transfer, concurrency and model id; a filter that leaves nothing is skipped.
    5. Several left: ``ambiguous``, the first by name.
    6. None: the one key that the changelog names and the snapshot lacks, else a
       key made of the attributes, ``unmapped``.

    Empty text and None in the identity mean unknown and filter nothing.
    ``changelog_keys`` are expanded keys that hold for the row's scenario.
    """
    return RowMapper(snapshot, changelog_keys).map(identity)


class RowMapper:
    """Maps many rows against one snapshot and the same changelog keys."""

    def __init__(
        self, snapshot: Snapshot | None, changelog_keys: Collection[str] | None = None
    ) -> None:
        """Take the snapshot of the run and the keys that its changelog names."""
        self._snapshot = snapshot
        self._named = frozenset(changelog_keys or ())

    def map(self, identity: Identity) -> Mapping:
        """Find the config key of a row, as `map_row` does."""
        snapshot, named = self._snapshot, self._named
        narrowed = _remembered(identity, snapshot, named) if snapshot else None
        if narrowed is None:
            return _without_entries(identity, snapshot, named)
        return narrowed.choice_for(identity)


def unmapped_key(identity: Identity) -> str:
    """Make a key of what a row says: ``unmapped-qwen3.5-fp4-mi355x-sglang-8k1k-mtp``.

    Made of ``[a-z0-9.-]``, at most 100 characters; where characters had to go, a
    hash of the attributes follows, so that different rows keep different keys.
    """
    d = identity.deployment
    parts = [
        identity.model or identity.model_prefix,
        identity.precision,
        identity.hardware,
        identity.framework,
        *(["multinode"] if d.multinode else []),
        *(["disagg"] if d.disagg else []),
        _short_scenario(identity.scenario),
        *([d.spec_method] if d.spec_method != "none" else []),
    ]
    text = "-".join(["unmapped", *(part.lower() or "unknown" for part in parts)])
    slug = re.sub(r"[^a-z0-9.-]+", "-", text)[:MAX_KEY]
    if slug == text:
        return slug
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug[: MAX_KEY - 9]}-{digest}"


def _short_scenario(scenario: str) -> str:
    return "agentic" if scenario == AGENTIC else scenario.replace("/", "")


def _remembered(
    identity: Identity, snapshot: Snapshot, named: frozenset[str]
) -> Narrowed | None:
    """Narrow as far as rows of one recipe share it, once per recipe."""
    recipe = (
        identity.model,
        identity.model_prefix,
        identity.precision,
        identity.hardware,
        identity.hardware_label,
        identity.framework,
        identity.scenario,
        identity.deployment,
        identity.image,
        identity.fingerprint,
        identity.router,
        identity.kv_p2p_transfer,
        identity.disagg_known,
        identity.checkpoint is None,
        named,
    )
    known = snapshot.memo.get(recipe, snapshot)
    if known is snapshot:
        if len(snapshot.memo) >= MAX_REMEMBERED:
            snapshot.memo.clear()
        known = snapshot.memo[recipe] = _narrowed(identity, snapshot, named)
    return cast("Narrowed | None", known)


def _narrowed(
    identity: Identity, snapshot: Snapshot, named: frozenset[str]
) -> Narrowed | None:
    if identity.fingerprint:
        found = snapshot.with_fingerprint(identity.fingerprint)
        if found:
            entries, flags = _restricted(found, named)
            return Narrowed("fingerprint", entries, flags)
    alike = _alike(identity, snapshot.with_stack(identity))
    entries, flags = _restricted(alike, named)
    if not entries or (flags and len(_missing(snapshot, named)) == 1):
        return None
    for narrower in _filters(identity):
        entries = _kept(entries, narrower)
    return Narrowed("attributes", entries, flags)


def _restricted(
    entries: Entries, named: frozenset[str]
) -> tuple[Entries, tuple[str, ...]]:
    """Keep what the changelog names; if that is nothing, keep all and say so."""
    inside = [entry for entry in entries if entry.config_key in named]
    if inside or not named or not entries:
        return inside or entries, ()
    return entries, (OUTSIDE_CHANGELOG,)


def _alike(identity: Identity, entries: Iterable[MatrixEntry]) -> Entries:
    """Return the entries of the same stack and scenario, raw framework names first."""
    same = [entry for entry in entries if _is_alike(identity, entry)]
    framework = canonical_framework(identity.framework)
    if not framework:
        return same
    as_written = [e for e in same if e.framework == identity.framework]
    return as_written or [
        e for e in same if canonical_framework(e.framework) == framework
    ]


def _is_alike(identity: Identity, entry: MatrixEntry) -> bool:
    theirs, ours = identity.deployment, entry.deployment
    scenario = "" if identity.scenario == UNKNOWN else identity.scenario
    return (
        theirs.multinode == ours.multinode
        and theirs.spec_method == ours.spec_method
        and (not identity.disagg_known or theirs.disagg == ours.disagg)
        and scenario in ("", entry.scenario)
        and identity.model in ("", entry.model)
        and identity.precision in ("", entry.precision)
        and identity.hardware in ("", entry.hardware)
    )


def _filters(identity: Identity) -> Iterator[Filter]:
    """Yield the filters that the identity can fill, in the order they are used."""
    if identity.hardware_label:
        label = identity.hardware_label.lower()
        yield lambda entry: entry.hardware_label == label
    if identity.image:
        image = slashed(identity.image)
        yield lambda entry: entry.image == image
    for view in _topologies(identity.deployment):
        yield partial(_has_same, view, view(identity.deployment))
    if _tells_offloading(identity):
        yield partial(_has_same, _offloading, _offloading(identity.deployment))
    if identity.router:
        yield lambda entry: entry.router == identity.router
    if identity.kv_p2p_transfer:
        yield lambda entry: entry.kv_p2p_transfer == identity.kv_p2p_transfer


def _has_same(view: View, value: object, entry: MatrixEntry) -> bool:
    return view(entry.deployment) == value


def _topologies(deployment: Deployment) -> Iterator[View]:
    """Yield how to look at a topology: the sizes that every row has, then all.

    Rows of before July 2026 and eval rows do not tell pp, dcp and pcp, so these
    may only choose among entries whose other sizes fit.
    """
    if deployment.tp is not None or deployment.prefill_tp is not None:
        yield _common_sizes
        yield _all_sizes
    if deployment.prefill_hardware and deployment.decode_hardware:
        yield lambda d: (d.prefill_hardware, d.decode_hardware)


def _common_sizes(d: Deployment) -> object:
    if not d.multinode:
        return d.tp, d.ep, d.dp_attention
    prefill = (d.prefill_workers, d.prefill_tp, d.prefill_ep, d.prefill_dp_attention)
    decode = (d.decode_workers, d.decode_tp, d.decode_ep, d.decode_dp_attention)
    return prefill, decode if d.decode_workers else None


def _all_sizes(d: Deployment) -> object:
    prefill = (d.prefill_pp, d.prefill_dcp, d.prefill_pcp)
    decode = (d.decode_pp, d.decode_dcp, d.decode_pcp)
    single = (d.pp, d.dcp, d.pcp)
    return _common_sizes(d), single, prefill, decode if d.decode_workers else None


def _offloading(d: Deployment) -> object:
    return d.kv_offloading, d.kv_offload_backend


def _tells_offloading(identity: Identity) -> bool:
    """Tell whether offloading was stated, or is only the default of the row type.

    Eval rows carry a model but neither image nor offloading; throughput rows carry
    the image, and plans of jobs neither image nor model.
    """
    stated = identity.image or identity.checkpoint is None
    return bool(stated) or identity.deployment.kv_offloading != "none"


def _kept(entries: Entries, narrower: Filter) -> Entries:
    """Return what passes, or everything where nothing does."""
    if len(entries) == 1:
        return entries
    return [entry for entry in entries if narrower(entry)] or entries


def _chosen(narrowed: Narrowed, identity: Identity) -> Mapping:
    """Apply what differs between the rows of a recipe, and take the first key left.

    All keys left are the changelog's, or none of them is: the name decides.
    """
    entries = _kept(narrowed.entries, lambda e: identity.concurrency in e.concurrencies)
    if identity.checkpoint is not None:
        entries = _kept(entries, lambda e: e.checkpoint == identity.checkpoint)
    if len(entries) == 1:
        only = entries[0]
        return Mapping(
            only.config_key, narrowed.method, (only.config_key,), only, narrowed.flags
        )
    keys = tuple(sorted({entry.config_key for entry in entries}))
    return Mapping(
        config_key=keys[0],
        method=narrowed.method if len(keys) == 1 else "ambiguous",
        candidates=keys,
        entry=next(entry for entry in entries if entry.config_key == keys[0]),
        flags=narrowed.flags,
    )


def _missing(snapshot: Snapshot | None, named: frozenset[str]) -> list[str]:
    """Return the named keys that the snapshot does not hold, patterns left out."""
    held = snapshot or ()
    return sorted(key for key in named if "*" not in key and key not in held)


def _without_entries(
    identity: Identity, snapshot: Snapshot | None, named: frozenset[str]
) -> Mapping:
    missing = _missing(snapshot, named)
    if len(missing) != 1:
        return Mapping(unmapped_key(identity), "unmapped", tuple(missing))
    flags = (NOT_IN_SNAPSHOT,) if snapshot else ()
    return Mapping(missing[0], "changelog", tuple(missing), flags=flags)
