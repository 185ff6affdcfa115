"""Triage: each change kept with author and time, and nobody overwritten."""

# mypy: allow-untyped-calls

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection

from dashboard.caching import current_generation
from dashboard.models import Regression, TriageEvent
from dashboard.triage import Decision, Seen, TriageRefusedError, triage
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def kim() -> User:
    user = User.objects.create_user("kim")
    user.groups.add(Group.objects.get_or_create(name="triage")[0])
    return user


def regressions(count: int = 1) -> list[Regression]:
    rows: list[Regression] = factories.RegressionFactory.create_batch(count)
    return rows


def decided(*rows: Regression, seen=None, author="kim", **parts):
    ids = [row.pk for row in rows]
    return triage(ids=ids, decision=Decision(**parts), author=author, seen=seen)


def test_a_change_is_kept_with_who_when_and_why():
    (row,) = regressions()
    before = current_generation()
    outcome = decided(row, state="investigating", note=" host 7 was hot ")
    row.refresh_from_db()
    event = row.events.get()
    assert outcome.changed == [row.pk]
    assert row.state == "investigating"
    assert (event.author, event.from_state, event.to_state, event.note) == (
        "kim",
        "untriaged",
        "investigating",
        "host 7 was hot",
    )
    assert event.at >= row.stored_at
    assert row.updated_at > row.stored_at
    assert current_generation() == before + 1


def test_the_same_state_twice_changes_nothing():
    (row,) = regressions()
    decided(row, state="noise")
    before = (current_generation(), Regression.objects.values().get())
    outcome = decided(row, state="noise")
    assert outcome.same == [row.pk]
    assert (current_generation(), Regression.objects.values().get()) == before
    assert row.events.count() == 1


def test_the_same_state_with_a_note_keeps_the_note():
    (row,) = regressions()
    decided(row, state="noise")
    outcome = decided(row, state="noise", note="seen twice now")
    assert outcome.noted == [row.pk]
    event = row.events.last()
    assert event is not None
    assert (event.to_state, event.note) == ("", "seen twice now")


def test_many_are_decided_at_once():
    rows = regressions(3)
    outcome = decided(*rows[:2], state="expected", note="image bump")
    assert sorted(outcome.changed) == sorted(row.pk for row in rows[:2])
    assert list(Regression.objects.order_by("pk").values_list("state", flat=True)) == [
        "expected",
        "expected",
        "untriaged",
    ]


def test_an_owner_is_set_and_taken_away(kim):
    (row,) = regressions()
    decided(row, sets_owner=True, owner=kim)
    row.refresh_from_db()
    assert row.owner == kim
    assert row.state == "untriaged"
    decided(row, sets_owner=True)
    row.refresh_from_db()
    assert row.owner is None
    assert list(row.events.values_list("owner", flat=True)) == ["kim", "(nobody)"]


def test_an_owner_must_be_one_who_may_triage():
    (row,) = regressions()
    stranger = User.objects.create_user("stranger")
    with pytest.raises(TriageRefusedError, match="stranger may not triage"):
        decided(row, sets_owner=True, owner=stranger, note="yours")
    assert not TriageEvent.objects.exists()


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({}, "Choose a state"),
        ({"note": "  "}, "Choose a state"),
        ({"state": "recovered"}, "no such state"),
        ({"note": "x" * 4001}, "at most 4000"),
        ({"state": "noise", "author": " "}, "needs an author"),
    ],
)
def test_what_decides_nothing_is_refused(parts, why):
    (row,) = regressions()
    with pytest.raises(TriageRefusedError, match=why):
        decided(row, **parts)
    assert not TriageEvent.objects.exists()


def test_what_somebody_changed_meanwhile_is_not_overwritten():
    first, second = regressions(2)
    seen = {row.pk: Seen("untriaged") for row in (first, second)}
    decided(first, state="infra", author="lee")
    outcome = decided(first, second, state="noise", seen=seen)
    assert [row.pk for row in outcome.stale] == [first.pk]
    assert outcome.changed == [second.pk]
    first.refresh_from_db()
    assert first.state == "infra"
    assert first.events.count() == 1


def test_a_new_owner_makes_a_form_stale_too(kim):
    (row,) = regressions()
    decided(row, sets_owner=True, owner=kim)
    outcome = decided(row, state="noise", seen={row.pk: Seen("untriaged")})
    assert outcome.stale == [row]


def test_a_note_alone_overwrites_nothing_and_is_always_kept():
    (row,) = regressions()
    decided(row, state="infra", author="lee")
    outcome = decided(row, note="looks like noise", seen={row.pk: Seen("untriaged")})
    assert (outcome.noted, outcome.stale) == ([row.pk], [])


def test_what_is_gone_is_named():
    (row,) = regressions()
    outcome = triage(
        ids=[row.pk, row.pk + 1], decision=Decision(state="noise"), author="kim"
    )
    assert (outcome.changed, outcome.unknown) == ([row.pk], [row.pk + 1])


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_at_once_one_is_told_that_the_other_was_faster():
    rows = regressions(2)
    ids = [row.pk for row in rows]
    seen = {pk: Seen("untriaged") for pk in ids}
    barrier = Barrier(2)

    def decide(state: str, order: list[int]) -> int:
        barrier.wait(timeout=10)
        try:
            found = triage(
                ids=order, decision=Decision(state=state), author=state, seen=seen
            )
            return len(found.changed)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        changed = list(pool.map(decide, ["noise", "infra"], [ids, ids[::-1]]))
    assert sorted(changed) == [0, 2]
    assert TriageEvent.objects.count() == 2
    assert Regression.objects.values("state").distinct().count() == 1
