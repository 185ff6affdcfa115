"""What is stored of a key's history: harness, held sweeps, and nothing twice."""

# mypy: allow-untyped-calls

from datetime import timedelta

import pytest

from dashboard.models import Sweep
from ingest.measured import note_measured
from ingest.segments import derive_segments
from tests import factories

pytestmark = pytest.mark.django_db

AGENTIC = "agentic-traces"
TRACES = {"dataset": {"hf_dataset_name": "org/agent-traces-v1"}}


def sweep_on(day, state="former", *, seconds=3600.0, facts=TRACES, **given):
    created = factories.START + timedelta(days=day)
    sweep = factories.SweepFactory(
        run=factories.RunFactory(official=True, created_at=created),
        state=state,
        official_at=created,
        scenario=AGENTIC,
        **given,
    )
    factories.PointFactory(
        sweep=sweep, facts=facts, extra={"duration_seconds": seconds}
    )
    note_measured(sweep.run)
    return sweep


def placed(*sweeps):
    changed = derive_segments({(s.config_key_id, s.scenario) for s in sweeps})
    for sweep in sweeps:
        sweep.refresh_from_db()
    return changed


def test_a_shortened_replay_begins_a_segment(db):
    whole, fast = sweep_on(1), sweep_on(2, "current", seconds=1200.0)
    placed(whole, fast)
    assert (whole.segment, fast.segment) == (1, 2)
    assert fast.breaks == [
        {
            "kind": "harness",
            "from": "agent-traces-v1",
            "to": "agent-traces-v1 (20-minute replay)",
        }
    ]


def test_other_traces_begin_a_segment_and_untold_ones_do_not(db):
    other = {"dataset": {"hf_dataset_name": "org/agent-traces-v2"}}
    sweeps = [
        *(sweep_on(1), sweep_on(2, facts={})),
        *(sweep_on(3), sweep_on(4, "current", facts=other)),
    ]
    placed(*sweeps)
    assert [s.segment for s in sweeps] == [1, 1, 1, 2]


def test_a_held_sweep_is_passed_over(db):
    new = factories.CheckpointFactory(name="org-a/Other")
    before, held = sweep_on(1), sweep_on(2, "held", checkpoint=new)
    after = sweep_on(3, "current")
    placed(before, held, after)
    assert (held.segment, held.previous, held.breaks) == (None, None, [])
    assert (after.segment, after.previous, after.is_swap) == (1, before, False)


def test_a_sweep_that_comes_late_moves_the_swap_to_where_it_was(db):
    new = factories.CheckpointFactory(name="org-a/Other")
    before, after = sweep_on(1), sweep_on(5, "current", checkpoint=new)
    placed(before, after)
    assert after.is_swap
    late = sweep_on(3, checkpoint=new)
    placed(before, late, after)
    assert (late.is_swap, late.previous) == (True, before)
    assert (after.is_swap, after.previous, after.segment) == (False, late, 2)


def test_deriving_twice_writes_nothing(db):
    sweeps = [sweep_on(1), sweep_on(2, "current", seconds=1200.0)]
    assert placed(*sweeps) == 2
    stamps = list(Sweep.objects.order_by("pk").values_list("updated_at", flat=True))
    assert placed(*sweeps) == 0
    assert stamps == list(
        Sweep.objects.order_by("pk").values_list("updated_at", flat=True)
    )


@pytest.mark.parametrize("size", [2, 20])
def test_a_long_history_is_read_in_as_many_queries(django_assert_num_queries, size):
    sweeps = [sweep_on(day) for day in range(size)]
    placed(*sweeps)
    with django_assert_num_queries(2):  # sweeps and notices
        derive_segments({(s.config_key_id, s.scenario) for s in sweeps})
