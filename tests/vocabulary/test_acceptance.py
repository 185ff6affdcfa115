"""Golden acceptance lengths, claims of them, and how they are said."""

from pathlib import Path

import pytest

from dashboard.vocabulary.acceptance import (
    GOLDEN_CURVES,
    acceptance_label,
    claimed_lengths,
    golden_lengths,
    is_configured,
    is_golden,
)
from ingest.config_keys import expand_master


def test_golden_lengths_are_known_for_one_to_eight_draft_tokens() -> None:
    assert len(GOLDEN_CURVES) == 11
    assert {len(curve.lengths) for curve in GOLDEN_CURVES} == {8}
    assert golden_lengths("qwen3.5", 3) == {3.39, 3.33}
    assert golden_lengths("glm5.2") >= {1.84, 2.99, 4.06}
    assert golden_lengths("qwen3.5", 0) == golden_lengths("qwen3.5", 9) == frozenset()
    assert golden_lengths("llama70b") == frozenset()


def test_a_length_is_golden_within_its_own_family_only() -> None:
    assert is_golden("qwen3.5", 3.39)
    assert not is_golden("qwen3.5", 3.4)
    assert not is_golden("glm5.2", 3.39)
    assert not is_golden("unheard-of", 3.39)


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("MTP acceptance 3.39 -> 3.39 unchanged", {3.39}),
        ("| MTP acceptance | 3.20 \u2192 3.39 |", {3.39}),
        ("SGLANG_SIMULATE_ACC_LEN=2.99 (K=3)", {2.99}),
        ("synthetic_acceptance_length 2.51", {2.51}),
        ("golden synthetic acceptance length of 2.49; evals verify", {2.49}),
        ("the prescribed 2.51 golden acceptance length", {2.51}),
        ("golden synthetic AL 2.78 for throughput", {2.78}),
        ("vLLM v0.27.1, acceptance regresses on 1.5 of 3 prompts", set()),
        ("acceptance version 1.2.3", set()),
        ("", set()),
    ],
)
def test_claims_are_read_from_texts(text: str, lengths: set[float]) -> None:
    assert claimed_lengths(text) == lengths


@pytest.mark.parametrize(
    ("source", "length", "label"),
    [
        ("", None, ""),
        ("synthetic_declared", 3.39, "synthetic 3.39 (golden)"),
        ("synthetic_declared", 3.2, "synthetic 3.2"),
        ("synthetic_declared", None, "synthetic"),
        ("synthetic_by_policy", None, "synthetic by policy"),
        ("synthetic_by_policy", 3.39, "synthetic 3.39 (golden)"),
        ("real", None, "measured"),
        ("real", 3.2, "measured 3.2"),
        ("unknown", None, "unknown"),
        ("unknown", 3.2, "unknown, 3.2"),
    ],
)
def test_labels_say_where_a_length_comes_from(
    source: str, length: float | None, label: str
) -> None:
    assert acceptance_label(source, length, "qwen3.5") == label


@pytest.mark.parametrize(
    "source", ["real", "unknown", "synthetic_declared", "synthetic_by_policy"]
)
def test_c36_a_golden_length_is_configured_and_never_measured(source: str) -> None:
    label = acceptance_label(source, 3.39, "qwen3.5")
    assert label.startswith(("configured", "synthetic"))
    assert "measured" not in label
    assert is_configured(source, 3.39, "qwen3.5")


def test_a_real_length_off_the_curve_is_not_configured() -> None:
    assert not is_configured("real", 3.2, "qwen3.5")
    assert not is_configured("real", None, "qwen3.5")


def test_every_length_that_the_recorded_masters_declare_is_golden(
    shared_data: Path,
) -> None:
    configs = shared_data / "configs"
    text = (configs / "nvidia-master.yaml").read_text()
    entries = expand_master(text, (configs / "runners.yaml").read_text()).entries
    declared = {
        (e.config_key, e.model, e.acceptance_length)
        for e in entries
        if e.acceptance_length is not None
    }
    assert len({key for key, _, _ in declared}) == 16
    assert {length for _, _, length in declared} == {
        *(1.79, 2.27, 2.49, 2.78),
        *(3.36, 3.39, 3.84),
    }
    assert all(is_golden(model, length) for _, model, length in declared)
