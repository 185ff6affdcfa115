"""The gate of evals: which points stand behind an eval that passed."""

import pytest

from dashboard.analysis.eval_gate import gate
from dashboard.analysis.evals import Outcome

TP2, TP4 = ("key and weights", "TP2"), ("key and weights", "TP4")


@pytest.mark.parametrize(
    ("tp2", "tp4", "stays"),
    [
        ([], [], [False, False]),
        (["pass"], [], [True, True]),
        (["thin margin"], ["pass"], [True, True]),
        (["fail"], ["pass"], [False, True]),
        (["borderline"], [], [False, False]),
        (["pass", "not measured"], [], [False, False]),
        (["pass", "too few questions"], ["pass"], [False, True]),
    ],
)
def test_a_deployment_stands_for_itself_and_else_its_key_and_checkpoint(
    tp2: list[Outcome], tp4: list[Outcome], stays: list[bool]
) -> None:
    assert gate([TP2, TP4], [(TP2, tp2), (TP4, tp4)]) == stays


def test_another_checkpoint_lends_nothing() -> None:
    other = ("key and other weights", "TP2")
    assert gate([TP2, other], [(other, ["pass"])]) == [False, True]
