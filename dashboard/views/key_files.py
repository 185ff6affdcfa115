"""What the page of a key shows, as files: the same rows, units in the headers."""

from collections.abc import Callable, Mapping

from dashboard.analysis.changes import sentence
from dashboard.views.key_parts import KeyShown
from dashboard.views.point_files import points_table
from dashboard.views.point_tables import Block
from dashboard.views.tables import Table
from dashboard.vocabulary.links import repository_of


def key_table(shown: KeyShown, table: str) -> Table:
    """Return one of the ``FILES`` of the page."""
    view = shown.view
    name = "-".join(filter(None, (shown.key.key, view.scenario, table)))
    about = {
        "config_key": shown.key.key,
        "scenario": view.scenario,
        "as_of": view.as_of,
    }
    if table in TABLES:
        return TABLES[table](shown, name, about)
    blocks = [Block(shown.points)] if shown.history.current else []
    return points_table(blocks, shown.x.name, shown.y.name, name, about)


def _history(shown: KeyShown, name: str, about: Mapping[str, object]) -> Table:
    names = [f"{one.name}: {shown.value_title}" for one in shown.series]
    bounds = [f"{one.name}: {end}" for one in shown.series for end in ("low", "high")]
    columns = (
        *("config_key", "scenario", "official_at", "run_id", "pr_number", "state"),
        *("segment", "checkpoint", "image", "received", "planned", "changes"),
        *names,
        *(bounds if shown.has_bounds else ()),
        *("measured_at", "repository", "run_url"),
    )
    rows = []
    for sweep, values in shown.rows:
        facts = sweep.facts
        ends = [e for v in values for e in ((v.low, v.high) if v else (None, None))]
        rows.append(
            (
                *(facts.config_key, facts.scenario, sweep.at, facts.run_id),
                sweep.pull.number if sweep.pull else None,
                *(sweep.state, sweep.segment, facts.checkpoint or None),
                *(facts.image or None, facts.received, facts.planned),
                list(map(sentence, sweep.changes)),
                *(value.value if value else None for value in values),
                *(ends if shown.has_bounds else ()),
                *(facts.measured_at, repository_of(facts.run_url) or None),
                facts.run_url or None,
            )
        )
    brief = ("official_at", "run_id", "state", "checkpoint", "received", *names)
    return Table(name, columns, rows, about, brief=(*brief, "planned", "changes"))


def _grid(shown: KeyShown, name: str, about: Mapping[str, object]) -> Table:
    columns = (
        *("config_key", "scenario", "deployment", "concurrency", shown.y.column),
        *("change", "last_measured_at", "last_run_id", "is_current", "event"),
        *("event_run_id", "checkpoint", "image", "repository"),
    )
    rows = [
        (
            *(shown.key.key, shown.view.scenario, cell.deployment, cell.concurrency),
            *(cell.value, cell.change, cell.last.at, cell.last.facts.run_id),
            *(cell.is_current, cell.event or None),
            cell.by.facts.run_id if cell.by else None,
            *(cell.last.facts.checkpoint or None, cell.last.facts.image or None),
            repository_of(cell.last.facts.run_url) or None,
        )
        for cell in shown.grid.cells
    ]
    return Table(name, columns, rows, about, brief=columns[2:11])


def _evals(shown: KeyShown, name: str, about: Mapping[str, object]) -> Table:
    columns = (
        *("config_key", "scenario", "official_at", "run_id", "deployment"),
        *("concurrency", "task", "strict", "flexible", "score", "n", "low", "high"),
        *("floor", "outcome", "segment", "results", "spread", "unstable", "attempt"),
    )
    rows = []
    for scored in shown.evals:
        result, reached = scored.result, scored.reached
        rows.append(
            (
                *(shown.key.key, shown.view.scenario, scored.at),
                *(result.run.github_run_id, result.deployment.label),
                *(result.concurrency, result.task, result.strict, result.flexible),
                *(result.score, result.n),
                *((reached.low, reached.high) if reached else (None, None)),
                *(scored.floor, scored.outcome, scored.segment, len(scored.repeats)),
                *(scored.spread, scored.is_unstable, result.attempt),
            )
        )
    return Table(name, columns, rows, about, brief=columns[2:15])


TABLES: dict[str, Callable[[KeyShown, str, Mapping[str, object]], Table]] = {
    "history": _history,
    "grid": _grid,
    "evals": _evals,
}
FILES = ("points", *TABLES)
