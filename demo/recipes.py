"""Recipes: what one generated matrix entry asks a job to serve and measure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from demo.repository import cluster_of


@dataclass(frozen=True, slots=True)
class Role:
    """Equal workers of one role and their parallel sizes."""

    workers: int
    tp: int
    pp: int
    dcp: int
    pcp: int
    ep: int
    dp_attention: bool

    @property
    def gpus(self) -> int:
        """GPUs of all workers; expert and decode-context parallelism add none."""
        return self.workers * self.tp * self.pp * self.pcp


@dataclass(frozen=True, slots=True)
class Recipe:
    """One matrix entry. ``lengths`` is (isl, osl), None for agentic traces.

    ``roles`` holds one role on a single node, prefill and decode on several nodes.
    """

    key: str
    fingerprint: str
    concurrencies: tuple[int, ...]
    exp_name: str
    model: str
    precision: str
    framework: str
    label: str
    image: str
    checkpoint: str
    spec: str
    lengths: tuple[int, int] | None
    disagg: bool
    roles: tuple[Role, ...]
    offloading: str
    backend: str | None
    dram_gb: int
    router: Mapping[str, str] | None
    transfer: str | None

    @property
    def hardware(self) -> str:
        """The GPU behind the runner label."""
        return self.cluster.partition("-")[0]

    @property
    def cluster(self) -> str:
        """The cluster that the runner label stands for."""
        return cluster_of(self.label)

    @property
    def multinode(self) -> bool:
        """Whether roles are served apart, on several nodes."""
        return len(self.roles) > 1

    @property
    def deployment(self) -> str:
        """What makes two recipes the same line of points, whatever their software."""
        return f"{self.key}|{self.lengths}|{self.roles}|{self.offloading}"

    @property
    def gpus(self) -> int:
        """GPUs of the whole deployment."""
        return sum(role.gpus for role in self.roles)


def recipe(
    key: str, fingerprint: str, concurrencies: tuple[int, ...], entry: Mapping[str, Any]
) -> Recipe:
    """Read a matrix entry."""
    backend = entry.get("kv-offload-backend")
    return Recipe(
        key=key,
        fingerprint=fingerprint,
        concurrencies=concurrencies,
        exp_name=entry["exp-name"],
        model=entry["model-prefix"],
        precision=entry["precision"],
        framework=entry["framework"],
        label=entry["runner"],
        image=entry["image"],
        checkpoint=entry["model"],
        spec=entry["spec-decoding"],
        lengths=(entry["isl"], entry["osl"]) if "isl" in entry else None,
        disagg=entry.get("disagg", False),
        roles=_roles(entry),
        offloading=entry.get("kv-offloading", "none"),
        backend=backend["name"] if backend else None,
        dram_gb=entry.get("total-cpu-dram-gb", 0),
        router=entry.get("router"),
        transfer=entry.get("kv-p2p-transfer"),
    )


def _roles(entry: Mapping[str, Any]) -> tuple[Role, ...]:
    if "prefill" in entry:
        return tuple(_role(entry[name]) for name in ("prefill", "decode"))
    return (_role({"num-worker": 1, **entry}),)


def _role(block: Mapping[str, Any]) -> Role:
    return Role(
        workers=block["num-worker"],
        tp=block["tp"],
        pp=block["pp"],
        dcp=block["dcp-size"],
        pcp=block["pcp-size"],
        ep=block["ep"],
        dp_attention=block["dp-attn"],
    )
