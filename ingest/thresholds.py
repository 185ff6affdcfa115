"""The producer's floors of eval scores into rows that count from a day on.

Scores are not touched: what they say follows from the floor of their day.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from django.db import transaction

from dashboard.models import EvalFloor, Generation
from dashboard.queries.floors import floor_table
from dashboard.vocabulary.floors import OTHERWISE, FloorTable, Scope, built_in
from ingest.config_keys import ConfigError
from ingest.config_keys.documents import load_mapping

_UNNAMED = "no floor of its own in the file"


@dataclass(slots=True)
class ImportedFloors:
    """What an import did; ``defects`` are lines about what was not taken."""

    named: int = 0
    new: int = 0
    defects: list[str] = field(default_factory=list)


def import_thresholds(
    text: str, *, name: str, day: date, author: str
) -> ImportedFloors:
    """Store the floors of a thresholds file as those of a day on.

    1. Values that are no fractions are named and left out. 2. A floor that counts
    already is not stored again, so the same file changes nothing. 3. What has a floor
    but none in the file gets the one that the file gives it. Whatever hangs on an
    unusable value stays as it is. 4. What somebody set on
    that very day stays. Raises `ConfigError` for a file that cannot be read at all.
    """
    done = ImportedFloors()
    named, refused = _read(text, done.defects)
    done.named = len(named)
    with transaction.atomic():
        table = floor_table()
        rows = [
            EvalFloor(
                model=scope[0],
                task=scope[1],
                minimum=minimum,
                valid_from=day,
                source=name if scope in named else f"{name}: {_UNNAMED}",
                author=author,
            )
            for scope, minimum in _changes(named, table, day, done.defects)
            if not refused & {scope, (scope[0], ""), *_fallbacks(scope, named)}
        ]
        done.new = len(EvalFloor.objects.bulk_create(rows))
        if rows:
            Generation.bump()
    return done


def _read(text: str, defects: list[str]) -> tuple[dict[Scope, float], set[Scope]]:
    """Return the floors of a file by model and task, and the scopes of unusable ones.

    ``""`` is every model; as a task it stands for a model whose block is unusable.
    """
    document, repeated = load_mapping(text)
    defects += [f"{key} is there twice: the last one counts" for key in repeated]
    defaults, of_models = document.get("default"), document.get("models")
    if not isinstance(defaults, Mapping) and not isinstance(of_models, Mapping):
        raise ConfigError("neither default nor models holds floors")
    blocks = {"": defaults}
    if isinstance(of_models, Mapping):
        blocks |= {str(model): block for model, block in of_models.items()}
    found = {
        (model, task): minimum
        for model, block in blocks.items()
        for task, minimum in _floors(model, block, defects)
    }
    named = {scope: value for scope, value in found.items() if value is not None}
    return named, found.keys() - named.keys()


def _floors(
    model: str, block: object, defects: list[str]
) -> Iterator[tuple[str, float | None]]:
    whose = model or "default"
    if not isinstance(block, Mapping):
        defects.append(f"{whose}: not a mapping of tasks")
        yield "", None
        return
    for task, minimum in block.items():
        fault = _fault(model, str(task), minimum)
        if fault:
            defects.append(f"{whose} {task}: {fault}")
        yield str(task), None if fault else float(minimum)


def _fault(model: str, task: str, minimum: object) -> str:
    if isinstance(minimum, bool) or not isinstance(minimum, int | float):
        return f"{minimum!r} is no number"
    if not 0 <= minimum <= 1:
        return f"{minimum} is no fraction in [0, 1]"
    if "\0" in model or "\0" in task:
        return "the name holds NUL"
    if len(model) > _length("model") or len(task) > _length("task") or not task:
        return "the name is empty or too long"
    return ""


def _changes(
    named: Mapping[Scope, float], table: FloorTable, day: date, defects: list[str]
) -> Iterator[tuple[Scope, float]]:
    """Yield what has to be stored so that on the day the file's floors count."""
    for scope in sorted(table.scopes() | set(named)):
        minimum = named.get(scope, _as_in_file(named, scope))
        known = table.newest(scope, day)
        if known is None:
            # Built in floors become rows where the file names them.
            is_new = scope in named or built_in().get(scope) != minimum
        else:
            is_new = known.minimum != minimum
        if is_new and known is not None and known.valid_from == day:
            whose = " ".join(filter(None, scope)) or "everything"
            text = f"{whose}: {known.minimum:g} was set for that day and stays"
            defects.append(text)
        elif is_new:
            yield scope, minimum


def _fallbacks(scope: Scope, named: Mapping[Scope, float]) -> set[Scope]:
    """Return what of a file an unnamed floor would be taken from."""
    return set() if scope in named else {("", scope[1]), ("", "")}


def _as_in_file(named: Mapping[Scope, float], scope: Scope) -> float:
    """Return what a file gives to something that it does not name."""
    return named.get(("", scope[1]), OTHERWISE)


def _length(name: str) -> int:
    column = EvalFloor._meta.get_field(name)  # noqa: SLF001  # Django documents it
    return int(getattr(column, "max_length"))  # noqa: B009  # relations have none
