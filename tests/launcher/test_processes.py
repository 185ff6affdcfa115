"""Children: none is started that nobody would stop."""

import signal
from pathlib import Path

import pytest

from launcher.processes import Child, keep, start


def test_signal_during_a_start_leaves_no_unknown_child(tmp_path: Path) -> None:
    children: list[Child] = []

    def start_and_be_interrupted() -> Child:
        log = tmp_path / "sleep.log"
        child = start("The sleeper", ["sleep", "60"], log=log)
        signal.raise_signal(signal.SIGINT)
        return child

    with pytest.raises(KeyboardInterrupt):
        keep(children, start_and_be_interrupted)

    (child,) = children
    child.stop()
    # It did not inherit that the launcher let signals wait.
    assert child.process.returncode == -signal.SIGTERM
