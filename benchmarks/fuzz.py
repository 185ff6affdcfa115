"""Read bent artifacts by the hundred thousand: no error, no hang, no lost good row.

Usage: python benchmarks/fuzz.py [INPUTS] [FIRST_CHUNK]
       python benchmarks/fuzz.py --coverage SECONDS

INPUTS (200,000 without a number) are drawn in chunks of 5,000, each from the seed of
its own number, so that a finding can be had again: FIRST_CHUNK is where to begin.
Records, JSON bytes and archives are bent (tests/fuzzing/inputs.py) and take the way of
the ingestion from bytes to rows (tests/fuzzing/checking.py). Nothing is stored. Prints
what came of the rows, and of each finding where it is and its seed; ends with 1 then.

``--coverage SECONDS`` looks for ways through the code that no input took so far, with
the coverage-guided atheris, where that is installed (it has no wheel for every machine,
so it is no dependency). Both need DATABASE_URL or the data folder, as manage.py does.
"""

import os
import resource
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

INPUTS = 200_000
CHUNK = 5_000
# So many of one seed: hypothesis takes longer for a seed than an input takes.
BATCH = 20
MOST_BYTES = 3 << 30


def main() -> int:
    """Run all chunks; return 1 where something was found."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    import django  # noqa: PLC0415  # what may be set before it is set by now

    django.setup()
    if sys.argv[1:2] == ["--coverage"]:
        guided(int(sys.argv[2]))
        return 0
    inputs = int(sys.argv[1]) if sys.argv[1:] else INPUTS
    first = int(sys.argv[2]) if sys.argv[2:] else 0
    told: Counter[str] = Counter()
    findings = 0
    began = time.monotonic()
    for number in range(first, first + -(-inputs // CHUNK)):
        try:
            slowest = chunk(number, told)
        except Exception:  # noqa: BLE001  # whatever it is, it is what is looked for
            print(traceback.format_exc(limit=-3), flush=True)
            findings += 1
            continue
        taken = time.monotonic() - began
        print(f"chunk {number}: {taken:.0f} s, slowest {slowest:.2f} s", flush=True)
    print(f"{told.pop('inputs'):,} inputs, {findings} findings; rows and skips:")
    for what, count in told.most_common():
        print(f"  {count:>9,} {what}")
    return min(findings, 1)


def chunk(number: int, told: Counter[str]) -> float:
    """Check one chunk; return the processor seconds of its slowest input."""
    from tests.fuzzing.checking import check  # noqa: PLC0415
    from tests.fuzzing.inputs import case_of  # noqa: PLC0415

    slowest = 0.0

    @seed(number)
    @unhurried(CHUNK // BATCH)
    @given(dice=st.randoms(use_true_random=True))
    def checked(dice: Random) -> None:
        nonlocal slowest
        for _ in range(BATCH):
            case = case_of(dice)
            began = time.process_time()
            told.update(check(case))
            slowest = max(slowest, time.process_time() - began)
            told["inputs"] += 1

    checked()
    return slowest


def unhurried(inputs: int) -> settings:
    """Return settings of hypothesis for many inputs, none of them kept."""
    return settings(
        max_examples=inputs,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def guided(seconds: int) -> None:
    """Let atheris choose the inputs by what they reach."""
    import atheris  # noqa: PLC0415

    with atheris.instrument_imports(include=["ingest", "dashboard.vocabulary"]):
        from tests.fuzzing.checking import check  # noqa: PLC0415
        from tests.fuzzing.inputs import Case, cases  # noqa: PLC0415

    @unhurried(CHUNK)
    @given(case=cases)
    def checked(case: Case) -> None:
        check(case)

    options = [sys.argv[0], f"-max_total_time={seconds}", "-print_final_stats=1"]
    entry = checked.hypothesis.fuzz_one_input  # type: ignore[attr-defined]
    atheris.Setup(options, entry)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
