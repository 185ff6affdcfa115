"""What all schemas share: lenient booleans, blank values, one-line faults."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from ingest.normalize import parse_bool

# Booleans come as JSON booleans, as "true", as "True", as 1; anything else is unknown.
Flag = Annotated[bool | None, BeforeValidator(parse_bool)]

_BLANK = frozenset({"", "unknown", "null"})
_MAX_FAULTS = 3
_MAX_SHOWN = 80


class RecordModel(BaseModel):
    """A record; numbers may be strings, unknown fields are allowed."""

    model_config = ConfigDict(
        extra="ignore", protected_namespaces=(), str_strip_whitespace=True
    )


Model = TypeVar("Model", bound=RecordModel)


class WrongTypeError(ValueError):
    """A record whose fields have the wrong types; the message names them."""


def read(model: type[Model], value: object) -> Model:
    """Validate a record; raises `WrongTypeError` naming the fields at fault.

    Where that fails, blanks (``""``, ``"unknown"``) are taken as absent and it is
    tried once more, so that the usual record pays nothing for it.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        if not isinstance(value, dict):
            kind = type(value).__name__
            raise WrongTypeError(f"the record is {kind}, not an object") from error
    present = {name: field for name, field in value.items() if not _is_absent(field)}
    try:
        return model.model_validate(present)
    except ValidationError as error:
        raise WrongTypeError(_line(error)) from error


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in _BLANK)


def _line(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False)
    lines = [
        f"{'.'.join(str(part) for part in fault['loc'])}: {_message(fault)}"
        for fault in faults[:_MAX_FAULTS]
    ]
    more = len(faults) - len(lines)
    return "; ".join(lines) + (f"; and {more} more" if more > 0 else "")


def _message(fault: object) -> str:
    message = fault["msg"] if isinstance(fault, dict) else ""
    given = fault.get("input") if isinstance(fault, dict) else None
    shown = repr(given)
    # A missing field is given the whole record as its input.
    if isinstance(given, dict | list) or len(shown) > _MAX_SHOWN:
        return str(message)
    return f"{message} (got {shown})"
