"""The .env file of the checkout: settings for those who do not set the environment."""

import os
from pathlib import Path

from launcher.errors import LaunchError
from launcher.paths import CHECKOUT


def load_env_file(path: Path = CHECKOUT / ".env") -> None:
    """Set what the file names and the environment does not; no file is no error."""
    if not path.exists():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise LaunchError(f"{path}, line {number}: NAME=value is expected.")
        os.environ.setdefault(name, value.strip().strip("'\""))
