"""The staff page of floors: author from the login, a source, a new generation."""

from typing import Any

import pytest
from django.urls import reverse

from dashboard.models import EvalFloor, EvalResult, Generation
from dashboard.queries.run_parts import evals
from tests.factories import EvalFloorFactory, EvalResultFactory

pytestmark = pytest.mark.django_db

ADD = "admin:dashboard_evalfloor_add"


def posted(**changes: Any) -> dict[str, Any]:
    fields = {
        "model": "qwen3.5",
        "task": "gsm8k",
        "minimum": "0.97",
        "valid_from": "2026-08-01",
        "source": "the producer raised it",
    }
    return fields | changes


def generation() -> int:
    return sum(Generation.objects.values_list("number", flat=True))


def test_staff_set_a_floor_and_scores_stay(admin_client):
    score = EvalResultFactory()
    before = EvalResult.objects.values().get()
    seen = generation()
    admin_client.post(reverse(ADD), posted(filters=["strict"]))
    floor = EvalFloor.objects.get()
    assert (floor.author, floor.filters) == ("admin", ["strict"])
    assert generation() == seen + 1
    (judged,) = evals(score.run, None)
    assert (judged.floor, judged.outcome) == (0.97, "borderline")
    assert judged.floor_source == "the producer raised it"
    assert EvalResult.objects.values().get() == before


def test_a_change_and_a_deletion_are_new_generations(admin_client):
    floor = EvalFloorFactory(author="ada")
    path = reverse("admin:dashboard_evalfloor_change", args=[floor.pk])
    seen = generation()
    admin_client.post(path, posted(minimum="0.5"))
    floor.refresh_from_db()
    assert (floor.minimum, floor.author, floor.filters) == (0.5, "admin", [])
    delete = reverse("admin:dashboard_evalfloor_delete", args=[floor.pk])
    admin_client.post(delete, {"post": "yes"})
    chosen = EvalFloorFactory()
    listed = reverse("admin:dashboard_evalfloor_changelist")
    assert "eval-thresholds.yaml" in admin_client.get(listed).content.decode()
    admin_client.post(
        listed,
        {"action": "delete_selected", "_selected_action": [chosen.pk], "post": "yes"},
    )
    assert not EvalFloor.objects.exists()
    assert generation() == seen + 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"source": "  "}, "This field is required"),
        ({"minimum": "97"}, "A fraction between 0 and 1"),
        ({"filters": ["acc"]}, "Select a valid choice"),
    ],
)
def test_a_floor_needs_a_source_and_a_fraction(admin_client, changes, said):
    answer = admin_client.post(reverse(ADD), posted(**changes))
    assert said in answer.content.decode()
    assert not EvalFloor.objects.exists()


def test_the_same_scope_and_day_twice_is_refused(admin_client):
    EvalFloorFactory(model="qwen3.5", task="gsm8k", valid_from="2026-08-01")
    answer = admin_client.post(reverse(ADD), posted())
    assert "already exists" in answer.content.decode()
    assert EvalFloor.objects.count() == 1
