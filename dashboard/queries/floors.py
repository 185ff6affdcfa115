"""The floors of eval scores, all of them in one query."""

from datetime import date

from dashboard.models import EvalFloor, EvalResult
from dashboard.vocabulary.floors import Floor, FloorRow, FloorTable


def floor_table() -> FloorTable:
    """Return the floors that were set, over those that are built in."""
    found = EvalFloor.objects.values_list(
        "model", "task", "minimum", "filters", "valid_from", "source"
    )
    return FloorTable(
        FloorRow(model, task, minimum, tuple(filters), valid_from, source)
        for model, task, minimum, filters, valid_from, source in found
    )


def day_of(result: EvalResult) -> date:
    """Return the UTC day whose floors a score is held against; needs its run."""
    return (result.measured_at or result.run.created_at).date()


def floor_of(floors: FloorTable, result: EvalResult) -> Floor:
    """Return the floor of a stored score; needs its config key and run."""
    return floors.at(result.config_key.model, result.task, day_of(result))
