"""Why two runs cannot be held against each other, as pages say it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode

from django.urls import reverse

from dashboard.forms.unofficial import AskedRun
from dashboard.models import Run
from dashboard.queries.comparisons import (
    KeyAndScenario,
    RunsCompared,
    RunSide,
    run_side,
)
from dashboard.queries.run_verdicts import has_attempt, stored_run
from dashboard.vocabulary.scenarios import scenario_label


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps two runs from being compared, and where to go from there.

    ``links`` are (text, address).
    """

    title: str
    sentences: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    status: HTTPStatus = HTTPStatus.OK


def side_of(asked: AskedRun) -> RunSide | Obstacle:
    """Return a stored run that may be shown as a side, or why there is none."""
    run = stored_run(asked.run_id)
    if run is None:
        return _not_stored(asked)
    side = run_side(run, asked.attempt)
    page = (f"Page of run {asked.run_id}", run.get_absolute_url())
    if Run.Publication.HIDDEN in (run.publication, side.measured.publication):
        return Obstacle(
            f"Run {asked.run_id} is hidden",
            ("A person took it out, so nothing is held against it.",),
            (page,),
        )
    if not has_attempt(side.measured, asked.attempt):
        return Obstacle(
            f"Run {asked.run_id} has no attempt {asked.attempt}",
            ("Nothing of such an attempt is stored.",),
            (page,),
            HTTPStatus.NOT_FOUND,
        )
    return side


def _not_stored(asked: AskedRun) -> Obstacle:
    link = f"{reverse('inference')}?{urlencode({'unofficialRun': asked.token})}"
    return Obstacle(
        f"Run {asked.run_id} is not stored here",
        ("Opening its link fetches it; then this page can compare it.",),
        ((f"Fetch run {asked.run_id}", link),),
        HTTPStatus.NOT_FOUND,
    )


def same_run(base: RunSide, head: RunSide) -> Obstacle | None:
    """Say that both sides are one and the same measurement, if they are."""
    if base.identity != head.identity:
        return None
    if base.run == head.run:
        said = "Both sides are the same measurement: there is nothing to compare."
    else:
        said = (
            f"{base.name.capitalize()} and {head.name} are the same measurement: "
            "one publishes what the other measured."
        )
    return Obstacle(
        "This is the same run",
        (said,),
        ((f"Page of run {head.run.github_run_id}", head.run.get_absolute_url()),),
    )


def nothing_common(found: RunsCompared) -> Obstacle | None:
    """Say what each side measured where that is nothing in common."""
    if found.verdicts:
        return None
    return Obstacle(
        "These runs have no config key and scenario in common",
        tuple(_measured(found)),
        tuple(
            (f"Page of {side.name}", side.run.get_absolute_url())
            for side in (found.base, found.head)
        ),
    )


def _measured(found: RunsCompared) -> Iterator[str]:
    if found.other_models:
        base, head = (", ".join(models) for models in found.other_models)
        yield f"They measured different models: {base} and {head}."
    for side, places in (
        (found.base, found.base_places),
        (found.head, found.head_places),
    ):
        name = side.name.capitalize()
        if places:
            yield f"{name} measured {places_text(places)}."
        else:
            yield f"{name} measured no usable point."
    if found.extending:
        added = places_text(found.extending)
        yield f"The head only adds points to a sweep of {added}."


def unknown_place(found: RunsCompared) -> Obstacle:
    """Say that what was asked for was not measured by both, and what was."""
    common = places_text((v.config_key, v.scenario) for v in found.verdicts)
    return Obstacle(
        "This key and scenario were not measured by both runs",
        (f"Both measured {common}.",),
        status=HTTPStatus.BAD_REQUEST,
    )


def places_text(places: Iterable[KeyAndScenario]) -> str:
    """Write keys with their scenarios: "a (8k/1k), b (8k/1k)"."""
    return ", ".join(f"{key} ({scenario_label(name)})" for key, name in places)
