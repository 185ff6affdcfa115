"""Points and evals as JSON text in the shapes of the official dashboard.

What was published is given back as the text that was imported, so that nothing of it is
lost; what was measured from artifacts is put together by the database. Numbers leave it
as they are stored: no frame, no object per row.
"""

from collections.abc import Mapping

from django.db.models import (
    Case,
    CharField,
    F,
    Func,
    IntegerField,
    JSONField,
    TextField,
    Value,
    When,
)
from django.db.models.expressions import Combinable, Expression
from django.db.models.functions import (
    Cast,
    Coalesce,
    Concat,
    JSONObject,
    NullIf,
    TruncDate,
)

from dashboard.vocabulary import provenance
from dashboard.vocabulary.frameworks import ALIASES
from dashboard.vocabulary.scenarios import AGENTIC, LENGTHS
from dashboard.vocabulary.stored_metrics import STORED_METRICS

# What the official history holds of each point.
HISTORY_METRICS = (
    *("median_itl", "p99_itl", "median_tpot", "p99_tpot", "median_ttft", "p99_ttft"),
    *("median_e2el", "p99_e2el", "median_intvty", "p99_intvty"),
    *("tput_per_gpu", "input_tput_per_gpu", "output_tput_per_gpu"),
)
SINGLE_TURN, TRACES = "single_turn", "agentic_traces"
NOTHING = Value(None, JSONField())

Fields = dict[str, Combinable | str]


class _Trimmed(Func):
    """A published row as text, without its image and all but the history's metrics."""

    template = (
        "((%(expressions)s::jsonb - 'image') || jsonb_build_object('metrics', "
        "(SELECT jsonb_object_agg(key, value) "
        "FROM jsonb_each(%(expressions)s::jsonb->'metrics') "
        "WHERE key IN (%(names)s))))::text"
    )
    output_field = TextField()


class _WithoutImage(Func):
    """A row of the published history as text, with an image that is not known."""

    template = "(%(expressions)s::jsonb || '{\"image\": null}')::text"
    output_field = TextField()


class _StripNulls(Func):
    function = "jsonb_strip_nulls"
    output_field = JSONField()


class _Lengths(Func):
    """One of the two lengths of a scenario that is written ``<isl>_<osl>``."""

    template = "substring(%(expressions)s from '%(pattern)s')::int"
    output_field = IntegerField()


class _Listed(Func):
    """The metrics of an array as a JSON object, by name."""

    _NAMES = ", ".join(f"'{name}'" for name in STORED_METRICS)
    template = (
        "(SELECT COALESCE(jsonb_object_agg(name, value), '{}') "  # noqa: S608
        f"FROM unnest(ARRAY[{_NAMES}], %(expressions)s) AS told (name, value) "
        "WHERE value IS NOT NULL)"
    )
    output_field = JSONField()


class _Joined(Func):
    """Two JSON objects as one."""

    template = "(%(expressions)s)"
    arg_joiner = " || "
    output_field = JSONField()


def framework_of(config_key: str) -> Case:
    """Return the one name of a key's framework, lower case."""
    name = f"{config_key}__framework"
    aliases = [When(**{name: alias}, then=Value(to)) for alias, to in ALIASES.items()]
    return Case(*aliases, default=F(name), output_field=CharField())


def day_of(at: Expression | F) -> Cast:
    """Return a day as text, such as ``2026-08-01``."""
    return Cast(TruncDate(at), TextField())


def official_at(run: str = "") -> Coalesce:
    """Return the time under which the rows of a run count; of runs themselves."""
    prefix = f"{run}__" if run else ""
    return Coalesce(f"{prefix}published_at", f"{prefix}created_at")


def newest_text() -> Case:
    """Return a point's text as the newest rows have it."""
    shape = _point() | {"image": _image(), "metrics": _all_metrics()}
    return _published_or(
        shape, _WithoutImage(F("raw_record__body")), F("raw_record__body")
    )


def history_text() -> Case:
    """Return a point's text as the history has it: no image and fewer metrics."""
    few = {name: F(f"metrics__{name}") for name in HISTORY_METRICS}
    metrics = Case(
        When(sweep__scenario=AGENTIC, then=_all_metrics()),
        default=_StripNulls(JSONObject(**few)),
        output_field=JSONField(),
    )
    names = ", ".join(f"'{name}'" for name in HISTORY_METRICS)
    trimmed = _Trimmed(F("raw_record__body"), names=names)
    return _published_or(
        _point() | {"metrics": metrics}, F("raw_record__body"), trimmed
    )


def unofficial_text() -> Cast:
    """Return a point's text as the answer about single runs has it."""
    is_off = When(deployment__kv_offloading="none", then=Value("off"))
    is_agentic = When(sweep__scenario=AGENTIC, then=Value(TRACES))
    shape = _point() | {
        "id": Value(0),
        "benchmark_type": Case(is_agentic, default=Value(SINGLE_TURN)),
        "offload_mode": Case(is_off, default=Value("on")),
        "image": _image(),
        "metrics": _all_metrics(),
    }
    shape.pop("workers")
    return _text(shape)


