"""What the launcher's commands share between launchers of one checkout."""

import fcntl
import os
import threading
from pathlib import Path

from launcher import commands
from launcher.paths import CHECKOUT


def test_static_files_are_collected_by_one_launcher_at_a_time(tmp_path: Path) -> None:
    there = threading.Event()

    def look() -> None:
        with commands.static_files(tmp_path, os.environ):
            pass
        there.set()

    other = os.open(CHECKOUT / "static", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    second = threading.Thread(target=look)
    second.start()
    assert not there.wait(0.5)
    os.close(other)
    second.join(60)
    assert there.is_set()
