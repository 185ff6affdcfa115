"""The noise of a metric: how it is pooled, and what stands in for what is unknown."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from dashboard.analysis.noise import (
    START_NOISE,
    Noise,
    NoiseTable,
    band,
    estimate,
    pooled,
)

DAY = date(2026, 9, 7)


def table(*rows: tuple[str, str, float, int]) -> NoiseTable:
    return NoiseTable(Noise(*row, DAY) for row in rows)


def test_pooled_noise_is_that_of_one_run_and_ignores_real_changes():
    rng = np.random.default_rng(3)
    ratios = rng.normal(0, 0.01 * np.sqrt(2), 20_000)
    ratios[:500] = -0.3
    assert pooled(ratios) == pytest.approx(0.01, rel=0.05)


def test_pooling_nothing_is_nan():
    assert np.isnan(pooled([]))
    assert np.isnan(pooled([np.nan, np.inf]))


@pytest.mark.parametrize(
    ("concurrency", "expected"),
    [
        (1, "1-16"),
        (16, "1-16"),
        (17, "32-64"),
        (20, "32-64"),
        (64, "32-64"),
        (65, "128+"),
        (6144, "128+"),
    ],
)
def test_what_lies_between_two_bands_joins_the_upper_one(concurrency, expected):
    assert band(concurrency) == expected


def test_a_band_of_30_pairs_counts_then_the_metric_then_the_start_value():
    known = table(
        ("tput_per_gpu", "1-16", 0.02, 30),
        ("tput_per_gpu", "32-64", 0.05, 29),
        ("tput_per_gpu", "all", 0.01, 200),
        ("median_intvty", "all", 0.04, 29),
    )
    assert known.value("tput_per_gpu", 4) == 0.02
    assert known.value("tput_per_gpu", 64) == 0.01
    assert known.value("tput_per_gpu", 128) == 0.01
    assert known.value("median_intvty", 4) == START_NOISE["median_intvty"]


def test_a_measured_zero_is_not_believed():
    known = table(("tput_per_gpu", "1-16", 0.0, 40), ("tput_per_gpu", "all", 0.0, 40))
    assert known.value("tput_per_gpu", 4) == START_NOISE["tput_per_gpu"]


def test_a_percentile_takes_the_value_of_its_nearest():
    known = table(("median_intvty", "all", 0.004, 99))
    assert known.value("p90_intvty", 4) == 0.004
    start = NoiseTable()
    assert start.value("p90_ttft", 4) == START_NOISE["p99_ttft"]
    assert start.value("mean_ttft", 4) == START_NOISE["median_ttft"]
    assert start.value("p99.9_e2el", 4) == START_NOISE["median_e2el"]
    assert start.value("median_tpot", 4) == START_NOISE["median_intvty"]


def test_throughputs_share_a_start_value_and_others_have_none():
    start = NoiseTable()
    assert start.value("output_tput_per_gpu", 4) == 0.0075
    assert start.value("joules_per_output_token", 4) is None
    assert start.value("median_e2e_norm_intvty", 4) is None


def test_a_value_says_where_it_comes_from():
    known = table(("tput_per_gpu", "1-16", 0.02, 31))
    found = [known.entry("tput_per_gpu", concurrency) for concurrency in (4, 64)]
    assert [noise and noise.source for noise in found] == [
        "31 pairs of consecutive runs as of 2026-09-07, concurrency 1-16",
        "start value, from the published history",
    ]


def test_estimates_are_pooled_by_metric_and_band_and_over_all():
    pairs = pd.DataFrame(
        {
            "metric": ["a"] * 4 + ["b"],
            "concurrency": [1, 2, 64, 64, 128],
            "log_ratio": [0.01, -0.01, 0.03, np.nan, 0.02],
        }
    )
    found = estimate(pairs).set_index(["metric", "band"])
    assert found["pairs"].to_dict() == {
        ("a", "1-16"): 2,
        ("a", "32-64"): 1,
        ("a", "all"): 3,
        ("b", "128+"): 1,
        ("b", "all"): 1,
    }
    assert found.loc[("a", "1-16"), "value"] == pytest.approx(0.0104834, rel=1e-4)


def test_estimating_nothing_gives_no_row():
    empty = pd.DataFrame({"metric": [], "concurrency": [], "log_ratio": []})
    assert estimate(empty).empty