def eval_text(*, eval_id: Combinable, config_id: Combinable, full: bool) -> Cast:
    """Return an eval's text; ``full`` with what tells its configuration apart."""
    config = _config("config_key") | {
        "num_prefill_gpu": _gpus("prefill"),
        "num_decode_gpu": _gpus("decode"),
    }
    named = config if full else {"hardware": config["hardware"]}
    scores = {
        "em_strict": F("strict"),
        "em_strict_se": F("strict_se"),
        "em_flexible": F("flexible"),
        "em_flexible_se": F("flexible_se"),
        "score": F("score"),
        "n_eff": F("n"),
    }
    at = official_at("run")
    return _text(
        {
            "id": eval_id,
            "config_id": config_id,
            **named,
            "task": F("task"),
            "conc": F("concurrency"),
            "metrics": _StripNulls(JSONObject(**scores)),
            "date": day_of(at),
            "timestamp": second_of(Coalesce("measured_at", at)),
            "run_url": F("run__url"),
        }
    )


def _all_metrics() -> Func:
    others = Coalesce("more_metrics", Value({}, JSONField()))
    return _Joined(_Listed(F("metrics")), others)


def _published_or(
    shape: Mapping[str, Combinable | str], of_history: Combinable, of_newest: Combinable
) -> Case:
    artifact = "raw_record__artifact"
    return Case(
        When(**{f"{artifact}__name": provenance.HISTORY}, then=of_history),
        When(**{f"{artifact}__kind": provenance.PUBLISHED}, then=of_newest),
        default=_text(shape),
        output_field=TextField(),
    )


def _text(shape: Mapping[str, Combinable | str]) -> Cast:
    return Cast(JSONObject(**shape), TextField())


def second_of(at: Expression | F) -> Func:
    """Return a time as ISO text, which is read much faster than a time is."""
    return Func(
        at,
        Value('YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        function="to_char",
        output_field=TextField(),
    )


def _joined(*texts: Combinable | str) -> Concat:
    return Concat(*texts, output_field=TextField())


def _image() -> NullIf:
    return NullIf(F("image"), Value(""), output_field=TextField())


def _point() -> Fields:
    attempt = Cast("attempt", TextField())
    return _config("sweep__config_key") | {
        "num_prefill_gpu": _either("gpus", "prefill_gpus"),
        "num_decode_gpu": _either("gpus", "decode_gpus"),
        "isl": _length("isl"),
        "osl": _length("osl"),
        "conc": F("concurrency"),
        "workers": NOTHING,
        "date": day_of(official_at("sweep__run")),
        "run_url": _joined("sweep__run__url", Value("/attempts/"), attempt),
    }


def _config(config_key: str) -> Fields:
    """Return what tells configurations apart; a single node says its sizes twice."""
    fields: Fields = {
        "hardware": F(f"{config_key}__hardware"),
        "framework": framework_of(config_key),
        "model": F(f"{config_key}__model"),
        "precision": F(f"{config_key}__precision"),
        "spec_method": F("deployment__spec_method"),
        "disagg": F("deployment__disagg"),
        "is_multinode": F("deployment__multinode"),
    }
    for role in ("prefill", "decode"):
        of = f"deployment__{role}"
        fields |= {
            f"{role}_tp": Coalesce("deployment__tp", f"{of}_tp", 0),
            f"{role}_ep": Coalesce("deployment__ep", f"{of}_ep", 0),
            f"{role}_dp_attention": Coalesce(
                "deployment__dp_attention", f"{of}_dp_attention", Value(value=False)
            ),
            f"{role}_num_workers": Coalesce(f"{of}_workers", 0),
        }
    return fields


def _either(single: str, role: str) -> Case:
    several = When(deployment__multinode=True, then=F(role))
    return Case(several, default=F(single), output_field=IntegerField())


def _gpus(role: str) -> Case:
    """Return what the sizes of an eval make; null where they do not say."""
    of = f"deployment__{role}"
    node = F("deployment__tp") * F("deployment__pp") * F("deployment__pcp")
    roles = F(f"{of}_workers") * F(f"{of}_tp") * F(f"{of}_pp") * F(f"{of}_pcp")
    return Case(
        When(deployment__multinode=True, then=roles),
        When(deployment__ep__lte=node, then=node),
        output_field=IntegerField(),
    )


def _length(which: str) -> Case:
    place = ("isl", "osl").index(which)
    pattern = (
        r"^([0-9]{1,9})_[0-9]{1,9}$" if place == 0 else r"^[0-9]{1,9}_([0-9]{1,9})$"
    )
    usual = [
        When(sweep__scenario=text, then=Value(lengths[place]))
        for lengths, text in LENGTHS.items()
    ]
    return Case(
        *usual,
        default=_Lengths(F("sweep__scenario"), pattern=pattern),
        output_field=IntegerField(),
    )
