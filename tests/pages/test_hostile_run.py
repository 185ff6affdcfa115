"""A run in whose every text a stranger steers: no page carries any of it raw."""

# mypy: allow-untyped-calls

from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.templatetags.site import sig4
from dashboard.views.tables import csv_cell
from tests import factories
from tests.pages.builders import curve
from tests.pages.test_unofficial import KEY, overlaid

pytestmark = pytest.mark.django_db

STEERING = "\u202e\u2066\u2028\x1b"
BAD = f"a{STEERING}[31m<script>alert(1)</script>"
PAGES = [
    "/",
    "/runs",
    "/runs/{run}",
    "/runs/{run}/attempts/1",
    "/runs/{run}/skips",
    "/inference",
    "/inference?unofficialRun={run}",
    "/evaluation",
    "/evaluation?unofficialRun={run}",
    "/requests",
    "/requests/{asked}",
    "/search?q=alert",
]


@pytest.fixture
def hostile() -> Any:
    """Make the run with everything a run may leave, and a failed request for it."""
    curve(KEY)
    run = overlaid(
        run_fields={
            "title": BAD,
            "branch": BAD,
            "actor": BAD,
            "event": "a\u202e\x1b",
            "workflow_path": BAD,
            "jobs_known": True,
        },
        image=BAD,
        state_reason=BAD,
        mapping_candidates=[BAD],
        checkpoint=factories.CheckpointFactory(name=BAD),
    )
    run.sweeps.get().points.update(image=BAD, flags=[["stale", BAD]])
    artifact = factories.ArtifactFactory(
        run=run, name=BAD, state="rejected", reason=BAD
    )
    add_details(run, artifact)
    asked = factories.IngestRequestFactory(
        target=BAD,
        state="failed",
        step=BAD,
        error=BAD,
        requested_by=BAD,
        github_run_id=run.github_run_id,
        finished_at=run.created_at,
    )
    return SimpleNamespace(run=run.github_run_id, asked=asked.pk)


def add_details(run: Any, artifact: Any) -> None:
    factories.RunAttemptFactory(run=run)
    factories.JobFactory(run=run, name=BAD, conclusion="failure")
    factories.RunStatFactory(run=run, raw_key=BAD)
    factories.RunStatFactory(run=run, raw_key=f"{BAD}0", successes=0, total=0)
    factories.SkipFactory(run=run, artifact=artifact, member=BAD, detail=BAD)
    factories.EvalResultFactory(
        run=run, config_key=run.sweeps.get().config_key, task=BAD
    )
    factories.ChangelogEntryFactory(
        run=run,
        raw_keys=[BAD],
        unknown_keys=[BAD],
        description=[BAD],
        scenario_types=[BAD],
        pr_link=BAD,
        link_state="invalid",
    )
    factories.CorrectionFactory(run=run, action="exclude", author=BAD, reason=BAD)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_carries_what_steers(client, hostile, page):
    response = client.get(page.format(run=hostile.run, asked=hostile.asked))
    assert response.status_code == 200
    body = response.content.decode()
    # By lines, so that a failure names the place.
    assert [x for x in body.split("\n") if set(STEERING) & set(x)] == []
    assert "<script>alert" not in body


def test_the_texts_are_there(client, hostile):
    body = client.get(f"/runs/{hostile.run}").content.decode()
    shown = "a [31m&lt;script&gt;alert(1)"
    assert body.count(shown) > 10


@pytest.mark.parametrize("start", [*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20"])
def test_no_cell_starts_a_formula(start):
    assert str(csv_cell(f"{start}1")).startswith("'")


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-300, "1e-300"), (1e300, "1e+300"), (1e-6, "0.000001000"), (1234.5, "1,234")],
)
def test_numbers_beyond_reading_have_an_exponent(value, text):
    assert sig4(value) == text
