"""What the page of a point shows: its metrics by family, and its pictures."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dashboard.charts.exports import Words, export_layout
from dashboard.charts.frontier import Figure
from dashboard.charts.point import AxisWords, Series, shares_figure, statistics_figure
from dashboard.queries.point_detail import PointReport
from dashboard.vocabulary.metrics import DERIVED, METRICS, Metric
from dashboard.vocabulary.statistics import OF_TRACES, STATISTICS, quantities, singles

# Share to its label, where the registry has none.
CACHES = (
    "theoretical_cache_hit_rate",
    "server_overall_cache_hit_rate",
    "server_gpu_cache_hit_rate",
    "server_cpu_cache_hit_rate",
    "server_external_cache_hit_rate",
    "gpu_kv_cache_usage_pct",
    "cpu_kv_cache_usage_pct",
)
_UNREGISTERED = {"cpu_kv_cache_usage_pct": "CPU KV cache usage"}
# What only replayed traces measure, beside the quantities of `OF_TRACES`.
_SINGLES_OF_TRACES = frozenset(
    {*CACHES, "total_prompt_tokens", "total_generation_tokens"}
    | {"total_requests_completed", "duration_seconds"}
)
_ORDER = ("Throughput", "Interactivity", "Latency", "Power and energy", "Cost")
_SHORT = {
    "ttft": "TTFT",
    "e2el": "E2E",
    "itl": "ITL",
    "tpot": "TPOT",
    "intvty": "Interactivity",
    "e2e_norm_intvty": "End-to-end interactivity",
    "input_tokens": "Input",
    "output_tokens_actual": "Output",
    "output_tokens_expected": "Expected output",
}


class Cell(NamedTuple):
    """One value of a family; ``note`` says what it was made with."""

    metric: Metric
    value: float | None
    note: str = ""


class Spread(NamedTuple):
    """The statistics of one quantity, in the order of the columns."""

    label: str
    unit: str
    cells: list[Cell | None]


class Family(NamedTuple):
    """Metrics that are offered together; missing ones are there, as missing."""

    name: str
    singles: list[Cell]
    spreads: list[Spread]


class Picture(NamedTuple):
    """A chart with what its script needs, or the reason why there is none.

    ``rows`` are its table: a label and its values under ``columns``.
    """

    slug: str
    title: str
    unit: str
    figure: Figure | None
    reason: str
    alone: Figure | None
    columns: list[str]
    rows: list[tuple[str, list[float | None]]]

    @property
    def figure_id(self) -> str:
        """The id of the figure in the page."""
        return f"figure-{self.slug}"

    @property
    def alone_id(self) -> str:
        """The id of the layout away from the page."""
        return f"alone-{self.slug}"


def families(report: PointReport) -> list[Family]:
    """Return the metrics of the registry that apply to the point, by family."""
    found: dict[str, Family] = {}
    for cell in _single_cells(report):
        _family(found, cell.metric).singles.append(cell)
    for name, quantity in quantities().items():
        cells = [_cell(report, quantity.metrics.get(s)) for s in STATISTICS]
        if _applies(report, name, cells):
            metric = next(iter(quantity.metrics.values()))
            spread = Spread(quantity.label, quantity.unit, cells)
            _family(found, metric).spreads.append(spread)
    return sorted(found.values(), key=lambda family: _place_of(family.name))


def _place_of(name: str) -> int:
    """Return where a family stands; what is not listed comes last."""
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def _family(found: dict[str, Family], metric: Metric) -> Family:
    return found.setdefault(metric.family, Family(metric.family, [], []))


def _single_cells(report: PointReport) -> Iterable[Cell]:
    for metric in singles():
        if metric.name in DERIVED:
            made = report.derived[metric.name]
            yield Cell(metric, made.value, made.terms)
            continue
        value = report.point.metrics.get(metric.name)
        is_other = metric.name in _SINGLES_OF_TRACES and not report.is_agentic
        if value is not None or not is_other:
            yield Cell(metric, value)


def _cell(report: PointReport, metric: Metric | None) -> Cell | None:
    if metric is None:
        return None
    return Cell(metric, report.point.metrics.get(metric.name))


def _applies(report: PointReport, name: str, cells: Iterable[Cell | None]) -> bool:
    is_measured = any(cell and cell.value is not None for cell in cells)
    return is_measured or report.is_agentic or name not in OF_TRACES


def metric_rows(report: PointReport) -> list[tuple[Any, ...]]:
    """Return every metric as a row of the file: name, label, unit, value, formula."""
    rows = []
    for family in families(report):
        cells = [c for s in family.spreads for c in s.cells if c is not None]
        for cell in (*family.singles, *cells):
            metric = cell.metric
            is_derived = metric.name in DERIVED
            rows.append(
                (
                    *(
                        family.name,
                        metric.name,
                        metric.label,
                        metric.unit or "fraction",
                    ),
                    *(cell.value, is_derived, metric.formula, cell.note),
                )
            )
    return rows


def pictures(report: PointReport) -> list[Picture]:
    """Return the charts of the point's aggregate; a fixed length has no caches."""
    shown = [
        _statistics(report, "latency", "Latency", ("ttft", "e2el"), is_log=True),
        _statistics(report, "token-latency", "Time per token", ("itl", "tpot")),
        _statistics(
            report, "interactivity", "Interactivity", ("intvty", "e2e_norm_intvty")
        ),
    ]
    if not report.is_agentic:
        return shown
    tokens = ("input_tokens", "output_tokens_actual", "output_tokens_expected")
    title = "Tokens per request"
    shown.append(_statistics(report, "tokens", title, tokens, is_log=True))
    return [*shown, _caches(report)]


