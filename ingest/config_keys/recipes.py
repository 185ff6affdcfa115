"""One item of a search space to the generator's matrix entries, field by field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ingest.config_keys import fields
from ingest.config_keys.fields import MalformedError
from ingest.config_keys.memory import HostMemory, budget_gb

FIXED, AGENTIC = "fixed-seq-len", "agentic-coding"
# Room beside input and output tokens for the chat template.
CONTEXT_MARGIN = 256
AGENTIC_SECONDS = 3600
MAX_CONCURRENCIES = 1_000
_SEQUENCES = {(1024, 1024): "1k1k", (8192, 1024): "8k1k"}
_BASE_FIELDS = ("image", "model", "model-prefix", "precision", "framework", "runner")

Entry = dict[str, object]


@dataclass(frozen=True, slots=True)
class Block:
    """One search-space item with the scenario group and the key around it."""

    config: Mapping[str, object]
    kind: str
    group: Mapping[str, object]
    item: Mapping[str, object]

    @property
    def multinode(self) -> bool:
        """Tell whether the key runs on several nodes."""
        return self.config.get("multinode") is True

    @property
    def runner(self) -> str:
        """Return the runner label of the key."""
        return str(self.config["runner"])


class Planned(NamedTuple):
    """Entries of one item; not complete where a field could not be worked out."""

    entries: list[Entry]
    complete: bool


def planned_entries(block: Block, hosts: Mapping[str, HostMemory]) -> Planned:
    """Return the entries that the generator makes of one search-space item.

    On one node, and for agentic scenarios, every concurrency is an entry; fixed
    lengths on several nodes put all concurrencies into one entry. Raises
    `MalformedError` with what the generator would refuse.
    """
    common = _common(block)
    concurrencies = _concurrencies(block.item)
    if block.kind == FIXED:
        return Planned(_fixed(block, common, concurrencies), complete=True)
    return _agentic(block, common, concurrencies, hosts)


def _common(block: Block) -> Entry:
    """Return what all entries of the item share: names, topology, router."""
    entry: Entry = {name: block.config[name] for name in _BASE_FIELDS}
    entry["spec-decoding"] = fields.text(block.item, "spec-decoding", "none")
    if block.multinode:
        entry["prefill"] = _role(block.item, "prefill")
        entry["decode"] = _role(block.item, "decode")
        entry["disagg"] = block.config.get("disagg") is True
    else:
        entry |= _topology(block.item)
    for name in ("router", "kv-p2p-transfer"):
        value = block.item.get(name, block.config.get(name))
        if value is not None:
            entry[name] = value
    return entry


def _topology(source: Mapping[str, object]) -> Entry:
    tp, dcp = fields.integer(source, "tp"), fields.integer(source, "dcp-size", 1)
    if tp % dcp:
        raise MalformedError(f"tp {tp} cannot be divided by dcp-size {dcp}")
    return {
        "tp": tp,
        "pp": fields.integer(source, "pp", 1),
        "dcp-size": dcp,
        "pcp-size": fields.integer(source, "pcp-size", 1),
        "ep": fields.integer(source, "ep", 1),
        "dp-attn": fields.flag(source, "dp-attn", default=False),
    }


def _role(item: Mapping[str, object], name: str) -> Entry:
    source = fields.mapping(item.get(name), name)
    least = 1 if name == "prefill" else 0
    role: Entry = {"num-worker": fields.integer(source, "num-worker", least=least)}
    role |= _topology(source)
    if "hardware" in source:
        role["hardware"] = fields.text(source, "hardware")
    if "additional-settings" in source:
        settings = fields.items(source["additional-settings"], "additional-settings")
        role["additional-settings"] = list(settings)
    return role


def _concurrencies(item: Mapping[str, object]) -> list[int]:
    """Return the list as written, or the range doubled from start up to its end."""
    if "conc-list" in item:
        values = fields.items(item["conc-list"], "conc-list")
        if len(values) > MAX_CONCURRENCIES:
            raise MalformedError(f"conc-list has {len(values):,} values")
        return [fields.checked_integer(value, "conc-list") for value in values]
    start, end = fields.integer(item, "conc-start"), fields.integer(item, "conc-end")
    if end < start:
        raise MalformedError(f"conc-end {end} is below conc-start {start}")
    doubled = []
    while start < end:
        doubled.append(start)
        start *= 2
    return [*doubled, end]


def _fixed(block: Block, common: Entry, concurrencies: Sequence[int]) -> list[Entry]:
    isl, osl = fields.integer(block.group, "isl"), fields.integer(block.group, "osl")
    sequence = _SEQUENCES.get((isl, osl), f"{isl}_{osl}")
    entry: Entry = common | {
        "isl": isl,
        "osl": osl,
        "max-model-len": isl + osl + CONTEXT_MARGIN,
        "exp-name": f"{common['model-prefix']}_{sequence}",
        "disagg": common.get("disagg", False),
        "run-eval": False,
    }
    if block.multinode:
        return [entry | {"conc": list(concurrencies)}]
    return [entry | {"conc": concurrency} for concurrency in concurrencies]


def _agentic(
    block: Block,
    common: Entry,
    concurrencies: Sequence[int],
    hosts: Mapping[str, HostMemory],
) -> Planned:
    offloading = fields.text(block.item, "kv-offloading", "none")
    budget = 0 if offloading == "none" else _budget(block, common, hosts)
    entry: Entry = common | {
        "kv-offloading": offloading,
        "duration": AGENTIC_SECONDS,
        "scenario-type": AGENTIC,
    }
    if budget is not None:
        entry["total-cpu-dram-gb"] = budget
    if "kv-offload-backend" in block.item:
        backend = fields.mapping(block.item["kv-offload-backend"], "kv-offload-backend")
        fields.text(backend, "name")
        entry["kv-offload-backend"] = backend
    made = [_agentic_entry(entry, concurrency) for concurrency in concurrencies]
    return Planned(made, complete=budget is not None)


def _agentic_entry(entry: Entry, concurrency: int) -> Entry:
    conc = [concurrency] if "prefill" in entry else concurrency
    return entry | {"conc": conc, "exp-name": _agentic_name(entry, concurrency)}


def _agentic_name(entry: Entry, concurrency: int) -> str:
    """Return the experiment name, which carries topology and offloading."""
    prefix, spec = entry["model-prefix"], entry["spec-decoding"]
    offload = ""
    if "kv-offload-backend" in entry:
        backend = fields.mapping(entry["kv-offload-backend"], "kv-offload-backend")
        offload = f"_kv{entry['kv-offloading']}-{backend['name']}"
    if "prefill" in entry:
        roles = f"p{_role_name(entry['prefill'])}_d{_role_name(entry['decode'])}"
        return f"{prefix}_{roles}_conc{concurrency}{offload}"
    suffix = "" if spec == "none" else f"_spec-{spec}"
    offload = offload or f"_kv{entry['kv-offloading']}"
    return f"{prefix}_tp{entry['tp']}_conc{concurrency}{offload}{suffix}"


def _role_name(role: object) -> str:
    sizes = fields.mapping(role, "role")
    experts = "" if sizes["ep"] == 1 else f"ep{sizes['ep']}"
    attention = "dpa" if sizes["dp-attn"] else ""
    return f"{sizes['num-worker']}x{sizes['tp']}{experts}{attention}"


def _budget(block: Block, common: Entry, hosts: Mapping[str, HostMemory]) -> int | None:
    """Return the memory (GB) for offloading, None where the host is not known.

    On several nodes the prefill workers count: each gets the part of its node
    that its GPUs are.
    """
    share = block.group.get("dram-utilization")
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise MalformedError("kv-offloading without a dram-utilization")
    if not 0 < share <= 1:
        raise MalformedError(f"dram-utilization {fields.shown(share)} is out of range")
    host = hosts.get(block.runner)
    if host is None:
        return None
    role = fields.mapping(common.get("prefill", common), "prefill")
    gpus = (
        fields.integer(role, "tp")
        * fields.integer(role, "pp")
        * fields.integer(role, "pcp-size")
    )
    return budget_gb(host, Decimal(str(share)), gpus)
