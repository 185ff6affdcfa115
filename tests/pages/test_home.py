"""The first page: what changed, what waits, how the ingestion is, how to begin."""

# mypy: allow-untyped-calls

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from tests import factories
from tests.pages.key_builders import derive

pytestmark = pytest.mark.django_db


def home(client):
    return client.get(reverse("home"))


def text_of(response):
    return " ".join(response.content.decode().split())


def history(*checkpoints, **given):
    """Make official sweeps of one key, a day apart, the last one current."""
    sweeps = []
    for day, name in enumerate(checkpoints, start=1):
        checkpoint = factories.CheckpointFactory(name=name) if name else None
        is_last = day == len(checkpoints)
        run = factories.RunFactory(
            official=True, created_at=datetime(2026, 9, day, tzinfo=UTC)
        )
        state = "current" if is_last else "former"
        sweeps.append(
            factories.SweepFactory(
                run=run,
                state=state,
                official_at=run.created_at,
                checkpoint=checkpoint,
                **given,
            )
        )
    derive(sweeps[0].config_key.key)
    return sweeps


def test_empty_site_says_how_to_begin(client):
    page = home(client)
    assertContains(page, "manage.py ingest_path FOLDER")
    assertContains(page, "No work was asked for.")
    assertNotContains(page, "Newest runs")


def test_work_on_the_first_run_is_shown_before_it_is_stored(client):
    factories.IngestRequestFactory(state="running", step="reading")
    page = home(client)
    assertContains(page, "manage.py ingest_path FOLDER")
    assertContains(page, 'hx-get="/requests?limit=6"')


def test_held_and_incomplete_sweeps_say_received_of_planned_and_why(client):
    held = factories.SweepFactory(
        official=True,
        state="held",
        state_reason="incomplete: 13 of 19 points",
        received_count=13,
        planned_count=19,
    )
    first = factories.SweepFactory(
        official=True, scenario="1k/1k", received_count=3, planned_count=6
    )
    factories.SweepFactory(official=True, received_count=6, planned_count=6)
    factories.SweepFactory(received_count=1, planned_count=6)
    page = home(client)
    assert {sweep.pk for sweep in page.context["open"].rows} == {held.pk, first.pk}
    text = text_of(page)
    assert "incomplete: 13 of 19 points" in text
    assert "3 of 6 points" in text
    assert held.run.get_absolute_url() in text


def test_complete_site_says_that_nothing_waits(client):
    factories.SweepFactory(official=True, received_count=6, planned_count=6)
    assertContains(home(client), "Every official sweep is complete, and none is held.")


def test_checkpoint_changes_are_between_sweeps_that_follow_each_other(client):
    sweeps = history("org/a", "org/b", "org/b", "org/a")
    changes = [
        (c.former_checkpoint, c.checkpoint, c.run_id, c.former_run_id)
        for c in home(client).context["changes"]
    ]
    ids = [sweep.run.github_run_id for sweep in sweeps]
    assert changes == [
        ("org/b", "org/a", ids[3], ids[2]),
        ("org/a", "org/b", ids[1], ids[0]),
    ]


def test_checkpoint_change_links_the_run_that_swapped_and_the_one_before(client):
    sweeps = history("org/a", "org/b")
    page = home(client)
    (before, after) = (sweep.run for sweep in sweeps)
    for name, run in (("before: ", before), ("in ", after)):
        link = f'{name}<a href="{run.get_absolute_url()}">{run.github_run_id}</a>'
        assert link in text_of(page)


def test_other_keys_held_sweeps_and_unknown_checkpoints_change_nothing(client):
    sweeps = history("org/a", None, "org/a")
    factories.SweepFactory(
        run=factories.RunFactory(official=True),
        state="held",
        official_at=sweeps[0].official_at + timedelta(hours=1),
        checkpoint=factories.CheckpointFactory(name="org/b"),
    )
    history("org/b", config_key=factories.ConfigKeyFactory(key="other"))
    assert home(client).context["changes"] == []


def test_newest_official_sweeps_come_first(client):
    sweeps = history("org/a", "org/a")
    factories.SweepFactory()
    rows = home(client).context["newest"].rows
    assert rows == [sweeps[1], sweeps[0]]


def test_failed_requests_of_late_are_listed_with_their_error(client):
    factories.IngestRequestFactory(state="failed", error="the zip is cut off")
    factories.IngestRequestFactory(state="done", error="retried once")
    factories.IngestRequestFactory(
        state="failed", requested_at=timezone.now() - timedelta(days=31)
    )
    page = home(client)
    assert len(page.context["troubled"].rows) == 1
    assertContains(page, "the zip is cut off")


def test_rejected_artifacts_of_late_are_counted(client):
    for n in range(7):
        factories.ArtifactFactory(state="rejected", reason=f"fault {n}")
    factories.ArtifactFactory()
    page = home(client)
    assertContains(page, "the newest 5 of 7")
    assertContains(page, "fault 6")
    assertNotContains(page, "fault 1")


def test_page_asks_the_same_queries_for_much_and_little(
    client, django_assert_num_queries
):
    history("org/a", "org/b", received_count=1, planned_count=2)
    factories.IngestRequestFactory(state="failed")
    with django_assert_num_queries(12):
        home(client)
    for n in range(12):
        key = factories.ConfigKeyFactory(key=f"key-{n}")
        history("org/a", "org/b", config_key=key, received_count=1, planned_count=2)
        factories.ArtifactFactory(state="rejected")
    factories.IngestRequestFactory.create_batch(12, state="failed")
    with django_assert_num_queries(12):
        home(client)
