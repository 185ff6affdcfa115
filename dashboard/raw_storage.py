"""The raw store on S3-compatible storage; which one, environment.py reads."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

Result = TypeVar("Result")


def _as_os_error(work: Callable[..., Result]) -> Callable[..., Result]:
    """Fail as a disk does: whoever reads or writes is prepared for that."""

    @wraps(work)
    def wrapped(*args: Any, **kwargs: Any) -> Result:
        try:
            return work(*args, **kwargs)
        except (BotoCoreError, ClientError) as error:
            # Neither addresses nor keys stand in the names of these.
            told = f"the raw store cannot be used ({type(error).__name__})"
            raise OSError(told) from error

    return wrapped


class RawS3Storage(S3Storage):  # type: ignore[misc]  # it has no types
    """Raw bytes as objects; an absent one raises FileNotFoundError, as on a disk."""

    save = _as_os_error(S3Storage.save)
    size = _as_os_error(S3Storage.size)
    delete = _as_os_error(S3Storage.delete)
    _open = _as_os_error(S3Storage._open)  # noqa: SLF001  what `open` calls
