"""How fast a running site answers: pages of 1,000 points, and long lists as lines.

Usage: python benchmarks/api.py [--site http://127.0.0.1:8000] [--model dsr1]

The site needs 50,000 official points of the model, which `benchmarks/published.py
--fill` stores into an empty database. Asks twenty times each, the first answer left
out, and prints medians and the slowest. Exits with 1 where the median of a page takes
50 ms, or that of a first byte 300 ms.
"""

import argparse
import os
import sys
import time
from http.client import HTTPConnection
from statistics import median
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

WHOLE_MS, FIRST_BYTE_MS, REPEATS, LONG_REPEATS = 50, 300, 20, 5


class Took(NamedTuple):
    """One answer: ms to its first byte and to its last, and its bytes."""

    first: float
    whole: float
    size: int


def ask(link: HTTPConnection, path: str, coding: str) -> Took:
    """Ask once over a connection that is open already."""
    began = time.perf_counter()
    link.request("GET", path, headers={"Accept-Encoding": coding})
    answer = link.getresponse()
    if answer.status != 200:  # noqa: PLR2004  # anything else is no measurement
        raise SystemExit(f"{path}: {answer.status} {answer.read(300)!r}")
    size = len(answer.read(1))
    first = time.perf_counter() - began
    while piece := answer.read(1 << 16):
        size += len(piece)
    return Took(first * 1000, (time.perf_counter() - began) * 1000, size)


def measure(link: HTTPConnection, path: str, coding: str, repeats: int) -> list[Took]:
    """Ask several times, the first answer left out."""
    return [ask(link, path, coding) for _ in range(repeats + 1)][1:]


def told(name: str, found: list[Took]) -> str:
    """Return a row of the table."""
    firsts, wholes = [t.first for t in found], [t.whole for t in found]
    return (
        f"| {name} | {found[0].size / 1e6:.2f} MB | {median(firsts):.0f} ms "
        f"({max(firsts):.0f}) | {median(wholes):.0f} ms ({max(wholes):.0f}) |"
    )


def main() -> int:
    """Measure and print; return 1 where an answer is too slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", default="http://127.0.0.1:8000")
    parser.add_argument("--model", default="dsr1")
    asked = parser.parse_args()
    parts = urlsplit(asked.site)
    link = HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=120)
    page = f"/api/v1/points?{urlencode({'model': asked.model, 'limit': 1000})}"
    lines = f"/api/v1/points?{urlencode({'model': asked.model, 'format': 'ndjson'})}"
    print(f"load {os.getloadavg()[0]:.1f}")
    print("| asked | size | first byte, median (slowest) | whole, median (slowest) |")
    print("| --- | --- | --- | --- |")
    is_slow = False
    for name, path, coding, repeats in (
        ("1,000 points", page, "identity", REPEATS),
        ("the same, gzip", page, "gzip", REPEATS),
        ("the same, brotli", page, "br", REPEATS),
        ("all points as lines", lines, "identity", LONG_REPEATS),
        ("the same, gzip", lines, "gzip", LONG_REPEATS),
    ):
        found = measure(link, path, coding, repeats)
        print(told(name, found))
        whole, first = median(t.whole for t in found), median(t.first for t in found)
        is_slow |= first >= FIRST_BYTE_MS or (path == page and whole >= WHOLE_MS)
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