def _statistics(
    report: PointReport,
    slug: str,
    title: str,
    names: Iterable[str],
    *,
    is_log: bool = False,
) -> Picture:
    known = quantities()
    shown = [known[name] for name in names]
    series = [
        Series(_SHORT[q.name], _values(report.point.metrics, q.metrics)) for q in shown
    ]
    unit = shown[0].unit
    figure = statistics_figure(series, AxisWords(f"{title} ({unit})", is_log))
    rows = [(s.label, [s.values.get(name) for name in STATISTICS]) for s in series]
    return picture(report, slug, (title, unit), figure, list(STATISTICS.values()), rows)


def _values(
    metrics: Mapping[str, float], named: Mapping[str, Metric]
) -> dict[str, float | None]:
    return {statistic: metrics.get(m.name) for statistic, m in named.items()}


def _caches(report: PointReport) -> Picture:
    metrics = report.point.metrics
    shares = [(_label(name), metrics.get(name)) for name in CACHES]
    rows = [(label, [share]) for label, share in shares]
    words = ("Caches", "fraction")
    return picture(report, "caches", words, shares_figure(shares), ["Share"], rows)


def _label(name: str) -> str:
    return METRICS[name].label if name in METRICS else _UNREGISTERED[name]


def picture(  # a chart is its figure, its words and its table
    report: PointReport,
    slug: str,
    words: tuple[str, str],
    figure: Figure | str,
    columns: list[str],
    rows: list[tuple[str, list[float | None]]],
) -> Picture:
    """Return a figure with its table and how it looks away from the page."""
    title, unit = words
    if isinstance(figure, str):
        return Picture(slug, title, unit, None, figure, None, columns, rows)
    alone = export_layout(_words(report, title, unit), len(figure["data"]), None)
    return Picture(slug, title, unit, figure, "", alone, columns, rows)


def _words(report: PointReport, title: str, unit: str) -> Words:
    sweep, point = report.sweep, report.point
    where = f"{point.deployment.label}, concurrency {point.concurrency}"
    lines = [
        f"{sweep.config_key.key}, {sweep.scenario}, {where}",
        f"run {report.run.github_run_id}, {sweep.measured_at:%Y-%m-%d}",
        f"point {point.pk}",
    ]
    if report.acceptance_label:
        lines.append(f"acceptance: {report.acceptance_label}")
    is_official = report.run.publication == "official"
    watermark = "" if is_official else "unofficial"
    return Words(f"{title} ({unit})" if unit else title, lines, watermark)
