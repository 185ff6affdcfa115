"""Makes the virtual environment; runs on a bare Python, before anything is installed.

`python3 -m launcher.install` installs what the application needs, with `--dev` what its
tests and linters need as well. A stamp keeps a second run from installing again.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from launcher.console import say
from launcher.errors import LaunchError
from launcher.paths import CHECKOUT

VENV = CHECKOUT / ".venv"
PYTHON = VENV / "bin" / "python"
UV_FOLDER = VENV / "uv"
STAMP = VENV / ".frontierboard-installed"
RUNTIME = CHECKOUT / "requirements.txt"
DEV = CHECKOUT / "requirements-dev.txt"
UV = CHECKOUT / "requirements-uv.txt"
OLDEST = (3, 11)


def main() -> int:
    """Install; return 0, or 1 after one line about what is wrong."""
    try:
        check_version(sys.version_info[:2])
        install(DEV if "--dev" in sys.argv[1:] else RUNTIME)
    except LaunchError as error:
        say(f"frontierboard: {error}")
        return 1
    return 0


def check_version(version: Sequence[int]) -> None:
    """Refuse a Python that is too old, by name."""
    if tuple(version) < OLDEST:
        wanted, found = (".".join(map(str, pair)) for pair in (OLDEST, version))
        raise LaunchError(
            f"Python {wanted} or newer is needed, and this is {found}: "
            "try `make PYTHON=/path/to/a/newer/python3 run`."
        )


def install(requirements: Path) -> None:
    """Bring the environment to the locked versions, unless it is there already."""
    if is_installed(requirements):
        return
    say(f"Installing {requirements.name} into .venv ...")
    if not (UV_FOLDER / "bin" / "uv").exists() or not PYTHON.exists():
        _make_venv_with_uv()
    _run(
        [
            *(UV_FOLDER / "bin" / "uv", "pip", "sync", "--quiet", "--require-hashes"),
            *("--python", PYTHON, requirements),
        ],
        "Installing the packages",
    )
    STAMP.write_text(digest(requirements), encoding="ascii")


def is_installed(requirements: Path) -> bool:
    """Say whether exactly these versions, or these and the tests', are installed."""
    try:
        stamp = STAMP.read_text(encoding="ascii")
    except OSError:
        return False
    enough = {digest(requirements), digest(DEV)}
    return PYTHON.exists() and stamp in enough


def digest(path: Path) -> str:
    """Return the sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _make_venv_with_uv() -> None:
    """Make .venv, and put uv into a folder that `uv pip sync` does not tidy up."""
    _run([sys.executable, "-m", "venv", VENV], "Making .venv")
    _run(
        [
            *(PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes"),
            *("--disable-pip-version-check", "--upgrade", "--target", UV_FOLDER),
            *("-r", UV),
        ],
        "Installing uv",
    )


def _run(command: Sequence[str | Path], what: str) -> None:
    """Run with the output visible: an index's own words say best what failed."""
    done = subprocess.run(  # noqa: S603  the commands are the launcher's own
        [str(part) for part in command],
        env={name: value for name, value in os.environ.items() if name not in _FOREIGN},
        check=False,
    )
    if done.returncode:
        raise LaunchError(f"{what} failed (exit {done.returncode}), see above.")


# An active environment of another project must not draw the packages to itself.
_FOREIGN = {"VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH"}

if __name__ == "__main__":
    sys.exit(main())
