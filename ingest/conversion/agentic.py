"""Records of replayed traces to points: nested (v3) and the older flat shape."""

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.vocabulary.scenarios import AGENTIC
from ingest.conversion.assembly import Offload, PointBuilder, Scenario
from ingest.conversion.identity import name_of
from ingest.conversion.metrics import STATS, finite, flat_metrics, is_metric
from ingest.conversion.records import ArtifactMeta, Record, RefusedError
from ingest.rows import PointRow
from ingest.schemas.agentic import (
    AgenticRecord,
    OffloadRecord,
    RequestMetrics,
    ServerMetrics,
)
from ingest.schemas.fields import read

_TOKENS = {
    "input": "input_tokens",
    "output_actual": "output_tokens_actual",
    "output_expected": "output_tokens_expected",
}
_PER_GPU = {
    "total_tput_tps": "tput_per_gpu",
    "output_tput_tps": "output_tput_per_gpu",
    "input_tput_tps": "input_tput_per_gpu",
}
_SERVER_CACHE = ("gpu", "cpu", "external", "overall")
_SERVER_TOKENS = {
    "prompt_total": "total_prompt_tokens",
    "generation_total": "total_generation_tokens",
    "requests_completed": "total_requests_completed",
}

Numbers = Iterator[tuple[str, object]]


def is_agentic(value: Mapping[str, object]) -> bool:
    """Tell whether a record is of replayed traces, whatever artifact it is in."""
    scenario = value.get("scenario_type")
    named = isinstance(scenario, str) and scenario.startswith("agentic")
    return named or isinstance(value.get("request_metrics"), dict)


def agentic_point(
    meta: ArtifactMeta, record: Record, value: dict[str, Any]
) -> PointRow:
    """Make the point of a record; raises `RefusedError` or `WrongTypeError`."""
    if "request_metrics" in value:
        return _nested_point(meta, record, value)
    row = read(OffloadRecord, value)
    builder = PointBuilder(meta, record, row, offload_of(row))
    metrics = flat_metrics(_renamed(value), builder.warnings)
    return _point(builder, row, metrics, {})


def _nested_point(
    meta: ArtifactMeta, record: Record, value: dict[str, Any]
) -> PointRow:
    row = read(AgenticRecord, value)
    builder = PointBuilder(meta, record, row, offload_of(row))
    # Power is patched in flat beside the nested blocks.
    metrics = flat_metrics(value, builder.warnings)
    metrics |= finite(_request_numbers(row.request_metrics), builder.warnings)
    if row.server_metrics is not None:
        metrics |= finite(_server_numbers(row.server_metrics), builder.warnings)
    return _point(builder, row, metrics, _nested_facts(row))


def _point(
    builder: PointBuilder,
    row: OffloadRecord,
    metrics: dict[str, float],
    facts: dict[str, object],
) -> PointRow:
    stored = {name: metrics[name] for name in _interactivity_names(metrics)}
    recompute_interactivity(metrics)
    if stored:
        # Kept for comparison with what the producer's own pages show.
        facts["stored_interactivity"] = stored
    conc = row.conc if row.conc is not None else row.users
    if conc is None or conc <= 0:
        raise RefusedError("missing_isl_osl_conc", f"conc is {conc}")
    scenario = Scenario(AGENTIC, None, None, conc)
    return builder.point(scenario, metrics, _facts(row) | facts)


def recompute_interactivity(metrics: dict[str, float]) -> None:
    """Replace interactivity (tok/s/user) by 1 / inter-token latency (s).

    Where the latency of the full response is known it replaces that of the visible
    content, and percentiles that lack it go. Producers have meant two things by an
    interactivity percentile; the reciprocal of the latency's percentile is this one.
    """
    full = {s: metrics.get(f"{s}_full_response_itl") for s in (*STATS, "std")}
    if any(value is not None for stat, value in full.items() if stat != "std"):
        for stat, value in full.items():
            metrics.pop(f"{stat}_itl", None)
            if value is not None:
                metrics[f"{stat}_itl"] = value
    for name in _interactivity_names(metrics):
        del metrics[name]
    for stat in STATS:
        itl = metrics.get(f"{stat}_itl")
        if itl is not None and itl > 0:
            metrics[f"{stat}_intvty"] = 1 / itl


def _interactivity_names(metrics: Mapping[str, float]) -> list[str]:
    """Return the names of interactivity, but for that over whole requests."""
    return [n for n in metrics if n.endswith("_intvty") and "_e2e_" not in n]


def offload_of(row: OffloadRecord) -> Offload:
    """Return where KV cache goes; older rows say on or off, or name it otherwise."""
    place = (row.kv_offloading or row.offloading or "none").lower()
    if row.offload_mode is not None:
        is_on = row.offload_mode.lower() not in ("off", "none", "")
        place = (place if place != "none" else "on") if is_on else "none"
    if place in ("off", "false"):
        place = "none"
    backend = name_of(row.kv_offload_backend).lower() if place != "none" else ""
    return Offload(place, backend)


def _request_numbers(block: RequestMetrics) -> Numbers:
    for metric, stats in block.latency.items():
        yield from _stats(stats, metric)
    yield from _stats(block.qps, "qps")
    for name, stats in block.tokens.items():
        yield from _stats(stats, _TOKENS.get(name, ""))
    rates = block.throughput
    yield "input_tput_tps", rates.input.tokens_per_second
    yield "output_tput_tps", rates.output.tokens_per_second
    yield "total_tput_tps", rates.total.tokens_per_second
    yield "duration_seconds", rates.duration_seconds
    for name, metric in _PER_GPU.items():
        yield metric, rates.per_gpu.get(name)
    name = "theoretical_cache_hit_rate"
    yield name, block.cache.get(name)


def _stats(stats: Mapping[str, float | None], metric: str) -> Numbers:
    for stat, value in stats.items():
        name = f"{'median' if stat == 'p50' else stat}_{metric}"
        if is_metric(name):
            yield name, value


def _server_numbers(block: ServerMetrics) -> Numbers:
    for place in _SERVER_CACHE:
        name = f"{place}_cache_hit_rate"
        yield f"server_{name}", block.cache.get(name)
    for place in ("gpu", "cpu"):
        yield f"{place}_kv_cache_usage_pct", block.kv_cache.get(f"{place}_usage_pct")
    for name, metric in _SERVER_TOKENS.items():
        yield metric, block.tokens.get(name)


def _facts(row: OffloadRecord) -> dict[str, object]:
    facts = {
        "allocated_cpu_dram_gb": row.allocated_cpu_dram_gb,
        "kv_cache_pool_tokens": row.kv_cache_pool_tokens,
        "num_requests_total": row.num_requests_total,
        "num_requests_successful": row.num_requests_successful,
        "kv_offload_backend": row.kv_offload_backend,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _nested_facts(row: AgenticRecord) -> dict[str, object]:
    server = row.server_metrics
    accounting = row.request_accounting
    facts = {
        "dataset": row.dataset,
        "producer_warnings": row.warnings,
        "request_accounting": accounting and accounting.model_dump(exclude_none=True),
        "adapter": server and server.adapter,
        "prompt_by_source": server and server.tokens.get("prompt_by_source"),
        "sources": server and server.sources,
    }
    return {name: value for name, value in facts.items() if value}


def _renamed(value: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of the older flat shape their present names."""
    return {_present_name(name): field for name, field in value.items()}


def _present_name(name: str) -> str:
    if name.endswith("_ttlt"):
        # Time to last token is end-to-end latency.
        name = f"{name.removesuffix('_ttlt')}_e2el"
    return f"median_{name.removeprefix('p50_')}" if name.startswith("p50_") else name
