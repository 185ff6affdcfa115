"""A whole bundle read and converted in memory, without tables."""

from dataclasses import dataclass, field

from ingest.artifacts.bundles import Bundle
from ingest.artifacts.members import ArtifactError, Limits
from ingest.conversion import (
    ArtifactMeta,
    Reading,
    Record,
    RunConversion,
    artifact_metas,
    reading_order,
)
from ingest.rows import EvalRow, PointRow, Row, SkipRow


@dataclass(slots=True)
class ArtifactResult:
    """What became of one artifact: its records and rows, or why it was refused."""

    meta: ArtifactMeta
    records: list[Record] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    rejected: tuple[str, str] | None = None


@dataclass(slots=True)
class ReadResult:
    """Every artifact that holds records, in the order of conversion."""

    artifacts: list[ArtifactResult] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """All rows, the skips of reading among them."""
        return [row for artifact in self.artifacts for row in artifact.rows]

    @property
    def points(self) -> list[PointRow]:
        """The points among the rows."""
        return [row for row in self.rows if isinstance(row, PointRow)]

    @property
    def evals(self) -> list[EvalRow]:
        """The evals among the rows."""
        return [row for row in self.rows if isinstance(row, EvalRow)]

    @property
    def skips(self) -> list[SkipRow]:
        """What was not taken."""
        return [row for row in self.rows if isinstance(row, SkipRow)]


def read_bundle(bundle: Bundle, limits: Limits) -> ReadResult:
    """Read and convert a whole bundle in memory."""
    conversion, result = RunConversion(), ReadResult()
    for meta in reading_order(artifact_metas(bundle)):
        artifact = ArtifactResult(meta)
        result.artifacts.append(artifact)
        try:
            contents = bundle.artifacts[meta.position].contents(limits)
        except ArtifactError as error:
            artifact.rejected = (error.reason, error.detail)
            continue
        reading = Reading(meta, contents, limits)
        artifact.records = list(reading.records())
        artifact.rows = [*conversion.rows(meta, artifact.records), *reading.skips]
        artifact.rejected = reading.rejected
    result.notices = conversion.notices()
    return result
