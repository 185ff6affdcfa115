"""A deployment: one exact topology under a config key, and the one way to write it."""

import re
from typing import NamedTuple


class Deployment(NamedTuple):
    """One exact topology; equal tuples are the same deployment.

    ``tp`` .. ``dp_attention`` describe a single node and are None on several nodes;
    the ``prefill_``/``decode_`` fields describe roles and are None on a single node.
    Aggregated multinode has ``decode_workers`` 0 and no other decode field.
    GPU counts, router and transfer library do not take part: evals never carry them.
    """

    multinode: bool
    disagg: bool
    tp: int | None = None
    pp: int | None = None
    dcp: int | None = None
    pcp: int | None = None
    ep: int | None = None
    dp_attention: bool | None = None
    prefill_workers: int | None = None
    prefill_tp: int | None = None
    prefill_pp: int | None = None
    prefill_dcp: int | None = None
    prefill_pcp: int | None = None
    prefill_ep: int | None = None
    prefill_dp_attention: bool | None = None
    decode_workers: int | None = None
    decode_tp: int | None = None
    decode_pp: int | None = None
    decode_dcp: int | None = None
    decode_pcp: int | None = None
    decode_ep: int | None = None
    decode_dp_attention: bool | None = None
    prefill_hardware: str = ""
    decode_hardware: str = ""
    kv_offloading: str = "none"
    kv_offload_backend: str = ""
    spec_method: str = "none"


Sizes = tuple[int | None, int | None, int | None, int | None, int | None, bool | None]


def parallelism(sizes: Sizes) -> str:
    """Write parallel sizes as ``TP8/PP2/DCP8/EP8 DPA``; sizes of 1 are left out.

    ``sizes`` are tp, pp, dcp, pcp, ep and whether attention is data parallel.
    """
    tp, pp, dcp, pcp, ep, dp_attention = sizes
    parts = [f"TP{tp}"]
    named = (("PP", pp), ("DCP", dcp), ("PCP", pcp), ("EP", ep))
    parts += [f"{name}{size}" for name, size in named if size is not None and size > 1]
    return "/".join(parts) + (" DPA" if dp_attention else "")


def deployment_label(d: Deployment) -> str:
    """Write a deployment by the grammar of the API.

    ``TP2/EP2``, ``TP8/EP8 DPA``, ``TP4 offload=dram:hicache``,
    ``1P TP4 x 4D TP8/EP8 DPA``; the spec method follows when it is not none.
    """
    if d.multinode:
        # The first disaggregated rows did not count their workers.
        workers = "?" if d.prefill_workers is None else d.prefill_workers
        text = f"{workers}P {parallelism(_sizes(d, 'prefill_'))}"
        if d.decode_workers:
            text += f" x {d.decode_workers}D {parallelism(_sizes(d, 'decode_'))}"
    else:
        text = parallelism(_sizes(d, ""))
    if d.kv_offloading != "none":
        backend = f":{d.kv_offload_backend}" if d.kv_offload_backend else ""
        text += f" offload={d.kv_offloading}{backend}"
    return text if d.spec_method == "none" else f"{text} {d.spec_method}"


def label_order(label: str) -> list[tuple[int, str]]:
    """Return a sort key of labels: numbers by their size, so that TP16 follows TP4."""
    parts = re.split(r"(\d+)", label)
    return [(int(p), "") if p.isdecimal() else (-1, p) for p in parts]


def _sizes(d: Deployment, role: str) -> Sizes:
    names = ("tp", "pp", "dcp", "pcp", "ep", "dp_attention")
    tp, pp, dcp, pcp, ep, dp_attention = (getattr(d, role + name) for name in names)
    return tp, pp, dcp, pcp, ep, dp_attention
