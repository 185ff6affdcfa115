"""How long a reader waits for the inference page, in a real browser.

Usage: python benchmarks/pages.py ADDRESS [QUERY]

ADDRESS is a running site, QUERY what stands behind the question mark. Prints the
median of ten: navigation to the first frontier drawn with an empty cache, a changed
filter to the chart drawn anew, a changed target to the new ranking, and what the
server needs for the page. To have many keys, fill an EMPTY database with
``python benchmarks/pages.py --fill KEYS POINTS`` first; DATABASE_URL names it.

``--fill-history SWEEPS POINTS`` stores a key with a long history instead, and
``ADDRESS --key`` prints what the server needs for its page.
"""

import os
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

REPEATS = 10
HISTORY_KEY = "key-with-a-history"
BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]
# When the frontiers had been shown (at first as the still picture), and when plotly had
# drawn the chart, counted from the navigation on.
WATCH = """
const seen = new MutationObserver(() => {
  if (!document.querySelector("[data-still] [data-role], [data-plot] .js-line")) return;
  seen.disconnect();
  requestAnimationFrame(() => setTimeout(() => {
    window.firstFrontier = performance.now();
  }));
});
const drawn = new MutationObserver(() => {
  if (!document.querySelector("[data-plot][data-drawn]")) return;
  drawn.disconnect();
  window.firstDrawn = performance.now();
});
for (const observer of [seen, drawn]) {
  observer.observe(document, { attributes: true, childList: true, subtree: true });
}
"""
# Ticks a box once the page has come to rest, and answers how many ms later the new
# frontiers had been shown, and how many until plotly had drawn the chart.
CHANGE = """async (selector) => {
  const frame = () => new Promise(requestAnimationFrame);
  while (document.querySelector("[data-later]")) await frame();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise(requestIdleCallback);
  const old = document.querySelector("[data-plot]");
  const start = performance.now();
  document.querySelector(selector).click();
  let shown;
  for (;;) {
    await new Promise(requestAnimationFrame);
    const plot = document.querySelector("[data-plot]");
    const isNew = plot && plot !== old;
    const isSeen = document.querySelector("[data-still], [data-plot][data-drawn]");
    if (isNew && isSeen && shown === undefined) {
      await new Promise((resolve) => setTimeout(resolve)); // this frame shows it
      shown = performance.now() - start;
    }
    if (isNew && plot.dataset.drawn !== undefined) break;
    if (performance.now() - start > 10000) throw new Error("never drawn");
  }
  return [shown, performance.now() - start];
}"""
RANK = """async (at) => {
  const input = document.querySelector("#ranking-at");
  const old = document.querySelector("#ranking");
  const start = performance.now();
  input.value = at;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  while (document.querySelector("#ranking") === old) {
    await new Promise(requestAnimationFrame);
    if (performance.now() - start > 10000) throw new Error("never ranked");
  }
  return performance.now() - start;
}"""


def first_frontier_ms(browser: Any, url: str) -> float:
    """Open the page in a fresh profile and return when a frontier was drawn."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(url)
    page.wait_for_function("window.firstFrontier !== undefined")
    drawn: float = page.evaluate("window.firstFrontier")
    context.close()
    return drawn


def opened(browser: Any, url: str) -> Any:
    """Return the page, drawn and warm."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(url)
    page.wait_for_selector("[data-plot][data-drawn]")
    return page


def server_ms(url: str) -> float:
    """Return how long one answer takes, read to its end."""
    start = time.perf_counter()
    with urllib.request.urlopen(url) as answer:  # noqa: S310  # the address given
        answer.read()
    return (time.perf_counter() - start) * 1000


def print_median(name: str, measured: Callable[[int], float]) -> None:
    """Print a line with the median and the slowest of ten."""
    times = [measured(n) for n in range(REPEATS)]
    print(f"{name:<44} {median(times):7.0f} ms   slowest {max(times):7.0f} ms")


def fill(keys: int, points: int) -> None:
    """Store one model with so many keys and points a key in an empty database."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    import django  # noqa: PLC0415  # only with settings

    django.setup()
    from dashboard.models import Run  # noqa: PLC0415
    from tests.pages.builders import add_points, official_sweep  # noqa: PLC0415

    if Run.objects.exists():
        sys.exit("The database holds runs: --fill wants an empty one.")
    hardware = ("b200", "gb200", "mi355x", "h200", "mi325x")
    for n in range(keys):
        fields = {"hardware": hardware[n % 5], "framework": ("sglang", "vllm")[n % 2]}
        sweep = official_sweep(f"qwen3.5-fp4-key-{n}", key_fields=fields)
        add_points(
            sweep,
            [(2**c, 300 / (1 + c) + n, 120 * c + 10 * n) for c in range(1, points + 1)],
            extra={f"{s}_ttft": 1.0 for s in ("mean", "p99", "p99.9", "std")},
        )


def fill_history(sweeps: int, points: int) -> None:
    """Store a key with so many official sweeps, of so many points each."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    import django  # noqa: PLC0415  # only with settings

    django.setup()
    from tests.pages.key_builders import add_sweep, derive  # noqa: PLC0415

    sizes = (1, 2, 4, 8, 16, 32)
    curve = [(n, 300 / n, 120.0 * n) for n in range(1, points // len(sizes) + 1)]
    for day in range(sweeps):
        checkpoint = f"org/Weights-{3 * day // sweeps}"
        image = f"img:{day // 7}"
        add_sweep(
            day,
            key=HISTORY_KEY,
            curve=curve,
            tps=sizes,
            checkpoint=checkpoint,
            image=image,
        )
    derive(HISTORY_KEY)


def measure_key(address: str) -> None:
    """Print what the server needs for the page of the key with a long history."""
    for show in ("best", "area", "point", "evals"):
        url = f"{address}/keys/{HISTORY_KEY}?show={show}"
        server_ms(url)
        print_median(f"page of a key, history of {show}", _answers(url))


def _answers(url: str) -> Callable[[int], float]:
    return lambda _n: server_ms(url)


def main() -> None:
    """Print a line per measurement."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # not for --fill

    url = f"{sys.argv[1]}/inference?{''.join(sys.argv[2:3])}"
    chromium = next(path for path in BROWSERS if Path(path).exists())
    print_median("the whole page, from the server", lambda _n: server_ms(url))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        print_median(
            "navigation to the first frontier, empty cache",
            lambda _n: first_frontier_ms(browser, url),
        )
        page = opened(browser, url)
        changes = [page.evaluate(CHANGE, "#filter-logx") for _ in range(REPEATS)]
        shown, drawn = zip(*changes, strict=True)
        print_median("filter change to the new frontiers", shown.__getitem__)
        print_median("filter change to the chart of plotly", drawn.__getitem__)
        print_median(
            "target change to the new ranking",
            lambda n: page.evaluate(RANK, str(20 + n)),
        )
        browser.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fill"]:
        fill(int(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["--fill-history"]:
        fill_history(int(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[2:3] == ["--key"]:
        measure_key(sys.argv[1])
    else:
        main()
