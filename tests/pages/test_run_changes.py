"""What the page of a run says of each sweep against the one before it."""

# mypy: allow-untyped-calls

from datetime import timedelta

import pytest
from django.urls import reverse

from ingest.measured import note_measured
from ingest.segments import derive_segments
from tests import factories

pytestmark = pytest.mark.django_db

KEY = "qwen3.5-fp4-mi355x-sglang"
OLD, NEW = "org-a/Model-397B-FP4", "org-a/Model-397B-FP4-Attn8-V2"
# CASES C34: (tensor parallel size, concurrency, throughput) of day 1 and day 2.
DAY_1 = [(2, 64, 3156.8), (4, 4, 900.0), (4, 16, 1500.0)]
DAY_2 = [(2, 64, 3300.0)]


def text_of(client, run):
    page = client.get(reverse("run", args=[run.github_run_id]))
    return " ".join(page.content.decode().split())


def sweep_on(day, points, key=KEY, state="current", **given):
    created = factories.START + timedelta(days=day)
    sweep = factories.SweepFactory(
        config_key=factories.ConfigKeyFactory(key=key),
        run=factories.RunFactory(official=True, created_at=created),
        official_at=created,
        state=state,
        **given,
    )
    for tp, concurrency, tput in points:
        deployment = factories.DeploymentFactory(tp=tp)
        factories.PointFactory(
            sweep=sweep,
            deployment=deployment,
            concurrency=concurrency,
            tput_per_gpu=tput,
            runner=f"mi355x-amds_{day}",
        )
    note_measured(sweep.run)
    sweep.refresh_from_db()
    return sweep


def derive(*sweeps):
    derive_segments({(s.config_key_id, s.scenario) for s in sweeps})
    for sweep in sweeps:
        sweep.refresh_from_db()


@pytest.fixture
def c34():
    """The swap of CASES C34, with another image in the same run."""
    old = factories.CheckpointFactory(name=OLD)
    new = factories.CheckpointFactory(name=NEW)
    day_1 = sweep_on(1, DAY_1, state="former", checkpoint=old)
    day_2 = sweep_on(
        2, DAY_2, checkpoint=new, image="img/sglang:2", planned=[["TP2", 64]]
    )
    atom = sweep_on(2, DAY_1, key="qwen3.5-fp4-mi355x-atom", checkpoint=old)
    factories.ChangelogEntryFactory(
        run=day_2.run, description=["Use the new weights", "Drop the TP4 band"]
    )
    derive(day_1, day_2, atom)
    return day_1, day_2, atom


def test_c34_a_swap_begins_a_segment_on_its_key_alone(c34):
    day_1, day_2, _ = c34
    assert [s.segment for s in c34] == [1, 2, 1]
    assert [s.is_swap for s in c34] == [False, True, False]
    assert day_2.previous == day_1
    assert [c["kind"] for c in day_2.markers] == ["image", "grid"]


def test_c34_swap_and_image_are_both_said_once(client, c34):
    text = text_of(client, c34[1].run)
    said = f"checkpoint swapped from <code>{OLD}</code> to <code>{NEW}</code>"
    assert text.count(said) == 1
    image = "image changed from <code>img/sglang:1</code> to <code>img/sglang:2</code>"
    assert text.count(image) == 1
    assert f"/runs/{c34[0].run.github_run_id}" in text


def test_c34_the_dropped_band_was_removed_on_purpose_and_is_no_loss(client, c34):
    text = text_of(client, c34[1].run)
    assert "removed on purpose: TP4 c4, c16" in text
    assert "The changelog says: Drop the TP4 band" in text
    assert "Use the new weights</li>" not in text.split("What changed")[1][:3000]
    assert "planned, but not measured" not in text


def test_what_is_planned_and_did_not_come_is_a_loss(client):
    plan = [["TP2", 64], ["TP4", 4]]
    before = sweep_on(1, DAY_1, state="former")
    after = sweep_on(2, DAY_2, planned=plan)
    derive(before, after)
    text = text_of(client, after.run)
    assert "planned, but not measured this time: TP4 c4" in text
    assert "removed on purpose: TP4 c16" in text


def test_without_plan_and_word_it_is_not_known_why_a_band_went(client):
    before, after = sweep_on(1, DAY_1, state="former"), sweep_on(2, DAY_2)
    derive(before, after)
    text = text_of(client, after.run)
    assert "not measured this time: TP4 c4, c16. Whether on purpose" in text


def test_an_unchanged_sweep_and_the_first_one_say_so(client):
    before, after = sweep_on(1, DAY_2, state="former"), sweep_on(2, DAY_2)
    derive(before, after)
    assert "the same as <a" in text_of(client, after.run)
    assert "nothing before it is stored" in text_of(client, before.run)


def test_a_held_sweep_has_no_place_in_the_history(client):
    before, held = sweep_on(1, DAY_2), sweep_on(2, DAY_1, state="held")
    derive(before, held)
    assert (held.segment, held.previous) == (None, None)
    assert "What changed against" not in text_of(client, held.run)


def test_hostile_names_and_words_stay_inert(client):
    bad = "<script>alert(1)</script>"
    checkpoint = factories.CheckpointFactory(name=bad)
    before = sweep_on(1, DAY_1, state="former", image=bad)
    after = sweep_on(2, DAY_2, checkpoint=checkpoint)
    factories.ChangelogEntryFactory(run=after.run, description=[f"drop TP4 {bad}"])
    derive(before, after)
    text = text_of(client, after.run)
    assert "<script>alert" not in text
    assert "The changelog says: drop TP4 &lt;script&gt;" in text
