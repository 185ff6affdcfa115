"""To which point an eval belongs where it writes the deployment otherwise."""

from dashboard.analysis.eval_places import EvalPlace, join_text, points_of_evals


def place(label: str, concurrency: int | None = 4, tp: int | None = 2) -> EvalPlace:
    return EvalPlace("curve", label, label, tp, concurrency)


def joined(eval_place: EvalPlace, *points: EvalPlace) -> str | None:
    found = points_of_evals(points, [eval_place])
    return found[eval_place].label if eval_place in found else None


def test_the_same_deployment_is_meant_first():
    assert joined(place("TP2"), place("TP2"), place("TP2/EP2")) == "TP2"


def test_another_expert_size_is_joined_where_only_one_point_can_be_meant():
    own, point = place("TP2"), place("TP2/EP2")
    assert joined(own, point) == "TP2/EP2"
    assert join_text(own, point) == "scored as TP2, joined by TP and concurrency"
    assert join_text(point, point) == ""
    assert joined(own, point, place("TP2/EP4")) is None


def test_a_point_that_differs_only_in_experts_wins_over_one_with_offload():
    resident, offloaded = place("TP2/EP2 mtp"), place("TP2/EP2 offload=dram mtp")
    assert joined(place("TP2 mtp"), resident, offloaded) == "TP2/EP2 mtp"
    assert joined(place("TP2 offload=disk"), resident, offloaded) is None
    assert joined(place("TP2 offload=disk"), offloaded) == offloaded.label


def test_other_sizes_concurrencies_and_curves_are_never_joined():
    point = place("TP2/EP2")
    assert joined(place("TP4", tp=4), point) is None
    assert joined(place("TP2", 8), point) is None
    assert joined(place("TP2", None), point) is None
    assert joined(place("TP2")._replace(curve="other"), point) is None
    assert joined(place("1P x 1D", tp=None), place("1P x 2D", tp=None)) is None
