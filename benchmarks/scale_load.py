"""What eight connections that never pause get: wrk, on this machine, for seconds."""

import math
import re
import shutil
import subprocess

WARM_UP, SECONDS, CONNECTIONS = 2, 8, 8
MOST_TIMES_MEDIAN = 10
_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


def load_figures(address: str, paths: tuple[str, ...], static: str) -> bool:
    """Print requests/s, median and p99 of each path beside a static file's.

    Tells whether no answer failed and p99 stayed below ten times the median; of the
    static file, which is there to compare, only whether none failed.
    """
    wrk = shutil.which("wrk")
    if wrk is None:
        print("wrk is absent: apt-get install wrk")
        return False
    print(f"| {CONNECTIONS} connections | requests/s | median, ms | p99, ms | |")
    print("| --- | --- | --- | --- | --- |")
    for path in paths:
        # The packing that wrk takes is made once, and each process reads its templates.
        _said(wrk, address + path, WARM_UP)
    # Every path is to be printed, whatever became of the one before.
    printed = [_printed(wrk, address, path) for path in paths]
    return _printed(wrk, address, static, most=math.inf) and all(printed)


def _said(wrk: str, url: str, seconds: int) -> str:
    return subprocess.run(  # noqa: S603  the machine's own, bounded
        [
            *(wrk, "-t2", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency"),
            *("--timeout", "30s", "-H", "Accept-Encoding: gzip", url),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def _printed(
    wrk: str, address: str, path: str, most: float = MOST_TIMES_MEDIAN
) -> bool:
    said = _said(wrk, address + path, SECONDS)
    rate = float(_told(r"Requests/sec:\s+([0-9.]+)", said))
    # At the begin of a line: a share of the answers may end in 50%, too.
    middle, last = (_ms(_told(rf"\n\s+{n}%\s+(\S+)", said)) for n in (50, 99))
    is_good = "Non-2xx" not in said and "Socket errors" not in said
    is_good = is_good and last < most * middle
    print(
        f"| {path} | {rate:,.0f} | {middle:.1f} | {last:.1f} |"
        f" {'ok' if is_good else 'NOT OK'} |",
        flush=True,
    )
    return is_good


def _told(pattern: str, said: str) -> str:
    found = re.search(pattern, said)
    if found is None:
        raise SystemExit(f"wrk said otherwise: {said}")
    return found[1]


def _ms(text: str) -> float:
    found = re.fullmatch(r"([0-9.]+)([a-z]+)", text)
    if found is None:
        raise SystemExit(f"wrk: no time: {text}")
    return float(found[1]) * _UNITS[found[2]]
