"""What the launcher says, line by line."""

import sys


def say(line: str) -> None:
    """Write one line to the terminal at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
