"""One generated matrix entry, with what a row is compared with worked out once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from dashboard.vocabulary.deployments import Deployment
from dashboard.vocabulary.scenarios import AGENTIC, scenario_text
from ingest.config_keys.fingerprints import fingerprint
from ingest.normalize import (
    canonical_model,
    canonical_precision,
    hardware_name,
    spec_method,
)

_LENGTH = re.compile(r"SYNTHETIC_ACCEPTANCE_LENGTH=(\d{1,4}(?:\.\d{1,6})?)")


@dataclass(frozen=True, slots=True, eq=False)
class MatrixEntry:
    """What the generator plans for one recipe: one job, one or more points.

    ``entry`` is the generator's own object, ``fingerprint`` its SHA-256 or ``""``
    where a field of it cannot be worked out. ``hardware`` is the GPU base,
    ``hardware_label`` the runner label and ``framework`` the raw name, lower case.
    ``image`` has its ``#`` turned back into ``/``; ``checkpoint`` is the exact model
    of the master config. ``acceptance_length`` (tokens per step) is only known
    where the settings declare a synthetic one.
    """

    config_key: str
    entry: dict[str, object]
    fingerprint: str
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
    concurrencies: tuple[int, ...]
    image: str
    checkpoint: str
    router: str
    kv_p2p_transfer: str
    multinode: bool
    disagg: bool
    acceptance_length: float | None


def matrix_entry(
    config_key: str, entry: dict[str, object], *, hashed: bool = True
) -> MatrixEntry:
    """Work out what rows are compared with from a generated entry.

    ``hashed`` is False where a field of the entry is only a guess: no fingerprint
    is better than a wrong one. Raises `KeyError` for an entry without its fields.
    """
    prefix, checkpoint = str(entry["model-prefix"]).lower(), str(entry["model"])
    label = str(entry["runner"]).lower()
    isl, osl = _whole(entry.get("isl")), _whole(entry.get("osl"))
    deployment = entry_deployment(entry)
    return MatrixEntry(
        config_key=config_key,
        entry=entry,
        fingerprint=fingerprint(entry) if hashed else "",
        model=canonical_model(prefix, checkpoint) or prefix,
        model_prefix=prefix,
        precision=canonical_precision(str(entry["precision"])),
        hardware=hardware_name(label),
        hardware_label=label,
        framework=str(entry["framework"]).lower(),
        scenario=AGENTIC if isl is None or osl is None else scenario_text(isl, osl),
        isl=isl,
        osl=osl,
        deployment=deployment,
        concurrencies=_concurrencies(entry["conc"]),
        image=slashed(str(entry["image"])),
        checkpoint=checkpoint,
        router=_name(entry.get("router")),
        kv_p2p_transfer=str(entry.get("kv-p2p-transfer", "")),
        multinode=deployment.multinode,
        disagg=deployment.disagg,
        acceptance_length=_acceptance_length(entry),
    )


def entry_deployment(entry: Mapping[str, object]) -> Deployment:
    """Return the deployment of an entry, sizes that are not written being 1."""
    shared: dict[str, Any] = {
        "kv_offloading": str(entry.get("kv-offloading", "none")).lower(),
        "kv_offload_backend": _name(entry.get("kv-offload-backend")).lower(),
        "spec_method": spec_method(str(entry.get("spec-decoding", "none"))),
    }
    if "prefill" not in entry:
        return Deployment(multinode=False, disagg=False, **_sizes(entry), **shared)
    prefill = cast("Mapping[str, object]", entry["prefill"])
    decode = cast("Mapping[str, object]", entry["decode"])
    return Deployment(
        multinode=True,
        disagg=entry.get("disagg") is True,
        **_role("prefill", prefill),
        **_role("decode", decode),
        **shared,
    )


def slashed(image: str) -> str:
    """Undo the ``#`` that some masters write for the first ``/`` of an image."""
    return image.replace("#", "/")


def _sizes(block: Mapping[str, object], prefix: str = "") -> dict[str, Any]:
    names = {"tp": "tp", "pp": "pp", "dcp": "dcp-size", "pcp": "pcp-size", "ep": "ep"}
    sizes = {prefix + name: block.get(field, 1) for name, field in names.items()}
    return sizes | {f"{prefix}dp_attention": block.get("dp-attn", False)}


def _role(name: str, block: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields of a role; decode with no worker has nothing else to say."""
    workers = block["num-worker"]
    if name == "decode" and workers == 0:
        return {"decode_workers": 0}
    return {
        f"{name}_workers": workers,
        f"{name}_hardware": hardware_name(str(block.get("hardware", ""))),
        **_sizes(block, f"{name}_"),
    }


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _concurrencies(value: object) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, list) else (cast("int", value),)


def _name(value: object) -> str:
    """Return the name of a ``{name, version}`` object, or the text itself."""
    if isinstance(value, Mapping):
        return str(value.get("name", ""))
    return value if isinstance(value, str) else ""


def _acceptance_length(entry: Mapping[str, object]) -> float | None:
    """Read the acceptance length that the settings of the roles force, if any."""
    settings: list[str] = []
    for role in ("prefill", "decode"):
        block = entry.get(role)
        if isinstance(block, Mapping):
            settings += [str(s) for s in block.get("additional-settings") or ()]
    if "SYNTHETIC_ACCEPTANCE=true" not in settings:
        return None
    found = [_LENGTH.fullmatch(setting) for setting in settings]
    return next((float(match[1]) for match in found if match), None)
