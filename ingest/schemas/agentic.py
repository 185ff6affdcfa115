"""Rows of replayed traces: nested (v3), and the older flat shape."""

from pydantic import Field

from ingest.schemas.fields import RecordModel
from ingest.schemas.points import PointRecord

Stats = dict[str, float | None]


class OffloadRecord(PointRecord):
    """What both shapes add to a throughput row; ``users`` is the older ``conc``."""

    users: int | None = None
    kv_offloading: str | None = None
    kv_offload_backend: object = None
    offload_mode: str | None = None
    offloading: str | None = None
    allocated_cpu_dram_gb: float | None = None
    kv_cache_pool_tokens: float | None = None


class Rate(RecordModel):
    """One rate, in tok/s of the whole deployment."""

    tokens_per_second: float | None = None


class Throughput(RecordModel):
    """Rates of the deployment and per GPU, over ``duration_seconds``."""

    input: Rate = Field(default_factory=Rate)
    output: Rate = Field(default_factory=Rate)
    total: Rate = Field(default_factory=Rate)
    duration_seconds: float | None = None
    per_gpu: Stats = Field(default_factory=dict)


class RequestMetrics(RecordModel):
    """Client-side metrics; latencies in s, blocks without samples are empty."""

    qps: Stats = Field(default_factory=dict)
    latency: dict[str, Stats] = Field(default_factory=dict)
    tokens: dict[str, Stats] = Field(default_factory=dict)
    throughput: Throughput = Field(default_factory=Throughput)
    cache: dict[str, object] = Field(default_factory=dict)


class ServerMetrics(RecordModel):
    """Engine-side metrics; rates and usages are fractions."""

    present: object = None
    adapter: str | None = None
    cache: dict[str, object] = Field(default_factory=dict)
    kv_cache: dict[str, object] = Field(default_factory=dict)
    tokens: dict[str, object] = Field(default_factory=dict)
    sources: list[object] | None = None


class Accounting(RecordModel):
    """How many request records were kept and dropped, and why."""

    records_total: int | None = None
    records_profiled: int | None = None
    records_dropped_total: int | None = None
    records_warmup_dropped: int | None = None
    records_error_dropped: int | None = None
    error_categories: dict[str, int] = Field(default_factory=dict)


class AgenticRecord(OffloadRecord):
    """A nested row of replayed traces."""

    request_metrics: RequestMetrics = Field(default_factory=RequestMetrics)
    server_metrics: ServerMetrics | None = None
    request_accounting: Accounting | None = None
    dataset: dict[str, object] | None = None
    warnings: list[object] | None = None
