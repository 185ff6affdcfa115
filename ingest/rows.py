"""Typed rows made of records. What the rest of the pipeline sees; no Django here."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from dashboard.vocabulary.deployments import Deployment


class RecordRef(NamedTuple):
    """Where a record stands: the artifact's position in the bundle, member, index."""

    artifact: int
    member: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs


@dataclass(slots=True)
class Identity:
    """What a row says about the configuration it measured.

    ``hardware`` is the GPU base (``mi355x``), ``hardware_label`` the raw label,
    lower case (``cluster:mi355x-amds``); ``framework`` is the raw value, lower case.
    ``scenario`` is ``8k/1k``, ``agentic-traces``, else ``<isl>_<osl>``.
    ``checkpoint`` is what the row claims (``model``), ``None`` where absent.
    ``disagg_known`` is False for rows that cannot tell (eval rows on several nodes).
    """

    model: str
    model_prefix: str
    precision: str
    hardware: str
    hardware_label: str
    framework: str
    scenario: str
    isl: int | None
    osl: int | None
    deployment: Deployment
    concurrency: int
    image: str = ""
    checkpoint: str | None = None
    fingerprint: str = ""
    router: str = ""
    kv_p2p_transfer: str = ""
    disagg_known: bool = True

    def at(self, concurrency: int) -> "Identity":
        """Return the same configuration with another number of requests."""
        # A quarter of the time of `dataclasses.replace`, for each row of an aggregate.
        before, after = _BEFORE_CONCURRENCY(self), _AFTER_CONCURRENCY(self)
        return Identity(*before, concurrency, *after)  # type: ignore[call-arg]


_FIELDS = [field.name for field in fields(Identity)]
_PLACE = _FIELDS.index("concurrency")
_BEFORE_CONCURRENCY = attrgetter(*_FIELDS[:_PLACE])
_AFTER_CONCURRENCY = attrgetter(*_FIELDS[_PLACE + 1 :])


@dataclass(slots=True)
class PointRow:
    """One measurement. Latencies in s, throughput in tok/s (per GPU), power in W.

    ``metrics`` holds finite floats only, by flat name.
    ``facts`` holds what is not a number (dataset, accounting, warnings ...).
    ``warnings`` are (code, text) pairs about this record.
    """

    ref: RecordRef
    identity: Identity
    metrics: dict[str, float]
    gpus: int | None = None
    prefill_gpus: int | None = None
    decode_gpus: int | None = None
    runner: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    warnings: list[tuple[str, str]] = field(default_factory=list)


class Repeat(NamedTuple):
    """An older result of an eval: when, where its file tells it, and its fractions."""

    measured_at: datetime | None
    strict: float | None
    flexible: float | None


@dataclass(slots=True)
class EvalRow:
    """One eval score. Scores and standard errors are fractions in [0, 1].

    ``repeats`` are older results of the same eval that its own artifact holds.
    """

    ref: RecordRef
    identity: Identity
    task: str
    strict: float | None
    strict_se: float | None
    flexible: float | None
    flexible_se: float | None
    score: float | None
    n: int | None
    lm_eval_version: str = ""
    measured_at: datetime | None = None
    result_file: str = ""
    warnings: list[tuple[str, str]] = field(default_factory=list)
    repeats: list[Repeat] = field(default_factory=list)

    @property
    def result(self) -> Repeat:
        """Return what a newer result of the same eval remembers of this one."""
        return Repeat(self.measured_at, self.strict, self.flexible)


@dataclass(slots=True)
class ChangelogRow:
    """One changelog entry of the run, keys as written."""

    ref: RecordRef
    base_ref: str
    head_ref: str
    index: int
    config_keys: list[str]
    description: list[str]
    pr_link: str
    link_state: str  # good | placeholder | missing | invalid
    pr_number: int | None
    scenario_types: list[str] | None = None
    evals_only: bool = False
    all_evals: bool = False
    append_only: bool = False
    defects: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RunStatRow:
    """Job successes of one cluster or hardware key."""

    ref: RecordRef
    raw_key: str
    hardware: str
    successes: int
    total: int


@dataclass(slots=True)
class ReuseRow:
    """This run publishes the measurements of another one."""

    ref: RecordRef
    source_run_id: int


@dataclass(slots=True)
class SkipRow:
    """A record, member or artifact that was not taken, and why."""

    ref: RecordRef
    reason: str
    detail: str = ""


Row = PointRow | EvalRow | ChangelogRow | RunStatRow | ReuseRow | SkipRow
