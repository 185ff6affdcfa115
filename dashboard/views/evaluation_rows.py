"""The rows of the evaluation page, scores and what left none, and their dots."""

from collections.abc import Iterable
from dataclasses import dataclass

from dashboard.analysis.evals import Outcome, wilson
from dashboard.charts.evaluation import EvalDot
from dashboard.charts.theme import Look, look, unofficial_look
from dashboard.models import ConfigKey, Run
from dashboard.queries.eval_gaps import Gap
from dashboard.queries.eval_standing import EvalStanding
from dashboard.queries.eval_verdicts import decisive_of
from dashboard.queries.run_parts import JudgedEval
from dashboard.views.asked_runs import AskedState
from dashboard.vocabulary.checkpoints import base_name
from dashboard.vocabulary.frameworks import framework_label
from dashboard.vocabulary.hardware import hardware_label
from dashboard.vocabulary.scenarios import scenario_label


@dataclass(frozen=True, slots=True)
class EvalRow:
    """One deployment and concurrency under one task: a score, or that there is none.

    ``state`` is the run of the link that it belongs to, None for the official record.
    """

    key: ConfigKey
    run: Run
    scenario: str
    deployment: str
    concurrency: int | None
    task: str = ""
    judged: JudgedEval | None = None
    standing: EvalStanding | None = None
    gap: Gap | None = None
    state: AskedState | None = None

    @property
    def row_id(self) -> str:
        """Return what names the row on its page, for the chart to light it."""
        if self.judged is not None:
            return f"eval-{self.judged.result.pk}"
        return f"gap-{self.run.pk}-{self.key.pk}-{self.deployment}-{self.concurrency}"

    @property
    def outcome(self) -> Outcome:
        """Return the state of the row."""
        return self.judged.outcome if self.judged else "not measured"

    @property
    def publication(self) -> str:
        """Return whether the row is official."""
        is_official = self.state is None or self.state.is_official
        return "official" if is_official else "unofficial"

    @property
    def decisive(self) -> str:
        """Return the name of the score that the task is judged by first."""
        return decisive_of(self.judged) if self.judged else ""

    @property
    def share(self) -> float | None:
        """Return that score."""
        return self.standing.verdict.head.share if self.standing else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return its 95 % Wilson interval."""
        n = self.judged.result.n if self.judged else None
        return None if self.share is None or not n else wilson(self.share, n)

    @property
    def places(self) -> str:
        """Return the concurrency; of a gap all that one eval job was for."""
        if self.gap is None:
            return "" if self.concurrency is None else str(self.concurrency)
        return ", ".join(map(str, self.gap.arm.concurrencies))

    @property
    def checkpoint(self) -> str:
        """Return the weights served, empty where not known."""
        if self.standing is not None:
            return self.standing.checkpoint
        sweep = self.gap.sweep if self.gap else None
        return sweep.checkpoint.name if sweep and sweep.checkpoint else ""

    @property
    def checkpoint_short(self) -> str:
        """Return the weights without their publisher."""
        return base_name(self.checkpoint)

    @property
    def image(self) -> str:
        """Return the image served, empty where not known."""
        if self.standing is not None:
            return self.standing.served.image if self.standing.served else ""
        return self.gap.sweep.image if self.gap and self.gap.sweep else ""

    @property
    def looks(self) -> Look:
        """Return how the row is drawn: as its key on all pages, or as its run."""
        if self.state is not None and not self.state.is_official:
            return unofficial_look(self.state.place)
        key = self.key
        return look(
            hardware=key.hardware,
            framework=key.framework,
            precision=key.precision,
            is_speculative=False,
        )

    @property
    def label(self) -> str:
        """Return the row's name beside the chart, in two parts."""
        key = self.key
        of = f"{hardware_label(key.hardware)} {framework_label(key.framework)}"
        run = f"run {self.run.github_run_id}: " if self.state else ""
        at = f" c{self.places}" if self.places else ""
        return f"{run}{of} {key.precision}\n{self.deployment}{at}"


def scored_row(
    one: JudgedEval, standing: EvalStanding, state: AskedState | None
) -> EvalRow:
    """Return the row of a score."""
    result = one.result
    return EvalRow(
        key=result.config_key,
        run=result.run,
        scenario=result.scenario,
        deployment=result.deployment.label,
        concurrency=result.concurrency,
        task=result.task,
        judged=one,
        standing=standing,
        state=state,
    )


def gap_row(gap: Gap, state: AskedState | None) -> EvalRow:
    """Return the row of what was to be evaluated and was not."""
    arm = gap.arm
    return EvalRow(
        key=gap.key,
        run=gap.run,
        scenario=arm.scenario,
        deployment=arm.deployment,
        concurrency=arm.concurrencies[0] if arm.concurrencies else None,
        gap=gap,
        state=state,
    )


def dots(rows: Iterable[EvalRow]) -> list[EvalDot]:
    """Return what of the rows the chart draws, in their order."""
    return [
        EvalDot(
            row_id=row.row_id,
            key=f"run {row.run.github_run_id}" if row.state else row.key.key,
            label=row.label,
            share=row.share,
            low=row.interval[0] if row.interval else None,
            high=row.interval[1] if row.interval else None,
            floor=row.judged.floor,
            outcome=row.outcome,
            look=row.looks,
            lines=_hover(row),
        )
        for row in rows
        if row.judged is not None and row.share is not None
    ]


def _hover(row: EvalRow) -> tuple[str, ...]:
    interval = row.interval
    bounds = f" ({interval[0]:.4f} to {interval[1]:.4f})" if interval else ""
    n = row.judged.result.n if row.judged else None
    floor = row.judged.floor if row.judged else 0
    day = f"{row.run.official_at:%Y-%m-%d}"
    return (
        row.key.key,
        f"{row.deployment} c{row.places}, {scenario_label(row.scenario)}",
        f"{row.task} {row.decisive} {row.share:.4f}{bounds}, n {n}",
        f"{row.outcome}, floor {floor:g}",
        change_text(row),
        f"{row.checkpoint or 'checkpoint unknown'}",
        f"{row.publication} run {row.run.github_run_id}, {day}",
    )


def change_text(row: EvalRow) -> str:
    """Return how the score changed against its baseline, or why that is not told."""
    standing = row.standing
    if standing is None:
        return ""
    change, base = standing.change, standing.former.moment
    if base is None:
        return standing.former.reason
    if change is None:
        return f"a score is missing here or in run {base.run}"
    return (
        f"{100 * change.difference:+.2f} pp against run {base.run} of "
        f"{base.at:%Y-%m-%d}, p {change.p:.2g}: {change.words}"
    )
