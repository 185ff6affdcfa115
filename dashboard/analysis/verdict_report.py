"""The verdict on a run as text for a terminal and as Markdown for a pull request."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dashboard.analysis.eval_verdicts import EvalVerdict
from dashboard.analysis.segments import GRID, NOTICE, Change
from dashboard.analysis.sides import SweepVerdict, Told, most_severe
from dashboard.analysis.verdict_json import flagged_places, named_places
from dashboard.analysis.verdicts import Verdict
from dashboard.vocabulary.changes import places_text
from dashboard.vocabulary.markdown import code, plain

Writer = Callable[[str], str]
KeyAndScenario = tuple[str, str]

HEADING = "### Frontierboard: "
NOTHING_MEASURED = "nothing to judge: no usable point"
HIDDEN = "not judged: a person took the run out"


class Newer(NamedTuple):
    """The current official sweep where the baseline is older; ``link`` compares."""

    run_id: int
    link: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a report says of the run beside its verdicts.

    ``page`` and ``link`` are addresses of this dashboard, ``planned`` is None where no
    plan is known; ``evals`` is a word such as "intact" with its counts. ``recovers``
    are the runs whose regressions it ended, ``newer`` official sweeps after baselines.
    """

    run_id: int
    title: str
    page: str
    link: str
    attempt: int | None
    status: str
    conclusion: str
    received: int
    planned: int | None
    evals: str
    acceptance: Sequence[str] = ()
    measured_in: int | None = None
    is_hidden: bool = False
    recovers: Mapping[KeyAndScenario, Sequence[int]] = field(default_factory=dict)
    newer: Mapping[KeyAndScenario, Newer] = field(default_factory=dict)

    @property
    def points(self) -> str:
        """Return "13 of 19 points", or how many where no plan is known."""
        if self.planned is None:
            return f"{self.received} points, no plan known"
        return f"{self.received} of {self.planned} points"

    @property
    def nothing(self) -> str:
        """Return why there is no verdict, where there is none."""
        if self.is_hidden:
            return HIDDEN
        if self.measured_in is not None:
            return f"measured in run {self.measured_in}"
        return NOTHING_MEASURED

    @property
    def outcome(self) -> str:
        """Return the conclusion; the status of a run that has none so far."""
        return self.conclusion or self.status

    def recovery(self, verdict: SweepVerdict) -> str:
        """Return ", recovers run 5" where a regression was over: that is no gain."""
        worse = self.recovers.get((verdict.config_key, verdict.scenario), ())
        return "".join(f", recovers run {run_id}" for run_id in worse)

    def newest(self, verdict: SweepVerdict) -> Newer | None:
        """Return the official sweep that came after the baseline, if there is one."""
        return self.newer.get((verdict.config_key, verdict.scenario))


def one_line_verdict(verdicts: Sequence[Told], nothing: str = NOTHING_MEASURED) -> str:
    """Return what is to be known first: the worst verdict and how many others.

    ``nothing`` is what to say where there is no verdict at all.
    """
    worst = most_severe(verdicts)
    if worst is None:
        return nothing
    if len(verdicts) == 1:
        return worst.sentence
    return f"{worst.config_key}: {worst.sentence}{_others(worst, verdicts)}"


def _others(worst: Told, verdicts: Sequence[Told]) -> str:
    """Write what the other keys got: " (other keys: 2 within noise)"."""
    counts: dict[str, int] = {}
    for verdict in verdicts:
        if verdict is not worst:
            counts[verdict.verdict] = counts.get(verdict.verdict, 0) + 1
    others = ", ".join(f"{count} {word}" for word, count in counts.items())
    return f" (other keys: {others})" if others else ""


def text_report(facts: RunFacts, verdicts: Sequence[SweepVerdict]) -> Iterator[str]:
    """Yield the lines of a report for a terminal."""
    yield f"run {facts.run_id}: {facts.outcome}, {facts.points}, evals: {facts.evals}"
    if not verdicts:
        yield f"  {facts.nothing}"
    for verdict in verdicts:
        yield f"  {verdict.config_key} {verdict.scenario}"
        yield f"    {verdict.sentence}{facts.recovery(verdict)}"
        newest = facts.newest(verdict)
        if newest is not None:
            yield f"    a newer official sweep exists: run {newest.run_id}"
        if verdict.lost:
            yield f"    points lost: {places_text(verdict.lost)}"
        for line in _differences([*verdict.breaks, *verdict.markers]):
            yield f"    {line}"
        for found in verdict.evals:
            yield f"    eval {eval_words(found)}"


