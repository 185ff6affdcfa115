"""Master YAML to config definitions and the matrix entries its generator makes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.config_keys import fields
from ingest.config_keys.documents import ConfigError, load_mapping
from ingest.config_keys.entries import MatrixEntry, matrix_entry
from ingest.config_keys.fields import MalformedError
from ingest.config_keys.memory import HostMemory, host_memory
from ingest.config_keys.recipes import AGENTIC, FIXED, Block, planned_entries

# The real masters make 1,820 entries together.
MAX_ENTRIES = 20_000
KEY_GRAMMAR = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
# The fields that every entry must have, with the longest text that is stored.
_REQUIRED = {
    "image": 1_000,
    "model": 300,
    "model-prefix": 60,
    "runner": 40,
    "precision": 20,
    "framework": 60,
}
_KNOWN = frozenset(
    {*_REQUIRED, "multinode", "disagg", "router", "kv-p2p-transfer", "scenarios"}
)


@dataclass(frozen=True, slots=True)
class ConfigDefinitionData:
    """One config key as its master defines it.

    ``image`` is as written. ``search_space`` is the value under ``scenarios`` and
    ``raw`` the whole entry, both JSON-able; ``scenario_kinds`` are their names.
    """

    key: str
    model: str
    image: str
    runner: str
    precision: str
    framework: str
    model_prefix: str
    multinode: bool
    disagg: bool
    scenario_kinds: tuple[str, ...]
    search_space: object
    raw: Mapping[str, object]


@dataclass(slots=True)
class Expansion:
    """What one master file holds, in file order, and what of it is malformed."""

    definitions: dict[str, ConfigDefinitionData] = field(default_factory=dict)
    entries: list[MatrixEntry] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)


def expand_master(text: str, runners: str | None = None) -> Expansion:
    """Expand a master file as the generator of the producer does.

    ``runners`` is the text of the runners file. Without it, or where it lacks a
    label, the memory budget of offloading recipes is not known: such entries have
    no fingerprint, and a defect says so. A malformed key costs its own entries
    only. Raises `ConfigError` where one of the texts cannot be used at all.
    """
    hosts = host_memory(runners)
    master, repeated = load_mapping(text)
    expansion = Expansion()
    expansion.defects += [
        f"{key[:80]}: defined more than once, the last one counts" for key in repeated
    ]
    for key, value in master.items():
        _expand_key(expansion, key, value, hosts)
    return expansion


def _expand_key(
    expansion: Expansion, key: str, value: object, hosts: Mapping[str, HostMemory]
) -> None:
    try:
        definition = _definition(key, value)
    except MalformedError as defect:
        expansion.defects.append(f"{key[:80]}: {defect}")
        return
    expansion.definitions[key] = definition
    problems = [f"unknown field {name[:60]}" for name in definition.raw.keys() - _KNOWN]
    problems += _add_entries(expansion, definition, hosts)
    if problems:
        expansion.defects.append(f"{key}: {_summary(problems)}")


def _definition(key: str, value: object) -> ConfigDefinitionData:
    if not KEY_GRAMMAR.fullmatch(key):
        raise MalformedError("a config key is made of letters, digits, '.', '-', '_'")
    raw = fields.mapping(value, "the entry")
    fields.refuse_odd_characters(raw)
    scenarios = raw.get("scenarios")
    kinds = tuple(scenarios) if isinstance(scenarios, Mapping) else ()
    return ConfigDefinitionData(
        key=key,
        **{
            name.replace("-", "_"): fields.text(raw, name, longest=longest)
            for name, longest in _REQUIRED.items()
        },
        multinode=fields.flag(raw, "multinode", default=False),
        disagg=fields.flag(raw, "disagg", default=False),
        scenario_kinds=kinds,
        search_space=scenarios,
        raw=raw,
    )


def _add_entries(
    expansion: Expansion,
    definition: ConfigDefinitionData,
    hosts: Mapping[str, HostMemory],
) -> list[str]:
    """Add the entries of a key; return what is wrong with the blocks left out."""
    problems: list[str] = []
    if definition.disagg and not definition.multinode:
        problems.append("disagg without multinode")
    for where, block in _blocks(definition, problems):
        try:
            made = planned_entries(block, hosts)
            for entry in made.entries:
                expansion.entries.append(
                    matrix_entry(definition.key, entry, hashed=made.complete)
                )
        except MalformedError as defect:
            problems.append(f"{where}: {defect}")
            continue
        if len(expansion.entries) > MAX_ENTRIES:
            raise ConfigError(f"more than {MAX_ENTRIES:,} matrix entries")
        if not made.complete:
            problems.append(f"{where}: no memory figure for runner {block.runner}")
    return problems


def _blocks(
    definition: ConfigDefinitionData, problems: list[str]
) -> Iterator[tuple[str, Block]]:
    """Yield every search-space item with its place; what is no item is a problem."""
    try:
        scenarios = fields.mapping(definition.search_space, "scenarios")
        for kind, groups in scenarios.items():
            if kind not in (FIXED, AGENTIC):
                problems.append(f"unknown scenario {kind[:60]}")
                continue
            yield from _blocks_of(definition, kind, fields.items(groups, kind))
    except MalformedError as defect:
        problems.append(str(defect))


def _blocks_of(
    definition: ConfigDefinitionData, kind: str, groups: Sequence[object]
) -> Iterator[tuple[str, Block]]:
    for at, value in enumerate(groups):
        where = f"{kind}[{at}]"
        group = fields.mapping(value, where)
        space = fields.items(group.get("search-space"), f"{where}.search-space")
        for index, item in enumerate(space):
            place = f"{where}.search-space[{index}]"
            yield place, Block(definition.raw, kind, group, fields.mapping(item, place))


def _summary(problems: list[str]) -> str:
    """Write the first problems in one line, and how many there are more."""
    shown = 3
    rest = len(problems) - shown
    return "; ".join(problems[:shown]) + (f"; and {rest} more" if rest > 0 else "")
