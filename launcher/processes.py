"""Child processes that never outlive the launcher, not even when it is killed."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from launcher.errors import LaunchError

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_LARGE_LOG = 10_000_000  # bytes; a log beyond that starts anew, with one former kept
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Ending:
    """How a child is asked to stop: (signal, seconds to wait) in turn, then SIGKILL."""

    steps: tuple[tuple[signal.Signals, float], ...] = ((signal.SIGTERM, 10.0),)


@dataclass(frozen=True)
class Child:
    """A started process and what is needed to speak about it and to stop it."""

    name: str
    process: subprocess.Popen[bytes]
    ending: Ending
    log: Path

    def stop(self) -> None:
        """Ask the process to stop, wait, and end its whole group when it does not."""
        self.ask_to_stop()
        self.finish()

    def ask_to_stop(self) -> None:
        """Send the first signal of the ending; `finish` does the rest."""
        self.process.send_signal(self.ending.steps[0][0])

    def finish(self) -> None:
        """Wait for a process that was asked to stop, insist, and end its group."""
        for step, (number, seconds) in enumerate(self.ending.steps):
            if step:
                self.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def last_words(self) -> str:
        """Return the newest line of the log that is not empty."""
        try:
            lines = self.log.read_text(errors="replace").splitlines()
        except OSError:
            return "no log"
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def keep(children: list[Child], start: Callable[[], Child]) -> Child:
    """Start a child and put it into the list of those to stop, or do neither."""
    with stop_waits():
        children.append(start())
    return children[-1]


@contextmanager
def stop_waits() -> Iterator[None]:
    """Let a signal to stop wait until the block is done.

    A child that is started and not yet known to whoever stops it would be left.
    """
    former = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def start(
    name: str,
    command: Sequence[str | Path],
    *,
    log: Path,
    env: Mapping[str, str] | None = None,
    ending: Ending | None = None,
    enter: Callable[[], None] | None = None,
) -> Child:
    """Start a command in a session of its own, with its output appended to `log`.

    When the launcher dies the kernel sends the child the first signal of its ending.
    `enter` runs in the child before the program: a disguise.
    """
    ending = ending or Ending()
    farewell = ending.steps[0][0]
    parent = os.getpid()

    def before_exec() -> None:
        # A program inherits which signals wait, see `stop_waits`.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        if enter:
            enter()
        # After the disguise: a change of user would clear the request again.
        _LIBC.prctl(_PR_SET_PDEATHSIG, farewell, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > _LARGE_LOG:
        log.replace(log.with_suffix(".log.1"))
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603  the commands are the launcher's own
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(env) if env is not None else None,
            start_new_session=True,
            preexec_fn=before_exec,  # noqa: PLW1509  no other thread runs yet
        )
    return Child(name, process, ending, log)


def run_to_end(
    command: Sequence[str | Path],
    *,
    what: str,
    enter: Callable[[], None] | None = None,
    stdin: str = "",
) -> None:
    """Run a short command; a failure raises LaunchError with its last line."""
    done = subprocess.run(  # noqa: S603  the commands are the launcher's own
        [str(part) for part in command],
        input=stdin.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=enter,
        check=False,
    )
    if done.returncode:
        lines = done.stdout.decode(errors="replace").strip().splitlines()
        raise LaunchError(f"{what} failed: {lines[-1] if lines else done.returncode}")


def is_alive(pid: int) -> bool:
    """Say whether a process with this id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
