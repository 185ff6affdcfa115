"""Where the acceptance length of a run's sweeps comes from, and the evidence."""

from typing import Any

import pytest

from dashboard.vocabulary.acceptance import POLICY, acceptance_label
from tests.ingest.records import agentic
from tests.pipeline.bundles import (
    KEY,
    changelog,
    disagg_row,
    master,
    results,
    row,
    run_object,
)
from tests.pipeline.conftest import Desk, the_sweep


def test_c36_a_declared_acceptance_length_is_synthetic(desk: Desk) -> None:
    key = "qwen3.5-fp4-mi355x-sglang-disagg-mtp"
    settings = ["SYNTHETIC_ACCEPTANCE=true", "SYNTHETIC_ACCEPTANCE_LENGTH=3.39"]
    role = {"num-worker": 1, "tp": 4, "ep": 1, "dp-attn": False}
    search = {
        "conc-list": [64],
        "spec-decoding": "mtp",
        "prefill": role | {"additional-settings": settings},
        "decode": role | {"num-worker": 5},
    }
    text = master(
        key, framework="sglang-disagg", multinode=True, disagg=True, search=[search]
    )
    synthetic = disagg_row(framework="sglang-disagg", spec_decoding="mtp")
    desk.ingest(None, results(synthetic), configs={"amd-master.yaml": text})
    sweep = the_sweep()
    assert sweep.acceptance_source == "synthetic_declared"
    assert sweep.acceptance_length == 3.39
    assert sweep.acceptance_evidence == (
        "declared in the master config: SYNTHETIC_ACCEPTANCE_LENGTH=3.39"
    )
    real = row(spec_decoding="mtp")
    desk.ingest(run_object(90002), results(real))
    other = the_sweep(90002)
    assert (other.acceptance_source, other.acceptance_length) == ("real", None)
    assert other.acceptance_evidence.startswith("fixed lengths are verified for real")
    assert other.config_key_id != sweep.config_key_id


def test_c36_recipes_with_lengths_of_their_own_declare_no_single_one(
    desk: Desk,
) -> None:
    def searched(length: str, conc: int) -> dict[str, Any]:
        settings = [
            "SYNTHETIC_ACCEPTANCE=true",
            f"SYNTHETIC_ACCEPTANCE_LENGTH={length}",
        ]
        role = {"num-worker": 1, "tp": 4, "ep": 1, "dp-attn": False}
        return {
            "conc-list": [conc],
            "spec-decoding": "mtp",
            "prefill": role | {"additional-settings": settings},
            "decode": role | {"num-worker": 5},
        }

    text = master(
        framework="sglang-disagg",
        multinode=True,
        disagg=True,
        search=[searched("1.79", 64), searched("2.49", 128)],
    )
    rows = [
        disagg_row(
            framework="sglang-disagg",
            spec_decoding="mtp",
            conc=conc,
            median_e2el=1024 * conc / 4000,
        )
        for conc in (64, 128)
    ]
    desk.ingest(None, results(*rows), configs={"amd-master.yaml": text})
    sweep = the_sweep()
    assert (sweep.acceptance_source, sweep.acceptance_length) == (
        "synthetic_declared",
        None,
    )
    assert sweep.acceptance_evidence.endswith("LENGTH=1.79 and 2.49")


def test_c36_without_a_config_nobody_knows_whether_roles_forced_a_length(
    desk: Desk,
) -> None:
    desk.ingest(None, results(disagg_row(spec_decoding="mtp")))
    sweep = the_sweep()
    assert (sweep.acceptance_source, sweep.acceptance_length) == ("unknown", None)
    assert sweep.acceptance_evidence


@pytest.mark.parametrize(
    ("scenario", "claim", "expected"),
    [
        ("agentic", "MTP acceptance 3.39 -> 3.39 unchanged", (POLICY, 3.39)),
        ("agentic", "golden synthetic acceptance length 3.39", (POLICY, 3.39)),
        ("agentic", "MTP acceptance 3.11 -> 3.2", (POLICY, None)),
        ("agentic", "AL 3.39 at 3 draft tokens, AL 2.73 at 2", (POLICY, None)),
        ("agentic", "a note", (POLICY, None)),
        ("fixed", "MTP acceptance 3.39 -> 3.39 unchanged", (POLICY, 3.39)),
        ("fixed", "MTP acceptance 3.2", ("real", None)),
    ],
)
def test_contract_11d_a_claimed_golden_length_is_configured_and_never_measured(
    desk: Desk, scenario: str, claim: str, expected: tuple[str, float | None]
) -> None:
    make = agentic if scenario == "agentic" else row
    record = make(spec_decoding="mtp")
    desk.ingest(None, results(record), changelog=changelog(KEY, description=[claim]))
    sweep = the_sweep()
    assert (sweep.acceptance_source, sweep.acceptance_length) == expected
    label = acceptance_label(*expected, "qwen3.5")
    assert ("measured" in label) == (expected[0] == "real")
    if expected[1] is not None:
        assert label == "synthetic 3.39 (golden)"
        assert sweep.acceptance_evidence == (
            "the changelog names 3.39, golden for this model: configured, not measured"
        )


def test_a_claim_for_another_key_says_nothing(desk: Desk) -> None:
    claim = changelog(f"{KEY}-other", description=["MTP acceptance 3.39"])
    claim["entries"].append({**changelog()["entries"][0], "description": ["a note"]})
    desk.ingest(None, results(row(spec_decoding="mtp")), changelog=claim)
    assert the_sweep().acceptance_source == "real"
