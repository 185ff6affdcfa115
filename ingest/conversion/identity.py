"""What a row says about the configuration it measured: the shared part of rows."""

import re
from functools import lru_cache
from typing import NamedTuple

from dashboard.vocabulary.frameworks import DISAGGREGATED
from ingest.conversion.records import RefusedError
from ingest.normalize import (
    canonical_model,
    canonical_precision,
    hardware_base,
    hardware_name,
    known_precision,
    model_prefix_of,
)
from ingest.schemas.points import Measured

_FINGERPRINT = re.compile(r"[0-9a-f]{64}")

Warnings = list[tuple[str, str]]


class Subject(NamedTuple):
    """Model, hardware and software of a row, normalised."""

    model: str
    model_prefix: str
    precision: str
    hardware: str
    hardware_label: str
    framework: str


def subject_of(row: Measured, warnings: Warnings) -> Subject:
    """Return what a row is about; raises `RefusedError` where it cannot be told."""
    prefix = row.infmax_model_prefix or row.model_prefix
    subject = _subject(row.hw, prefix, row.model, row.precision, row.framework)
    if not known_precision(subject.precision):
        text = f"unknown precision {subject.precision}"
        warnings.append(("unmapped_precision", text))
    return subject


@lru_cache(maxsize=1024)
def _subject(
    label: str | None,
    prefix: str | None,
    path: str | None,
    precision: str | None,
    framework: str | None,
) -> Subject:
    given = {"hw": label, "precision": precision, "framework": framework}
    missing = [name for name, text in given.items() if not text]
    if missing:
        raise RefusedError("missing_field", f"{', '.join(missing)} missing")
    lower, prefix = (label or "").lower(), (prefix or "").lower()
    hardware = hardware_base(lower)
    if hardware is None:
        raise RefusedError("unmapped_hw", f"unknown hardware {hardware_name(lower)}")
    model = canonical_model(prefix, path)
    if model is None:
        named = prefix or path or "(not given)"
        raise RefusedError("unmapped_model", f"unknown model {named}")
    return Subject(
        model=model,
        model_prefix=prefix or model_prefix_of(model),
        precision=canonical_precision(precision or ""),
        hardware=hardware,
        hardware_label=lower,
        framework=(framework or "").lower(),
    )


def inferred_disagg(row: Measured, framework: str) -> bool:
    """Tell whether a row that does not say it is of separate prefill and decode."""
    if framework in DISAGGREGATED or framework.startswith(("mori-", "dynamo-")):
        return True
    return (row.decode_num_workers or 0) > 0


def fingerprint_of(value: object, recipe: str, warnings: Warnings) -> str:
    """Return a recipe fingerprint of 64 hex digits, or the name's first 16, or none."""
    text = value.strip().lower() if isinstance(value, str) else ""
    if _FINGERPRINT.fullmatch(text):
        return text
    if text or (value is not None and not isinstance(value, str)):
        warnings.append(("bad_fingerprint", f"not 64 hex digits: {str(value)[:80]}"))
    return recipe


def image_of(image: str | None) -> str:
    """Return an image reference; some configs write ``#`` for its first slash."""
    return (image or "").replace("#", "/")


def name_of(value: object) -> str:
    """Return the name of a router, transfer library or backend, else ``""``.

    They come as a string, as an object with a name and maybe a version, or as null.
    """
    if isinstance(value, dict):
        value = value.get("name")
    return value.strip() if isinstance(value, str) else ""
