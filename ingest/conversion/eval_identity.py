"""What an eval row says of its configuration: less than a throughput row does."""

from dashboard.vocabulary.scenarios import AGENTIC, UNKNOWN, scenario_text
from ingest.artifacts.names import NameParts
from ingest.conversion.identity import Warnings, subject_of
from ingest.conversion.topology import Mode, deployment_of
from ingest.normalize import lengths_in_name, parse_bool, spec_method
from ingest.rows import Identity
from ingest.schemas.points import Measured


def eval_identity(
    row: Measured, names: NameParts, disagg: object, warnings: Warnings
) -> Identity:
    """Return the identity of an eval; raises `RefusedError`.

    ``names`` are the parts of the eval artifact's name, which alone tell the offload
    and whether prefill and decode are apart. A concurrency of 0 is not known. Roles
    are read on several nodes only: single nodes carry defaults of them.
    """
    subject = subject_of(_with_names(row, names), warnings)
    multinode = row.is_multinode is True
    told = parse_bool(disagg) if names.disagg is None else names.disagg
    place, _, backend = names.offload.partition("-")
    mode = Mode(
        disagg=multinode and _is_disagg(row, told),
        spec_method=spec_method(row.spec_decoding),
        kv_offloading=place or "none",
        kv_offload_backend=backend,
    )
    scenario, isl, osl = _scenario(row, names)
    return Identity(
        *subject,
        scenario=scenario,
        isl=isl,
        osl=osl,
        deployment=deployment_of(row, mode, names, multinode=multinode),
        concurrency=_concurrency(row, names),
        checkpoint=row.model,
        fingerprint=names.recipe,
        disagg_known=not multinode or told is not None,
    )


def _with_names(row: Measured, names: NameParts) -> Measured:
    """Fill in software that the eval job did not know, from the artifact's name."""
    known = {
        field: getattr(names, field)
        for field in ("framework", "precision")
        if getattr(row, field) in (None, "", "unknown") and getattr(names, field)
    }
    return row.model_copy(update=known) if known else row


def _is_disagg(row: Measured, told: bool | None) -> bool:  # noqa: FBT001
    return told if told is not None else (row.decode_num_workers or 0) > 0


def _concurrency(row: Measured, names: NameParts) -> int:
    if row.conc is not None and row.conc > 0:
        return row.conc
    return names.concurrencies[0] if len(names.concurrencies) == 1 else 0


def _scenario(row: Measured, names: NameParts) -> tuple[str, int | None, int | None]:
    """Return scenario and lengths; 0 and 0 stand for replayed traces."""
    isl, osl = row.isl, row.osl
    if isl is None or osl is None or isl <= 0 or osl <= 0:
        isl, osl = lengths_in_name(names.name) or (None, None)
    if isl is not None and osl is not None:
        return scenario_text(isl, osl), isl, osl
    is_agentic = (row.isl == 0 and row.osl == 0) or names.offload != ""
    return (AGENTIC if is_agentic else UNKNOWN), None, None
