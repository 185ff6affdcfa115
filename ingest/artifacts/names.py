"""What the name of an artifact tells: its kind and the parts of a result name."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from dashboard.vocabulary import provenance


class Kind(StrEnum):
    """Kinds of artifacts; the values are how their names begin, or all of the name."""

    RESULTS = "results_bmk"
    EVAL_RESULTS = "eval_results_all"
    CHANGELOG = "changelog-metadata"
    RUN_STATS = "run-stats"
    REUSED = "reused-ingest-artifacts"
    REUSE_SOURCE = "reused-ingest-metadata"
    POINT_AGENTIC = "bmk_agentic_"
    POINT = "bmk_"
    EVAL_SERVER_LOGS = "eval_server_logs_"
    EVAL_GPU_METRICS = "eval_gpu_metrics_"
    EVAL = "eval_"
    MULTINODE_SERVER_LOGS = "multinode_server_logs_"
    SERVER_LOGS = "server_logs_"
    GPU_METRICS = "gpu_metrics_"
    POWER_AUDIT = "power_audit_"
    AGENTIC = "agentic_"
    PUBLISHED = provenance.PREFIX
    OTHER = ""


# Kinds that hold records. The others are listed and kept, but not parsed.
READ_KINDS = frozenset(
    {
        Kind.RESULTS,
        Kind.EVAL_RESULTS,
        Kind.CHANGELOG,
        Kind.RUN_STATS,
        Kind.REUSED,
        Kind.REUSE_SOURCE,
        Kind.POINT_AGENTIC,
        Kind.POINT,
        Kind.EVAL,
        Kind.PUBLISHED,
    }
)
_WHOLE_NAMES = (
    Kind.RESULTS,
    Kind.EVAL_RESULTS,
    Kind.CHANGELOG,
    Kind.RUN_STATS,
    Kind.REUSED,
    Kind.REUSE_SOURCE,
)
# Longer beginnings come first: ``bmk_agentic_`` before ``bmk_``.
_BEGINNINGS = tuple(kind for kind in Kind if kind and kind not in _WHOLE_NAMES)


@dataclass(frozen=True, slots=True)
class Parallel:
    """Parallel sizes of one role as a name writes them; ``None`` where it does not."""

    tp: int | None = None
    pp: int | None = None
    dcp: int | None = None
    pcp: int | None = None
    ep: int | None = None
    dp_attention: bool | None = None
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class NameParts:
    """The parts of an artifact name; text is ``""`` and numbers None where absent.

    ``result_name`` pairs artifacts of one job. ``logical_name`` has no runner and
    no recipe: equal for retries of one job on another machine. ``recipe`` is the
    first 16 hex digits of a recipe fingerprint. ``offload`` is ``none`` or
    ``dram-<backend>`` without its leading ``kv``.
    """

    kind: Kind
    name: str
    result_name: str = ""
    logical_name: str = ""
    experiment: str = ""
    precision: str = ""
    framework: str = ""
    spec: str = ""
    runner: str = ""
    recipe: str = ""
    offload: str = ""
    disagg: bool | None = None
    concurrencies: tuple[int, ...] = ()
    single: Parallel | None = None
    prefill: Parallel | None = None
    decode: Parallel | None = None


Groups = dict[str, str | None]

_RECIPE = re.compile(r"_recipe-([0-9a-f]{16})$")
_RUNNER = re.compile(r"_([A-Za-z][A-Za-z0-9.-]{0,80}_[0-9]{1,9})$")
_SIZE = r"(\d{1,5})"
_ROLE = rf"tp{_SIZE}(?:-pp{_SIZE})?(?:-dcp{_SIZE})?(?:-pcp{_SIZE})?-ep{_SIZE}"
_CONCURRENCIES = r"_conc(?P<conc>\d{1,9}(?:x\d{1,9})*)"
_HEAD = r"^(?P<head>.*?)_(?P<precision>[^_]{1,20})_(?P<framework>[^_]{1,40})_"
_TAIL = r"_disagg-(?P<disagg>true|false)_spec-(?P<spec>[A-Za-z0-9_]+)"

# Cores from the newest to the oldest form; the experiment stands in front.
_MULTINODE = re.compile(
    rf"{_HEAD}prefill-(?P<prefill>{_ROLE}-dp(?:true|false)-nw\d+)"
    rf"_decode-(?P<decode>{_ROLE}-dp(?:true|false)-nw\d+){_TAIL}{_CONCURRENCIES}$"
)
_SINGLE = re.compile(
    rf"{_HEAD}(?P<single>{_ROLE}-dpa(?:true|false)){_TAIL}{_CONCURRENCIES}$",
    re.IGNORECASE,
)
_OLD_MULTINODE = re.compile(
    r"^(?P<head>.*?)_(?P<precision>[^_]{1,20})_ptp(?P<ptp>\d{1,5})pep(?P<pep>\d{1,5})"
    r"_dtp(?P<dtp>\d{1,5})dep(?P<dep>\d{1,5})_(?P<framework>[^_]{1,40})"
    rf"_specdec-(?P<spec>[A-Za-z0-9_]+){_CONCURRENCIES}$"
)
_OLD_SINGLE = re.compile(
    rf"{_HEAD}tp(?P<tp>\d{{1,5}})(?:_ep(?P<ep>\d{{1,5}})_dpa_(?P<dpa>[A-Za-z]+))?"
    rf"{_CONCURRENCIES}(?:_specdecode_(?P<spec>[A-Za-z0-9_]+?))?$"
)
_SIZES = re.compile(_ROLE + r"-dpa?(true|false)(?:-nw(\d+))?", re.IGNORECASE)
_OFFLOAD = re.compile(r"_kv(none|dram(?:-[A-Za-z0-9.]{1,18}){0,2})(?=_|$)")


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind:
    """Return the kind of an artifact by its name."""
    for kind in _WHOLE_NAMES:
        if name == kind:
            return kind
    for kind in _BEGINNINGS:
        if name.startswith(kind):
            return kind
    return Kind.OTHER


@lru_cache(maxsize=4096)
def parse_name(name: str) -> NameParts:
    """Split an artifact name into its parts, current and historical forms alike.

    Parsed from the right, since model and experiment names hold underscores of
    their own. A name in no known form keeps its kind and has no further parts.
    """
    kind = kind_of(name)
    if kind == Kind.OTHER or kind in _WHOLE_NAMES:
        return NameParts(kind, name, logical_name=name)
    parts = _parse_result_name(_without_repetition(name.removeprefix(kind)))
    return replace(parts, kind=kind, name=name)


def _without_repetition(result_name: str) -> str:
    """Drop the experiment that single-node eval names write twice."""
    words = result_name.split("_")
    for size in range(1, len(words) // 2 + 1):
        if words[:size] == words[size : 2 * size]:
            return "_".join(words[size:])
    return result_name


def _parse_result_name(result_name: str) -> NameParts:
    rest, recipe = _cut(result_name, _RECIPE)
    core, runner = _cut(rest, _RUNNER)
    parts = NameParts(
        kind=Kind.OTHER,
        name=result_name,
        result_name=result_name,
        logical_name=core,
        recipe=recipe,
        runner=runner,
    )
    for form in (_MULTINODE, _SINGLE, _OLD_MULTINODE, _OLD_SINGLE):
        if found := form.match(core):
            return _with_core(parts, found.groupdict())
    return parts


def _cut(text: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    found = pattern.search(text)
    return (text[: found.start()], found[1]) if found else (text, "")


def _with_core(parts: NameParts, found: Groups) -> NameParts:
    experiment = found["head"] or ""
    offload = _OFFLOAD.search(experiment)
    single, prefill, decode = _topology(found)
    return replace(
        parts,
        experiment=experiment,
        precision=found["precision"] or "",
        framework=found["framework"] or "",
        spec=found.get("spec") or "",
        disagg=_boolean(found.get("disagg")),
        concurrencies=tuple(int(c) for c in (found["conc"] or "").split("x")),
        offload=offload[1] if offload else "",
        single=single,
        prefill=prefill,
        decode=decode,
    )


def _topology(
    found: Groups,
) -> tuple[Parallel | None, Parallel | None, Parallel | None]:
    """Return the sizes of a single node, of prefill and of decode."""
    if found.get("ptp"):
        prefill = Parallel(tp=_number(found["ptp"]), ep=_number(found["pep"]))
        return (
            None,
            prefill,
            Parallel(tp=_number(found["dtp"]), ep=_number(found["dep"])),
        )
    if found.get("tp"):
        dpa = _boolean(found.get("dpa"))
        tp, ep = _number(found["tp"]), _number(found["ep"])
        return Parallel(tp=tp, ep=ep, dp_attention=dpa), None, None
    single, prefill_text, decode = (
        found.get(r) for r in ("single", "prefill", "decode")
    )
    return _parallel(single), _parallel(prefill_text), _parallel(decode)


def _parallel(text: str | None) -> Parallel | None:
    found = _SIZES.match(text) if text else None
    if found is None:
        return None
    tp, pp, dcp, pcp, ep, dpa, workers = found.groups()
    return Parallel(
        tp=_number(tp),
        pp=_number(pp),
        dcp=_number(dcp),
        pcp=_number(pcp),
        ep=_number(ep),
        dp_attention=_boolean(dpa),
        workers=_number(workers),
    )


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _boolean(text: str | None) -> bool | None:
    return text.lower() == "true" if text else None
