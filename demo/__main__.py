"""Command line: ``python -m demo FOLDER [--until YYYY-MM-DD]``."""

import argparse
import sys
from datetime import UTC, date, datetime
from pathlib import Path

from demo.bundles import write_bundles


def main(arguments: list[str] | None = None) -> int:
    """Write the demo's bundles and say how many; 1 where the folder refuses."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--until",
        type=date.fromisoformat,
        default=datetime.now(UTC).date(),
        metavar="YYYY-MM-DD",
        help="last day of the story, today where not given",
    )
    options = parser.parse_args(arguments)
    try:
        bundles = write_bundles(options.folder, options.until)
    except OSError as error:
        sys.stderr.write(f"demo: {error.strerror}: {error.filename}\n")
        return 1
    sys.stdout.write(f"{len(bundles)} bundles in {options.folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
