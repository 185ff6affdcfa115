"""Sweeps into curves."""

from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard.analysis.curves import SweepFacts, curves

START = datetime(2026, 8, 1, tzinfo=UTC)


def sweep(sweep_id: int, **given: Any) -> SweepFacts:
    facts: dict[str, Any] = {
        "config_key": "a",
        "model": "m",
        "precision": "fp4",
        "hardware": "b200",
        "framework": "trt",
        "scenario": "8k/1k",
        "checkpoint": "org/Weights/",
        "image": "img:1",
        "run_id": sweep_id,
        "run_url": "",
        "measured_at": START,
        "official_at": START + timedelta(days=sweep_id),
        "received": 4,
        "planned": None,
        "extends": None,
        "spec_methods": ("none",),
        "acceptance_source": "",
        "acceptance_length": None,
    }
    return SweepFacts(sweep_id=sweep_id, **{**facts, **given})


def test_an_extension_joins_the_sweep_it_extends_whatever_the_order():
    base, extension = sweep(2), sweep(1, extends=2, received=3)
    (curve,) = curves([extension, base])
    assert (curve.sweep, curve.extensions) == (base, (extension,))
    assert curve.received == 7


def test_each_key_has_its_own_curve():
    found = curves([sweep(1), sweep(2, config_key="b")])
    assert {curve.config_key for curve in found} == {"a", "b"}


def test_a_sweep_without_a_plan_is_not_called_incomplete():
    assert sweep(1).is_complete
    assert not sweep(1, planned=5).is_complete
    assert sweep(1, planned=4).is_complete


def test_speculative_and_synthetic_are_told():
    assert not sweep(1).is_speculative
    assert sweep(1, spec_methods=("mtp",)).is_speculative
    assert sweep(1, acceptance_source="synthetic_by_policy").is_synthetic
    assert not sweep(1, acceptance_source="real").is_synthetic
    golden = {"acceptance_source": "real", "acceptance_length": 3.39}
    assert sweep(1, model="qwen3.5", **golden).is_synthetic
    assert sweep(1, model="qwen3.5", **golden).acceptance_label.startswith("configured")


def test_a_deployment_speculates_where_its_label_ends_in_a_method_of_the_sweep():
    both = sweep(1, spec_methods=("mtp", "none"))
    assert both.speculates("TP2/EP2 mtp")
    assert not both.speculates("TP2/EP2")
    assert not sweep(1).speculates("TP2 none")


def test_short_checkpoint_has_no_publisher_and_no_slash():
    assert sweep(1).checkpoint_short == "Weights"
