"""The launcher's command line: `python -m launcher run`, or `scripts` alone."""

import argparse
import sys

from launcher import frontend
from launcher.console import say
from launcher.errors import LaunchError
from launcher.run import run


def main() -> int:
    """Run the command of the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="launcher", description=__doc__)
    parser.add_argument(
        "command",
        choices=["run", "scripts"],
        help="run: start everything; scripts: only install what the pages load",
    )
    return run() if parser.parse_args().command == "run" else _scripts()


def _scripts() -> int:
    """Install the pages' scripts, which the browser tests need too."""
    try:
        frontend.install()
    except LaunchError as error:
        say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