def eval_words(found: EvalVerdict) -> str:
    """Write an eval, what came of it and how it changed, in one line."""
    head = found.head
    return f"{head.words}: {head.outcome}, floor {head.floor:g}; {change_words(found)}"


def change_words(found: EvalVerdict) -> str:
    """Write how a score changed: "-0.46 pp, z -0.67, p 0.51, no difference shown"."""
    change = found.change
    if change is None:
        return found.words
    z = "" if change.z is None else f"z {change.z:.2f}, "
    return f"{points(change.difference)}, {z}p {change.p:.2g}, {found.words}"


def markdown_report(facts: RunFacts, verdicts: Sequence[SweepVerdict]) -> str:
    """Return a report for a pull request; the order of its sections never changes.

    State, then a row per key with the three numbers, then what was flagged, what
    differs, evals, acceptance, links. Whatever comes from outside is inert.
    """
    sections = [
        _head(facts, verdicts),
        _table(facts, verdicts),
        *(_details(facts, verdict) for verdict in verdicts),
        _evals(verdicts),
        _acceptance(facts),
        _links(facts),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def folded_report(report: str) -> str:
    """Return a Markdown report as one line: its state and its run."""
    heading, _, run = report.split("\n")[:3]
    return f"**{heading.removeprefix(HEADING)}** {run}"


def _head(facts: RunFacts, verdicts: Sequence[SweepVerdict]) -> str:
    worst = most_severe(verdicts)
    state = facts.nothing
    if worst:
        limits = f"{_partial(worst)}{facts.recovery(worst)}"
        state = f"{worst.verdict}{limits}{_others(worst, verdicts)}"
    attempt = "" if facts.attempt is None else f", attempt {facts.attempt}"
    return "\n".join(
        [
            f"{HEADING}{plain(state)}",
            "",
            (
                f"Run [{facts.run_id}]({facts.page}){attempt} {code(facts.title)}: "
                f"{plain(facts.outcome)}, {facts.points}. Evals: {plain(facts.evals)}."
            ),
        ]
    )


def _partial(verdict: SweepVerdict) -> str:
    counts = verdict.judged.partial
    return f", partial: {counts} points" if counts else ""


def _table(facts: RunFacts, verdicts: Sequence[SweepVerdict]) -> str:
    if not verdicts:
        return ""
    # The column promises nothing that one of its rows does not keep.
    kinds = {verdict.performance == Verdict.NOT_COMPARABLE for verdict in verdicts}
    column = "area like for like" if kinds == {False} else "area at matched points"
    rows = [
        f"| config key | verdict | {column} | worst point | coverage | baseline |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    rows += [_row(facts, verdict) for verdict in verdicts]
    return "\n".join(rows)


def _row(facts: RunFacts, verdict: SweepVerdict) -> str:
    cells = (
        f"{code(verdict.config_key)} {code(verdict.scenario)}",
        plain(f"{_headline(verdict)}{facts.recovery(verdict)}"),
        *_three_numbers(verdict),
        _baseline(verdict),
    )
    return f"| {' | '.join(cells)} |"


def _headline(verdict: SweepVerdict) -> str:
    """Return the verdict, with its reason where no number gives it."""
    if verdict.judged.findings.points:
        return verdict.headline
    return f"{verdict.headline}: {verdict.judged.reason}"


def _only_one_side(verdict: SweepVerdict) -> list[tuple[str, list[list[Any]]]]:
    """Return what only one side measured: what became of it, and the places."""
    comparison = verdict.judged.comparison
    gained = named_places(comparison.coverage.gained, verdict) if comparison else []
    lost, unplanned = ([list(p) for p in v] for v in (verdict.lost, verdict.unplanned))
    return [("lost", lost), ("no longer planned", unplanned), ("gained", gained)]


def _three_numbers(verdict: SweepVerdict) -> tuple[str, str, str]:
    comparison = verdict.judged.comparison
    if comparison is None:
        return "n/a", "n/a", "n/a"
    like, worst, coverage = (
        comparison.like_for_like,
        comparison.worst_local,
        comparison.coverage,
    )
    interval = (
        f" \\[{percent(like.low)}, {percent(like.high)}\\]"
        if like and like.low is not None and like.high is not None
        else ""
    )
    planned = "" if coverage.planned is None else f" of {coverage.planned}"
    counts = [
        (sum(len(found) for _, found in places), word)
        for word, places in _only_one_side(verdict)
    ]
    different = ", ".join(f"{count} {word}" for count, word in counts if count)
    place = worst and f"{verdict.labels[worst.deployment]} c{worst.concurrency}"
    at = " at" if worst and worst.loss > 0 else ", closest at"
    behind = f"{behind_text(worst.loss)}{at} {plain(place or '')}" if worst else "n/a"
    is_comparable = verdict.performance != Verdict.NOT_COMPARABLE
    kind = "" if is_comparable else ", not like for like"
    pairs = f"{like.pairs} pair{'' if like.pairs == 1 else 's'}" if like else ""
    return (
        f"{percent(like.change)}{interval}, {pairs}{kind}" if like else "n/a",
        behind,
        f"{coverage.received}{planned} points{', ' if different else ''}{different}",
    )


def _baseline(verdict: SweepVerdict) -> str:
    base = verdict.base
    if base is None:
        return "none"
    old = " (old)" if verdict.is_old else ""
    return f"{base.run_id} of {base.at:%Y-%m-%d}, {_age(verdict.age_days or 0)}{old}"


def _age(days: int) -> str:
    """Write how much older a baseline is; a later one may have been named."""
    count = f"{abs(days)} day{'' if abs(days) == 1 else 's'}"
    if days == 0:
        return "less than a day older"
    return f"{count} {'older' if days > 0 else 'later'}"


def _details(facts: RunFacts, verdict: SweepVerdict) -> str:
    lines = []
    newest = facts.newest(verdict)
    if newest is not None:
        said = f"a newer official sweep exists: run {newest.run_id}"
        lines.append(f"- {said}, [compare]({newest.link})")
    worse = flagged_places(verdict)
    if worse:
        lines.append(f"- worse beyond the noise: {plain(places_text(worse))}")
    lines += [
        f"- points {word}: {plain(places_text(places))}"
        for word, places in _only_one_side(verdict)
        if places
    ]
    changes = [*verdict.breaks, *(m for m in verdict.markers if m["kind"] != GRID)]
    lines += [f"- {line}" for line in _differences(changes, write=code)]
    if not lines:
        return ""
    return "\n".join([f"**{code(verdict.config_key)}**", "", *lines])


def _evals(verdicts: Sequence[SweepVerdict]) -> str:
    rows = [_eval(v, found) for v in verdicts for found in v.evals]
    if not rows:
        return ""
    head = "| config key | eval | scores | floor | state | against the baseline |"
    return "\n".join([head, "| --- | --- | --- | --- | --- | --- |", *rows])


def _eval(verdict: SweepVerdict, found: EvalVerdict) -> str:
    head = found.head
    base = f"run {found.base.run_id}: " if found.base else ""
    cells = (
        code(verdict.config_key),
        plain(f"{head.task} {head.where}"),
        head.told,
        f"{head.floor:g}",
        plain(head.outcome),
        plain(f"{base}{change_words(found)}"),
    )
    return f"| {' | '.join(cells)} |"


def _differences(changes: Iterable[Change], write: Writer = str) -> Iterator[str]:
    """Yield a line for each thing that differs between the sides."""
    for change in changes:
        kind = str(change["kind"]).replace("_", " ")
        if change["kind"] == NOTICE:
            yield f"notice: {write(change['text'])}"
        elif change["kind"] == GRID:
            for word in ("dropped", "added"):
                if change[word]:
                    yield f"grid, {word}: {write(places_text(change[word]))}"
        else:
            yield f"{kind}: {write(str(change['from']))} to {write(str(change['to']))}"


def _acceptance(facts: RunFacts) -> str:
    if not facts.acceptance:
        return ""
    return f"Acceptance length: {'; '.join(plain(a) for a in facts.acceptance)}."


def _links(facts: RunFacts) -> str:
    return f"[overlay]({facts.link}) | [run]({facts.page})"


def behind_text(loss: float) -> str:
    """Write a local loss, the multiplicative epsilon minus 1: "7.1 % behind"."""
    return f"{100 * loss:.1f} % behind" if loss > 0 else "nowhere behind"


def points(difference: float) -> str:
    """Write the difference of two scores as "+1.20 pp"."""
    return f"{100 * difference:+.2f} pp"


def percent(change: float) -> str:
    """Write a fraction as "+1.2 %"."""
    return f"{100 * change:+.1f} %"
