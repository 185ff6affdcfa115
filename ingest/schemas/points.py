"""Throughput rows: fixed lengths on one node (v1) and on several (v2)."""

from ingest.schemas.fields import Flag, RecordModel


class Topology(RecordModel):
    """Parallel sizes, of a single node or per role; GPU counts of roles."""

    is_multinode: Flag = None
    tp: int | None = None
    pp: int | None = None
    dcp_size: int | None = None
    pcp_size: int | None = None
    ep: int | None = None
    dp_attention: Flag = None
    prefill_tp: int | None = None
    prefill_pp: int | None = None
    prefill_dcp_size: int | None = None
    prefill_pcp_size: int | None = None
    prefill_ep: int | None = None
    prefill_dp_attention: Flag = None
    prefill_num_workers: int | None = None
    decode_tp: int | None = None
    decode_pp: int | None = None
    decode_dcp_size: int | None = None
    decode_pcp_size: int | None = None
    decode_ep: int | None = None
    decode_dp_attention: Flag = None
    decode_num_workers: int | None = None
    prefill_hw: str | None = None
    decode_hw: str | None = None


class Measured(Topology):
    """What every measured row says of itself, evals included."""

    hw: str | None = None
    model: str | None = None
    infmax_model_prefix: str | None = None
    model_prefix: str | None = None
    framework: str | None = None
    precision: str | None = None
    spec_decoding: str | None = None
    conc: int | None = None
    isl: int | None = None
    osl: int | None = None


class PointRecord(Measured):
    """A throughput row; latencies and rates are read apart, by name.

    ``recipe_fingerprint`` may be anything: only 64 hex digits count.
    """

    image: str | None = None
    disagg: Flag = None
    recipe_fingerprint: object = None
    num_prefill_gpu: int | None = None
    num_decode_gpu: int | None = None
    num_gpus: int | None = None
    router: object = None
    kv_p2p_transfer: object = None
    num_requests_total: int | None = None
    num_requests_successful: int | None = None
    power_metric_schema_version: int | None = None
    power_valid: Flag = None
