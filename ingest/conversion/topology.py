"""Deployments and GPU counts of rows, from their sizes and roles."""

from functools import lru_cache
from typing import NamedTuple

from dashboard.vocabulary.deployments import Deployment
from ingest.artifacts.names import NameParts, Parallel
from ingest.conversion.records import RefusedError
from ingest.schemas.points import PointRecord, Topology

_NO_SIZES = Parallel()


class Mode(NamedTuple):
    """What a deployment holds besides its sizes."""

    disagg: bool
    spec_method: str
    kv_offloading: str = "none"
    kv_offload_backend: str = ""


class Gpus(NamedTuple):
    """GPU counts of a point; None where they cannot be known."""

    total: int | None
    prefill: int | None = None
    decode: int | None = None


@lru_cache(maxsize=16384)
def _shared(deployment: Deployment) -> Deployment:
    """Return one object for equal deployments: large aggregates repeat a few."""
    return deployment


def deployment_of(
    row: Topology, mode: Mode, names: NameParts, *, multinode: bool
) -> Deployment:
    """Return the deployment of a row; sizes that it lacks come from the name, or 1.

    Raises `RefusedError` ``missing_field`` where it has no tensor parallel size.
    """
    build = _several_nodes if multinode else _single_node
    return _shared(build(row, mode, names))


def _single_node(row: Topology, mode: Mode, names: NameParts) -> Deployment:
    name = names.single or _NO_SIZES
    tp, ep, dpa = row.tp, row.ep, row.dp_attention
    if tp is None:
        # Older single-node rows of the second schema only have the roles.
        tp, ep, dpa = row.prefill_tp, row.prefill_ep, row.prefill_dp_attention
    return Deployment(
        multinode=False,
        disagg=mode.disagg,
        tp=_required(tp, name.tp, "tp"),
        pp=_size(row.pp, name.pp),
        dcp=_size(row.dcp_size, name.dcp),
        pcp=_size(row.pcp_size, name.pcp),
        ep=_size(ep, name.ep),
        dp_attention=_flag(dpa, name.dp_attention),
        kv_offloading=mode.kv_offloading,
        kv_offload_backend=mode.kv_offload_backend,
        spec_method=mode.spec_method,
    )


def _several_nodes(row: Topology, mode: Mode, names: NameParts) -> Deployment:
    if row.prefill_tp is None and row.tp is not None:
        row = _both_roles(row)
    name = names.prefill or _NO_SIZES
    prefill = Deployment(
        multinode=True,
        disagg=mode.disagg,
        prefill_workers=_first(row.prefill_num_workers, name.workers),
        prefill_tp=_required(row.prefill_tp, name.tp, "prefill_tp"),
        prefill_pp=_size(row.prefill_pp, name.pp),
        prefill_dcp=_size(row.prefill_dcp_size, name.dcp),
        prefill_pcp=_size(row.prefill_pcp_size, name.pcp),
        prefill_ep=_size(row.prefill_ep, name.ep),
        prefill_dp_attention=_flag(row.prefill_dp_attention, name.dp_attention),
        prefill_hardware=(row.prefill_hw or "").lower(),
        kv_offloading=mode.kv_offloading,
        kv_offload_backend=mode.kv_offload_backend,
        spec_method=mode.spec_method,
    )
    if _has_no_decode(row):
        return prefill._replace(decode_workers=0)
    return _with_decode(prefill, row, names.decode or _NO_SIZES)


def _with_decode(prefill: Deployment, row: Topology, name: Parallel) -> Deployment:
    return prefill._replace(
        decode_workers=_first(row.decode_num_workers, name.workers),
        decode_tp=_required(row.decode_tp, name.tp, "decode_tp"),
        decode_pp=_size(row.decode_pp, name.pp),
        decode_dcp=_size(row.decode_dcp_size, name.dcp),
        decode_pcp=_size(row.decode_pcp_size, name.pcp),
        decode_ep=_size(row.decode_ep, name.ep),
        decode_dp_attention=_flag(row.decode_dp_attention, name.dp_attention),
        decode_hardware=(row.decode_hw or "").lower(),
    )


def _has_no_decode(row: Topology) -> bool:
    """Tell whether prefill workers also decode; the configured decode block stays."""
    no_gpu = isinstance(row, PointRecord) and row.num_decode_gpu == 0
    return row.decode_num_workers == 0 or no_gpu


def _both_roles(row: Topology) -> Topology:
    """Give both roles the sizes that the first schema wrote once."""
    roles = {
        f"{role}_{name}": getattr(row, name)
        for role in ("prefill", "decode")
        for name in ("tp", "pp", "dcp_size", "pcp_size", "ep", "dp_attention")
    }
    return row.model_copy(update=roles)


def gpus_of(row: PointRecord, deployment: Deployment) -> Gpus:
    """Return the GPU counts of a point; an explicit count wins.

    A single node has tp x pp x pcp GPUs: expert parallelism and decode context
    parallelism share them. With more experts' ranks than that the sizes do not say
    how many there are. Several nodes have workers x tp x pp x pcp per role.
    """
    d = deployment
    if d.multinode:
        return _role_gpus(row, d)
    if row.num_gpus is not None:
        return Gpus(row.num_gpus)
    if row.num_prefill_gpu is not None:
        return Gpus(_explicit_single(row.num_prefill_gpu, row.num_decode_gpu))
    count = _product(1, d.tp, d.pp, d.pcp)
    unknown = count is None or (d.ep is not None and d.ep > count)
    return Gpus(None if unknown else count)


def _explicit_single(prefill: int, decode: int | None) -> int:
    """Return the count of a single node, which may be written once per role."""
    return prefill if decode in (None, 0, prefill) else prefill + (decode or 0)


def _role_gpus(row: PointRecord, d: Deployment) -> Gpus:
    prefill, decode = row.num_prefill_gpu, row.num_decode_gpu
    if prefill is None:
        prefill = _product(d.prefill_workers, d.prefill_tp, d.prefill_pp, d.prefill_pcp)
    if decode is None and d.decode_workers == 0:
        decode = 0
    elif decode is None:
        decode = _product(d.decode_workers, d.decode_tp, d.decode_pp, d.decode_pcp)
    if row.num_gpus is not None:
        return Gpus(row.num_gpus, prefill, decode)
    known = prefill is not None and decode is not None
    return Gpus((prefill or 0) + (decode or 0) if known else None, prefill, decode)


def _product(*sizes: int | None) -> int | None:
    count = 1
    for size in sizes:
        if size is None:
            return None
        count *= size
    return count


def _first(value: int | None, named: int | None) -> int | None:
    return named if value is None else value


def _size(value: int | None, named: int | None) -> int:
    """Return a parallel size; absent and 0 both mean that there is none, so 1."""
    found = named if value is None else value
    return 1 if found is None or found < 1 else found


def _flag(value: bool | None, named: bool | None) -> bool:  # noqa: FBT001
    return value if value is not None else named is True


def _required(value: int | None, named: int | None, field: str) -> int:
    found = named if value is None or value <= 0 else value
    if found is None or found <= 0:
        raise RefusedError("missing_field", f"{field} is missing")
    return found
