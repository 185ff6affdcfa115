"""What fixed lengths and replayed traces share in becoming a point."""

from typing import NamedTuple

from dashboard.vocabulary.deployments import Deployment, deployment_label
from ingest.conversion.identity import (
    Subject,
    Warnings,
    fingerprint_of,
    image_of,
    inferred_disagg,
    name_of,
    subject_of,
)
from ingest.conversion.records import ArtifactMeta, Record, RefusedError, ref_of
from ingest.conversion.topology import Mode, deployment_of, gpus_of
from ingest.normalize import spec_method
from ingest.rows import Identity, PointRow
from ingest.schemas.points import PointRecord


class Offload(NamedTuple):
    """Where the KV cache overflows to: ``none`` or a place, and what moves it."""

    place: str = "none"
    backend: str = ""


NO_OFFLOAD = Offload()


class Scenario(NamedTuple):
    """The scenario's text, its lengths in tokens where it has them, and requests."""

    text: str
    isl: int | None
    osl: int | None
    concurrency: int


def refuse_failed(meta: ArtifactMeta, row: PointRecord, offload: Offload) -> None:
    """Raise `RefusedError` ``failed_run`` where no request succeeded, 0 of 0 too."""
    if row.num_requests_successful != 0:
        return
    total = row.num_requests_total
    requests = f"0 of {'?' if total is None else total} requests succeeded"
    conc = "?" if row.conc is None else row.conc
    where = f"{_label(meta, row, offload)} c{conc}"
    raise RefusedError("failed_run", f"{where}: {requests}")


def _label(meta: ArtifactMeta, row: PointRecord, offload: Offload) -> str:
    """Write the deployment of a row in full, or what little can be told of it."""
    try:
        deployment = point_deployment(meta, row, subject_of(row, []), offload)
    except RefusedError:
        return f"TP{row.tp}" if row.tp is not None else f"prefill TP{row.prefill_tp}"
    return deployment_label(deployment)


def point_deployment(
    meta: ArtifactMeta, row: PointRecord, subject: Subject, offload: Offload
) -> Deployment:
    """Return the deployment of a throughput row."""
    disagg = row.disagg
    if disagg is None:
        alone = row.is_multinode is False
        disagg = not alone and inferred_disagg(row, subject.framework)
    multinode = disagg if row.is_multinode is None else row.is_multinode
    mode = Mode(
        disagg=disagg,
        spec_method=spec_method(row.spec_decoding),
        kv_offloading=offload.place,
        kv_offload_backend=offload.backend,
    )
    return deployment_of(row, mode, meta.parts, multinode=multinode)


class PointBuilder:
    """Gathers what a throughput record says, then makes its point."""

    def __init__(
        self,
        meta: ArtifactMeta,
        record: Record,
        row: PointRecord,
        offload: Offload = NO_OFFLOAD,
    ) -> None:
        """Raise `RefusedError` where no request succeeded or the subject is unknown."""
        refuse_failed(meta, row, offload)
        self.offload = offload
        self.meta = meta
        self.record = record
        self.row = row
        self.warnings: Warnings = []
        self.subject = subject_of(row, self.warnings)

    def point(
        self,
        scenario: Scenario,
        metrics: dict[str, float],
        facts: dict[str, object],
    ) -> PointRow:
        """Return the point; unknown GPU counts are warned of, never guessed."""
        identity = self._identity(scenario)
        gpus = gpus_of(self.row, identity.deployment)
        if gpus.total is None:
            text = "the sizes do not say how many GPUs there are"
            self.warnings.append(("gpu_count_unknown", text))
        return PointRow(
            ref=ref_of(self.meta, self.record),
            identity=identity,
            metrics=metrics,
            gpus=gpus.total,
            prefill_gpus=gpus.prefill,
            decode_gpus=gpus.decode,
            runner=self.meta.parts.runner,
            facts=_facts(self.row) | facts,
            warnings=self.warnings,
        )

    def _identity(self, scenario: Scenario) -> Identity:
        row, recipe = self.row, self.meta.parts.recipe
        deployment = point_deployment(self.meta, row, self.subject, self.offload)
        return Identity(
            *self.subject,
            scenario=scenario.text,
            isl=scenario.isl,
            osl=scenario.osl,
            deployment=deployment,
            concurrency=scenario.concurrency,
            image=image_of(row.image),
            checkpoint=row.model,
            fingerprint=fingerprint_of(row.recipe_fingerprint, recipe, self.warnings),
            router=name_of(row.router),
            kv_p2p_transfer=name_of(row.kv_p2p_transfer),
        )


def _facts(row: PointRecord) -> dict[str, object]:
    facts: dict[str, object] = {}
    if row.power_valid is not None:
        facts["power_valid"] = row.power_valid
    if row.power_metric_schema_version is not None:
        facts["power_metric_schema_version"] = row.power_metric_schema_version
    if row.router is not None:
        facts["router"] = row.router
    return facts
