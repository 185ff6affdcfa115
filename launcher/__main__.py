"""The launcher's command line: `python -m launcher run`."""

import argparse
import sys

from launcher.run import run


def main() -> int:
    """Run the command of the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="launcher", description=__doc__)
    parser.add_argument("command", choices=["run"], help="start everything")
    parser.parse_args()
    return run()


if __name__ == "__main__":
    sys.exit(main())
