"""What stands beside a curve: former and held sweeps."""

from dashboard.analysis.curves import Curve
from dashboard.analysis.lineage import lineages
from tests.analysis.test_curves import sweep


def test_former_sweeps_come_newest_first_and_the_last_is_the_ghost():
    old, extension, older = sweep(3), sweep(4, extends=3), sweep(1)
    curve = Curve(sweep(5))
    found = lineages([curve], [older, old, extension, curve.sweep])["a"]
    assert found.former == (extension, old, older)
    assert found.former_curve == Curve(old, (extension,))
    assert found.held == ()


def test_only_newer_held_sweeps_stand_beside_a_curve():
    newer, older = sweep(9, is_held=True), sweep(2, is_held=True)
    found = lineages([Curve(sweep(5))], [newer, older])["a"]
    assert found.held == (newer,)
    assert found.former_curve is None


def test_a_curve_without_history_stands_alone():
    curve = Curve(sweep(5))
    assert lineages([curve], [])["a"].former == ()


def test_keys_do_not_mix():
    curves = [Curve(sweep(5)), Curve(sweep(6, config_key="b"))]
    found = lineages(curves, [sweep(1), sweep(2, config_key="b")])
    assert [s.sweep_id for s in found["b"].former] == [2]


SWAP = {"kind": "checkpoint", "from": "org/Old", "to": "org/New"}


def test_after_a_break_the_ghost_is_the_last_sweep_before_it():
    before, extension = sweep(2, segment=1), sweep(3, segment=1, extends=2)
    broke = sweep(4, segment=2, breaks=(SWAP,))
    curve = Curve(sweep(6, segment=2))
    known = [sweep(1, segment=1), before, extension, broke, sweep(5, segment=2)]
    found = lineages([curve], [*known, curve.sweep])["a"]
    assert found.former_curve == Curve(before, (extension,))
    assert found.opening is not None
    assert found.opening.swapped_from == "org/Old"
    assert found.opening.sentence == (
        "checkpoint swapped from org/Old to org/New, since run 4, 2026-08-05"
    )


def test_a_break_of_an_earlier_segment_is_not_how_the_present_one_began():
    broke = sweep(2, segment=2, breaks=(SWAP,))
    notice = {"kind": "notice", "text": "other rack", "at": ""}
    curve = Curve(sweep(5, segment=3, breaks=(notice,)))
    found = lineages([curve], [sweep(1, segment=1), broke])["a"].opening
    assert found is not None
    assert (found.badge, found.swapped_from) == ("break by staff", "")
    assert found.former_name == "before the break"
