"""Which artifacts of a run are downloaded, and which are only listed."""

from collections.abc import Iterable, Sequence

from ingest.artifacts.bundles import ArtifactSource
from ingest.artifacts.names import READ_KINDS, Kind, kind_of, parse_name
from ingest.fetching.listing import JsonObject
from ingest.jobs import parse_job_name

FAILURES = frozenset({"failure", "timed_out", "cancelled"})
MAX_LOGS = 50

# Tensor parallel size, spec method, concurrency: what logs and jobs both name.
Place = tuple[int | None, str, int]


def downloaded_ids(
    items: Iterable[JsonObject],
    jobs: Sequence[JsonObject] | None,
    max_log: int,
    *,
    with_traces: bool = False,
) -> set[object]:
    """Return the ids of the artifacts whose bytes are wanted.

    Those that hold records, and server logs of failed jobs of up to ``max_log``
    bytes each: their end is shown with the run. The rest (power, other logs and, but
    ``with_traces``, raw artifacts of replays) is by far the most of a run and is only
    listed.
    """
    items = list(items)
    kinds = READ_KINDS | ({Kind.AGENTIC} if with_traces else set())
    read = {i.get("id") for i in items if kind_of(_name(i)) in kinds}
    failed = failed_places(jobs or [])
    logs = [i for i in items if _is_log_of(i, failed) and 0 < _size(i) <= max_log]
    return read | {item.get("id") for item in logs[:MAX_LOGS]}


def beyond(sources: Iterable[ArtifactSource], max_bytes: int) -> list[ArtifactSource]:
    """Return those of the artifacts that do not fit into so many bytes, as listed.

    What holds records comes before logs, and the small before the large: most is had.
    """
    excess = []
    for source in sorted(sources, key=lambda s: (is_bulk(s), listed_bytes(s))):
        if listed_bytes(source) <= max_bytes:
            max_bytes -= listed_bytes(source)
        else:
            excess.append(source)
    return excess


def is_bulk(source: ArtifactSource) -> bool:
    """Tell whether an artifact holds no records: it comes after those that do."""
    return kind_of(source.name) not in READ_KINDS


def listed_bytes(source: ArtifactSource) -> int:
    """Return an artifact's size; one that GitHub does not tell counts when it came."""
    return 0 if source.size is None else source.size


def failed_places(jobs: Iterable[JsonObject]) -> set[Place]:
    """Return what failed jobs were to measure on one node."""
    failed = [j.get("name") for j in jobs if j.get("conclusion") in FAILURES]
    plans = [parse_job_name(name) for name in failed if isinstance(name, str)]
    return {
        (plan.deployment.tp, plan.deployment.spec_method, concurrency)
        for plan in plans
        if plan is not None and not plan.eval_only
        for concurrency in plan.concurrencies
    }


def _is_log_of(item: JsonObject, failed: set[Place]) -> bool:
    parts = parse_name(_name(item))
    if parts.kind != Kind.SERVER_LOGS or parts.single is None:
        return False
    spec = parts.spec.lower() or "none"
    return any((parts.single.tp, spec, c) in failed for c in parts.concurrencies)


def _name(item: JsonObject) -> str:
    return str(item.get("name", ""))


def _size(item: JsonObject) -> int:
    size = item.get("size_in_bytes")
    return size if isinstance(size, int) else 0
