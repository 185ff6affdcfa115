"""Texts that strangers wrote, on the pages of keys: inert in every part."""

import csv
import io
from typing import Any

import pytest
from django.urls import reverse

from dashboard.models import ConfigChange, Notice
from tests.factories import (
    ChangelogEntryFactory,
    ConfigDefinitionFactory,
    EvalResultFactory,
)
from tests.pages.key_builders import START, add_sweep, derive
from tests.pages.test_hostile_texts import BIDI, HOSTILE, assert_inert

pytestmark = pytest.mark.django_db


@pytest.fixture(params=list(HOSTILE.values()), ids=list(HOSTILE))
def text(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def story(text: str) -> Any:
    """Make a key in whose history somebody wrote something everywhere."""
    add_sweep(0, key=text[:200])
    second = add_sweep(
        3, key=text[:200], checkpoint=text[:300], image=text, state_reason=text
    )
    held = add_sweep(4, key=text[:200], state="held", state_reason=text)
    key = second.config_key
    derive(key.key)
    EvalResultFactory(run=second.run, config_key=key, task=text[:100])
    ChangelogEntryFactory(
        run=held.run,
        raw_keys=[key.key],
        description=[text],
        pr_link=text,
        defects=[text],
        link_state="invalid",
    )
    for n, entry in enumerate(({text: text}, {text: [text, "a"]})):
        seen = START.replace(day=1 + n)
        ConfigDefinitionFactory(
            config_key=key, entry=entry, first_seen_at=seen, last_seen_at=seen
        )
    Notice.objects.create(
        kind="note", text=text, at=START, author=text[:80], config_key=key
    )
    ConfigChange.objects.create(
        repository=second.run.repository,
        config_key=key.key,
        kind="model",
        sha="abc",
        at=START,
        before=text,
        after=text,
    )
    return key


@pytest.mark.parametrize("show", ["best", "evals"])
def test_page_and_figures_are_inert(client, text, show):
    key = story(text)
    answer = client.get(f"{key.get_absolute_url()}?show={show}")
    assert answer.status_code == 200
    assert_inert(answer.content.decode())


def test_catalogue_is_inert(client, text):
    story(text)
    answer = client.get("/keys")
    assert answer.status_code == 200
    assert_inert(answer.content.decode())


@pytest.mark.parametrize("table", ["points", "history", "grid", "evals"])
def test_files_have_a_line_per_row_and_no_formula(client, text, table):
    key = story(text)
    body = client.get(f"{key.get_absolute_url()}/{table}.csv").content.decode()
    rows = list(csv.reader(io.StringIO(body)))
    assert len(rows) == {"points": 5, "history": 4, "grid": 5, "evals": 2}[table]
    assert not BIDI & set(body)
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)


def test_what_is_asked_for_is_quoted_inert(client, text):
    add_sweep(0)
    for path in ("/keys/qwen3.5-fp4-mi355x-sglang?show", "/keys?model"):
        answer = client.get(path.split("?")[0], {path.split("?")[1]: text})
        assert answer.status_code == 400
        assert_inert(answer.content.decode())


def test_an_unknown_key_is_quoted_inert(client, text):
    answer = client.get(reverse("key", args=[text]))
    assert answer.status_code == 404
    assert_inert(answer.content.decode())
