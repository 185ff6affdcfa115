"""Postgres and the broker as things to be used, shared between processes."""

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from launcher import broker, postgres
from launcher.errors import LaunchError
from launcher.processes import Child, stop_waits


@contextmanager
def postgres_for(
    data: Path, *, options: Sequence[str] = (), patient: bool = True
) -> Iterator[Child | None]:
    """Run the block with the data folder's Postgres; see `_shared`."""
    with _shared(
        data,
        "postgres",
        postgres.is_running,
        lambda: postgres.start_postgres(data, options=options),
        patient=patient,
    ) as child:
        yield child


@contextmanager
def broker_for(data: Path, *, patient: bool = True) -> Iterator[Child | None]:
    """Run the block with the data folder's broker; see `_shared`."""
    with _shared(
        data,
        "broker",
        broker.is_running,
        lambda: broker.start_broker(data),
        patient=patient,
    ) as child:
        yield child


@contextmanager
def _shared(
    data: Path,
    name: str,
    is_running: Callable[[Path], bool],
    start: Callable[[], Child],
    *,
    patient: bool,
) -> Iterator[Child | None]:
    """Yield the service's child when this process started it, else None.

    1. One process at a time looks and starts: that is the lock `<name>-start`.
    2. Everybody shares the lock `<name>-use` while the block runs.
    3. Who started the service stops it; when patient, not before nobody else uses it.
    """
    with lock_file(data, f"{name}-use") as use:
        child = None
        try:
            with lock_file(data, f"{name}-start") as looking:
                fcntl.flock(looking, fcntl.LOCK_EX)
                fcntl.flock(use, fcntl.LOCK_SH)
                with stop_waits():
                    child = None if is_running(data) else start()
            yield child
        finally:
            if child:
                if patient:
                    fcntl.flock(use, fcntl.LOCK_EX)
                child.stop()


@contextmanager
def lock_file(data: Path, name: str) -> Iterator[int]:
    """Yield a descriptor of the data folder's lock file of that name.

    Raises LaunchError when the folder cannot be written.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(data / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise LaunchError(
            f"The data folder {data} cannot be written: {error.strerror}."
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
