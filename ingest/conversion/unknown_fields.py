"""Which fields of records are new to this version: kept in the record, named once."""

from collections.abc import Iterable

from dashboard.vocabulary.texts import one_line
from ingest.conversion.metrics import is_meaningless, is_metric
from ingest.schemas.agentic import AgenticRecord
from ingest.schemas.evals import EvalRecord, MetaEnv
from ingest.schemas.fields import RecordModel

LONGEST = 2_000
# Fields that are known and say nothing that is not said better elsewhere.
_UNUSED = {
    "scenario_type",
    "workers",
    "timestamp",
    "score_name",
    "score_se",
    "accuracy_se",
}
_MODELS: tuple[type[RecordModel], ...] = (AgenticRecord, EvalRecord, MetaEnv)
_KNOWN = _UNUSED.union(*(model.model_fields for model in _MODELS))


class UnknownFields:
    """Gathers the names of unknown fields over the records of a run."""

    def __init__(self) -> None:
        self._shapes: set[tuple[str, ...]] = set()
        self.names: set[str] = set()

    def note(self, value: object) -> None:
        """Look at the fields of a record; a file's records mostly have the same."""
        if isinstance(value, dict) and (shape := tuple(value)) not in self._shapes:
            self._shapes.add(shape)
            self.names |= set(_unknown(shape))

    def notices(self) -> list[str]:
        """Return one line naming the unknown fields, if there are any."""
        if not self.names:
            return []
        names = one_line(", ".join(sorted(self.names)), LONGEST)
        return [f"fields that are not known yet are kept in the records: {names}"]


def _unknown(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        flat = f"{name.removesuffix('_ttlt')}_e2el" if name.endswith("_ttlt") else name
        if name not in _KNOWN and not is_metric(flat) and not is_meaningless(name):
            yield name
