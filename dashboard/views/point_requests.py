"""The requests of a replayed point: their charts and tables, and asking for them."""

from collections.abc import Iterator
from typing import NamedTuple

from dashboard.analysis.request_distributions import QUANTILES, rate_of_errors
from dashboard.charts.requests import Bar, histogram_figure, timeline_figure
from dashboard.models import RequestTrace
from dashboard.queries.point_detail import PointReport
from dashboard.queries.point_requests import Request, requests_of
from dashboard.views.point_parts import Picture, picture

MOST_ROWS = 100
# Quantity of a reading to its label and unit.
QUANTITIES = {
    "ttft": ("Time to first token", "s"),
    "e2el": ("End-to-end latency", "s"),
    "itl": ("Inter-token latency", "s"),
    "intvty": ("Interactivity", "tok/s/user"),
    "input_tokens": ("Input tokens", "tokens"),
    "output_tokens": ("Output tokens", "tokens"),
}
SKIPPED = {
    "line_too_long": "lines longer than 1 MB",
    "bad_line": "lines that are no JSON object of a request",
    "too_many_requests": "requests beyond the first million, which are only counted",
}
_BAD_VALUE = "bad_value:"


class Quantiles(NamedTuple):
    """One row of the table of distributions."""

    label: str
    unit: str
    n: int
    mean: float
    std: float
    least: float
    most: float
    values: list[float]


class ShownRequests(NamedTuple):
    """Everything that the page shows of a reading."""

    trace: RequestTrace
    error_rate: float | None
    skipped: list[tuple[str, int]]
    timeline: Picture
    histograms: list[Picture]
    quantiles: list[Quantiles]
    names: list[str]
    first: list[Request]


def shown_requests(report: PointReport, trace: RequestTrace) -> ShownRequests:
    """Return the charts and tables of a reading."""
    rows = list(requests_of(trace))
    return ShownRequests(
        trace=trace,
        error_rate=rate_of_errors(trace.counts),
        skipped=[(_reason(why), n) for why, n in trace.counts["skipped"].items()],
        timeline=_timeline(report, rows),
        histograms=list(_histograms(report, trace)),
        quantiles=list(_quantiles(trace)),
        names=list(QUANTILES),
        first=rows[:MOST_ROWS],
    )


def _reason(why: str) -> str:
    if why.startswith(_BAD_VALUE):
        return f"values of {why.removeprefix(_BAD_VALUE)} that are no usable number"
    return SKIPPED.get(why, why)


def _timeline(report: PointReport, rows: list[Request]) -> Picture:
    lanes: dict[str, int] = {}
    bars = []
    for row in rows:
        lane = lanes.setdefault(row.conversation or "no conversation", len(lanes))
        words = tuple(_words(row))
        bars.append(Bar(row.number, lane, row.kind, row.start_s, row.end_s, words))
    figure = timeline_figure(bars, list(lanes))
    return picture(report, "requests", ("Requests over time", "s"), figure, [], [])


def _words(row: Request) -> Iterator[str]:
    turn = "" if row.turn is None else f", turn {row.turn}"
    yield f"{row.conversation or 'no conversation'}{turn}"
    yield f"{row.kind}, begun at {row.start_s:,.1f} s"
    told = (
        ("TTFT", row.ttft_s, "s"),
        ("E2E", row.e2e_s, "s"),
        ("input", row.input_tokens, "tokens"),
        ("output", row.output_tokens, "tokens"),
    )
    parts = [f"{n} {v:,.4g} {unit}" for n, v, unit in told if v is not None]
    if parts:
        yield ", ".join(parts)


def _histograms(report: PointReport, trace: RequestTrace) -> Iterator[Picture]:
    for name, (label, unit) in QUANTITIES.items():
        spread = trace.distributions.get(name)
        figure = histogram_figure(spread, label, unit) if spread else _NONE
        rows: list[tuple[str, list[float | None]]] = []
        if spread:
            ends = zip(spread["edges"], spread["edges"][1:], strict=False)
            rows = [
                (f"{low:.4g} to {high:.4g}", [count])
                for (low, high), count in zip(ends, spread["counts"], strict=True)
            ]
        words = (label, unit)
        slug = f"requests-{name.replace('_', '-')}"
        yield picture(report, slug, words, figure, ["Requests"], rows)


_NONE = "No request that counts has one."


def _quantiles(trace: RequestTrace) -> Iterator[Quantiles]:
    for name, (label, unit) in QUANTITIES.items():
        spread = trace.distributions.get(name)
        if spread:
            values = [spread["quantiles"][q] for q in QUANTILES]
            ends = (spread["min"], spread["max"])
            moments = (spread["n"], spread["mean"], spread["std"])
            yield Quantiles(label, unit, *moments, *ends, values)
