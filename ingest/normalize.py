"""What the many spellings in artifacts mean: models, hardware, words, booleans."""

import re

from dashboard.vocabulary.checkpoints import family_of
from dashboard.vocabulary.frameworks import ALIASES as FRAMEWORK_ALIASES
from dashboard.vocabulary.hardware import HARDWARE
from dashboard.vocabulary.models import MODELS, PREFIXES
from dashboard.vocabulary.scenarios import scenario_text

__all__ = [
    "canonical_framework",
    "canonical_model",
    "canonical_precision",
    "hardware_base",
    "hardware_name",
    "known_precision",
    "lengths_in_name",
    "model_prefix_of",
    "parse_bool",
    "scenario_text",
    "spec_method",
]

_MODEL_ALIASES = {
    "gptoss": "gptoss120b",
    "dsv4pro": "dsv4",
    "kimik2.7": "kimik2.7-code",
    "70b": "llama70b",
}
_PRECISION_SUFFIX = re.compile(r"-(?:fp4|fp8|mxfp4|nvfp4).*")

_PRECISION_ALIASES = {"nvfp4": "fp4", "mxfp4": "fp4", "fp8block": "fp8"}
_PRECISIONS = frozenset({"fp4", "fp8", "bf16", "int4"})
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_LENGTHS_IN_NAME = re.compile(r"[_-](\d{1,5})k(\d{1,5})k(?=[_.-]|$)")


def canonical_model(prefix: str | None, model_path: str | None) -> str | None:
    """Return the family that a prefix, or else a model id or path, names.

    The prefix is tried as it is, as an alias, and without a precision suffix;
    then the last part of the path. ``None`` where none of them is known.
    """
    if prefix:
        found = _model_of_prefix(prefix.lower())
        if found is not None:
            return found
    if not model_path:
        return None
    return family_of(model_path)


def _model_of_prefix(prefix: str) -> str | None:
    for candidate in (prefix, _PRECISION_SUFFIX.sub("", prefix)):
        name = _MODEL_ALIASES.get(candidate, candidate)
        if name in MODELS:
            return name
    return None


def model_prefix_of(model: str) -> str:
    """Return the prefix that master configs use for a family."""
    return PREFIXES.get(model, model)


def hardware_name(label: str) -> str:
    """Cut a runner label to its GPU: ``cluster:MI355X-amds_03`` is ``mi355x``."""
    return re.split("[-_]", label.lower().rpartition(":")[2].strip(), maxsplit=1)[0]


def hardware_base(label: str) -> str | None:
    """Return the GPU that a runner label names, ``None`` where it is not known."""
    name = hardware_name(label)
    return name if name in HARDWARE else None


def canonical_framework(raw: str) -> str:
    """Return the framework that a name or alias means; unknown ones stay, lower."""
    lower = raw.strip().lower()
    return FRAMEWORK_ALIASES.get(lower, lower)


def canonical_precision(raw: str) -> str:
    """Return the precision that a spelling means; unknown ones stay, lower case."""
    lower = raw.strip().lower()
    return _PRECISION_ALIASES.get(lower, lower)


def known_precision(precision: str) -> bool:
    """Tell whether a canonical precision is one of the benchmark's own."""
    return precision in _PRECISIONS


def spec_method(raw: str | None) -> str:
    """Return the speculative decoding method, ``none`` for nothing; others stay."""
    return (raw or "").strip().lower() or "none"


def parse_bool(value: object) -> bool | None:
    """Read ``true``, ``"True"``, ``1`` and their opposites; else ``None``."""
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, str | int):
        return None
    if value in _BOOLEANS:  # as nearly every record writes it
        return _BOOLEANS[value]
    return _BOOLEANS.get(str(value).strip().lower())


def lengths_in_name(name: str) -> tuple[int, int] | None:
    """Return (input, output) tokens of a ``_8k1k_`` in a name, if it has one."""
    found = _LENGTHS_IN_NAME.search(name)
    return (int(found[1]) * 1024, int(found[2]) * 1024) if found else None
