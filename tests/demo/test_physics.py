import itertools
from typing import Any

import pytest

from tests.demo.reading import DemoRun, agentic_rows, fixed_rows, gpus

Runs = dict[str, DemoRun]


def _writers(row: dict[str, Any]) -> int:
    """GPUs by which the output rate is divided."""
    return row.get("num_decode_gpu") or gpus(row)


def test_littles_law_holds_for_every_fixed_row(runs: Runs) -> None:
    for row in fixed_rows(runs):
        in_flight = row["output_tput_per_gpu"] * _writers(row) * row["median_e2el"]
        assert 0.85 <= in_flight / (row["osl"] * row["conc"]) <= 0.95, row


def test_input_and_output_make_the_total(runs: Runs) -> None:
    for row in fixed_rows(runs):
        readers = row.get("num_prefill_gpu") or gpus(row)
        parts = row["input_tput_per_gpu"] * readers
        parts += row["output_tput_per_gpu"] * _writers(row)
        assert parts == pytest.approx(row["tput_per_gpu"] * gpus(row))


def test_lengths_are_nine_tenths_of_the_nominal_ones(runs: Runs) -> None:
    for row in fixed_rows(runs):
        readers = row.get("num_prefill_gpu") or gpus(row)
        tokens_in = row["input_tput_per_gpu"] * readers
        tokens_out = row["output_tput_per_gpu"] * _writers(row)
        assert tokens_in / tokens_out == pytest.approx(row["isl"] / row["osl"])


def test_latencies_grow_with_their_percentile(runs: Runs) -> None:
    for row in fixed_rows(runs):
        for metric in ("ttft", "tpot", "itl", "e2el"):
            names = [f"{p}_{metric}" for p in ("median", "p90", "p99", "p99.9")]
            values = [row[name] for name in names]
            assert 0 < values[0] < values[1] < values[2] < values[3]


def test_interactivity_is_the_inverse_of_the_time_per_token(runs: Runs) -> None:
    for row in fixed_rows(runs):
        for name in ("mean", "median", "std", "p90", "p99", "p99.9"):
            assert row[f"{name}_intvty"] * row[f"{name}_tpot"] == pytest.approx(1)


def test_end_to_end_is_first_token_and_the_rest(runs: Runs) -> None:
    for row in fixed_rows(runs):
        rest = 0.9 * row["osl"] * row["median_tpot"]
        assert row["median_e2el"] == pytest.approx(row["median_ttft"] + rest, rel=1e-6)


def test_load_raises_throughput_and_costs_interactivity(runs: Runs) -> None:
    """Along one ladder both move one way, far beyond the noise."""
    rows = [row for row in runs["amd-baseline"].rows if row["tp"] == 2]
    for spec, framework in (("none", "sglang"), ("mtp", "sglang"), ("none", "atom")):
        ladder = sorted(
            (
                row
                for row in rows
                if (row["spec_decoding"], row["framework"]) == (spec, framework)
            ),
            key=lambda row: row["conc"],
        )
        assert len(ladder) > 4
        for low, high in itertools.pairwise(ladder):
            assert low["tput_per_gpu"] < high["tput_per_gpu"]
            assert low["median_intvty"] > high["median_intvty"]


def test_energy_agrees_with_power_and_tokens(runs: Runs) -> None:
    measured = [row for row in fixed_rows(runs) if row.get("power_valid") == 1]
    assert len(measured) > 100
    for row in measured:
        total = row["avg_total_gpu_power_w"]
        assert total == pytest.approx(row["avg_power_w"] * gpus(row), rel=1e-4)
        rate = row["tput_per_gpu"] * gpus(row)
        assert row["joules_per_total_token"] == pytest.approx(total / rate, rel=1e-3)


def test_agentic_rates_are_divided_by_all_gpus(runs: Runs) -> None:
    for row in agentic_rows(runs):
        throughput = row["request_metrics"]["throughput"]
        for name in ("input", "output", "total"):
            whole = throughput[name]["tokens_per_second"]
            per_gpu = throughput["per_gpu"][f"{name}_tput_tps"]
            assert per_gpu * gpus(row) == pytest.approx(whole, rel=1e-6)


def test_agentic_tokens_make_the_rates(runs: Runs) -> None:
    for row in agentic_rows(runs):
        metrics = row["request_metrics"]
        tokens = row["num_requests_successful"] * metrics["tokens"]["input"]["mean"]
        rate = tokens / metrics["throughput"]["duration_seconds"]
        assert metrics["throughput"]["input"]["tokens_per_second"] == pytest.approx(
            rate, rel=1e-3
        )


def test_agentic_percentiles_are_in_order(runs: Runs) -> None:
    for row in agentic_rows(runs):
        latency = row["request_metrics"]["latency"]
        for name in ("ttft", "e2el", "itl", "tpot", "full_response_itl"):
            block = latency[name]
            assert 0 < block["p50"] <= block["p75"] <= block["p90"] <= block["p95"]
        for name in ("intvty", "full_response_intvty", "e2e_norm_intvty"):
            block = latency[name]
            assert block["p50"] > block["p75"] > block["p90"] > block["p95"] > 0
        assert latency["e2e_norm_intvty"]["p50"] < latency["intvty"]["p50"]


def test_agentic_accounting_adds_up(runs: Runs) -> None:
    for row in agentic_rows(runs):
        accounting = row["request_accounting"]
        dropped = accounting["records_dropped_total"]
        assert row["num_requests_total"] == row["num_requests_successful"] + dropped
