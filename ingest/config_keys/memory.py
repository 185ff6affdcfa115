"""How much host memory a recipe may use for KV offloading, by runner label."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from ingest.config_keys.documents import load_mapping
from ingest.config_keys.fields import MalformedError, integer, mapping

MIB = 1024 * 1024
GB = 10**9
# The generator never plans with more than 3,000 GB, counted in whole MiB.
MOST_MIB = 3_000 * GB // MIB


@dataclass(frozen=True, slots=True)
class HostMemory:
    """Memory of one node (MiB) and the GPUs that share it."""

    mib: int
    gpus: int


def host_memory(runners: str | None) -> dict[str, HostMemory]:
    """Read the ``hardware`` table of a runners file; labels it lacks are absent.

    Raises `ConfigError` for text that is not a mapping.
    """
    if runners is None:
        return {}
    table = load_mapping(runners)[0].get("hardware")
    if not isinstance(table, Mapping):
        return {}
    found = {}
    for label, block in table.items():
        try:
            found[str(label)] = _host(mapping(block, str(label)))
        except MalformedError:
            continue
    return found


def budget_gb(host: HostMemory, share: Decimal, gpus: int) -> int:
    """Return the whole decimal GB for ``gpus`` GPUs of a node.

    Memory of the node x share x the part of its GPUs in use, rounded down.
    """
    used = Decimal(min(gpus, host.gpus)) / host.gpus
    return int(min(host.mib, MOST_MIB) * MIB * share * used / GB)


def _host(block: Mapping[str, object]) -> HostMemory:
    return HostMemory(
        mib=integer(block, "available-cpu-dram-mib"),
        gpus=integer(block, "gpus-per-node"),
    )
