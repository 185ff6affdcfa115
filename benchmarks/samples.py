"""Measures how samples of an eval are stored and paged, and the memory it takes.

``python benchmarks/samples.py [--documents 10000] [--size 20000]``: one eval whose
file has two lines per document, each of ``--size`` characters. Ingestion, the same
again and the pages of the drawer each have a process of their own and a database of
their own, on the server of DATABASE_URL or on an embedded one.
"""

import argparse
import json
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.ingest import database, manage

MOST_MEMORY_MB = 500
MOST_PAGE_MS = 200
REPEATS = 5
FILTERS = ("strict-match", "flexible-extract")
TIME = "2026-08-01T20-30-00.100000"
ARTIFACT = (
    "eval_qwen3.5_8k1k_qwen3.5_8k1k_fp4_sglang_tp2-pp1-dcp1-pcp1-ep1-dpafalse"
    "_disagg-false_spec-none_conc64_mi355x-amds_02"
)
META = {
    "is_multinode": False, "framework": "sglang", "precision": "fp4",
    "spec_decoding": "none", "tp": 2, "ep": 1, "conc": 64, "dp_attention": False,
    "model": "org-a/Model-397B-FP4", "infmax_model_prefix": "qwen3.5",
    "hw": "mi355x-amds", "isl": "8192", "osl": "1024",
}  # fmt: skip
RUN = {
    "id": 90001, "run_attempt": 1, "event": "push", "head_branch": "main",
    "head_sha": "a" * 40, "status": "completed", "conclusion": "success",
    "created_at": "2026-08-01T20:00:00Z", "run_started_at": "2026-08-01T20:00:05Z",
    "path": ".github/workflows/run-sweep.yml",
    "repository": {"full_name": "SemiAnalysisAI/InferenceX"},
}  # fmt: skip


def make_bundle(folder: Path, documents: int, size: int) -> None:
    """Write a bundle with one eval and its samples."""
    members = folder / "artifacts" / f"1001-{ARTIFACT}"
    members.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(RUN))
    (members / "meta_env.json").write_text(json.dumps(META))
    scores = {f"exact_match,{name}": 0.95 for name in FILTERS}
    asked = {"original": documents, "effective": documents}
    found = {"results": {"gsm8k": scores}, "n-samples": {"gsm8k": asked}}
    (members / f"results_{TIME}.json").write_text(json.dumps(found))
    chance = random.Random(1)  # noqa: S311  # a made-up text
    with (members / f"samples_gsm8k_{TIME}.jsonl").open("w") as file:
        for doc_id in range(documents):
            for line in _lines(doc_id, size, chance):
                file.write(line + "\n")


def _lines(doc_id: int, size: int, chance: random.Random) -> list[str]:
    """Write a document as both filters read it: three quarters of it are prompt."""
    words = [f"{chance.getrandbits(24):x}" for _ in range(size // 8)]
    text = " ".join(words).ljust(size)[:size]
    prompt, answer = text[: 3 * size // 4], text[3 * size // 4 :]
    return [
        json.dumps(
            {
                "doc_id": doc_id,
                "target": f"{doc_id}",
                "arguments": [[prompt, {}]],
                "resps": [[answer]],
                "filtered_resps": [f"{doc_id}"],
                "filter": name,
                "metrics": ["exact_match"],
                "exact_match": float(doc_id % 20 != 0),
            }
        )
        for name in FILTERS
    ]


def ingest_here(folder: Path) -> dict[str, float]:
    """Ingest a bundle in this process; return seconds and the peak in MB."""
    import django  # noqa: PLC0415  the process that compares needs no Django

    django.setup()
    from dashboard.models import EvalSample  # noqa: PLC0415
    from ingest.artifacts.bundles import open_bundle  # noqa: PLC0415
    from ingest.pipeline import ingest_bundle, limits  # noqa: PLC0415

    start = time.perf_counter()
    ingest_bundle(open_bundle(folder, limits()))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = EvalSample.objects.count()
    return {"seconds": seconds, "peak_mb": peak, "rows": rows}


def page_here() -> dict[str, float]:
    """Return how many ms each kind of page takes, the median of some."""
    import django  # noqa: PLC0415  the process that compares needs no Django

    django.setup()
    from dashboard.models import EvalResult, EvalSample  # noqa: PLC0415
    from dashboard.queries.eval_samples import page  # noqa: PLC0415

    pk = EvalResult.objects.get().pk
    last = EvalSample.objects.latest("doc_id").doc_id
    kinds: dict[str, Callable[[], object]] = {
        "first": lambda: page(pk),
        "last": lambda: page(pk, offset=last - 10),
        "failed": lambda: page(pk, failed_only=True),
        "failed by one filter": lambda: page(pk, failed_only=True, filter=FILTERS[0]),
        "search, found often": lambda: page(pk, search="ab1"),
        "search, found once": lambda: page(pk, search=str(last)),
        "search, found nowhere": lambda: page(pk, search="no such words"),
    }
    return {name: _median_ms(act) for name, act in kinds.items()}


def _median_ms(act: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        act()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def compare(documents: int, size: int) -> bool:
    """Print all figures; tell whether the required ones are reached."""
    with database() as env:
        folder = Path(env["FRONTIERBOARD_DATA"]) / "bundle"
        make_bundle(folder, documents, size)
        manage("manage.py", "migrate", "--verbosity=0", env=env)
        for title in ("stored", "the same again"):
            text = manage(__file__, "--ingest", str(folder), env=env)
            found = json.loads(text.splitlines()[-1])
            print(
                f"{title:16} {found['rows']:,} lines of {size:,} characters: "
                f"{found['seconds']:.1f} s, peak {found['peak_mb']:.0f} MB",
                flush=True,
            )
            peak = found["peak_mb"]
        pages = json.loads(manage(__file__, "--pages", env=env).splitlines()[-1])
    for name, ms in pages.items():
        print(f"page, {name:22} {ms:7.1f} ms")
    paged = max(ms for name, ms in pages.items() if not name.startswith("search"))
    return bool(peak < MOST_MEMORY_MB and paged < MOST_PAGE_MS)


def main() -> int:
    """Print the figures; 0 where those required are reached, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--ingest", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--pages", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ingest is not None:
        print(json.dumps(ingest_here(options.ingest)))
        return 0
    if options.pages:
        print(json.dumps(page_here()))
        return 0
    return 0 if compare(options.documents, options.size) else 1


if __name__ == "__main__":
    sys.exit(main())
