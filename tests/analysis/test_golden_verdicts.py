"""The verdicts that recorded golden runs must get, keys of one run judged together."""

import json

import pandas as pd
import pytest

from dashboard.analysis.comparison import LISTED, compare
from dashboard.analysis.noise import NoiseTable
from dashboard.analysis.verdicts import Candidate, Verdict, headline, judge, sentence
from tests.analysis.sweeps import X, Y, sweep

KEYS = {"plain": "none", "mtp": "mtp"}
# The tensor parallel size stands for the deployment.
LABELS = {2: "TP2", 4: "TP4"}


@pytest.fixture(scope="module")
def golden(shared_data):
    """Read the rows of one key of a run, as frames have them."""

    def read(run, spec):
        (aggregate,) = shared_data.glob(f"runs/{run}/artifacts/*results_bmk/*.json")
        rows = [
            row
            for row in json.loads(aggregate.read_text())
            if row["spec_decoding"] == spec and row["framework"] == "sglang"
        ]
        return (
            pd.DataFrame(rows)
            .assign(is_out=False)
            .rename(columns={"tp": "deployment", "conc": "concurrency"})
        )

    return read


def judged(golden, base, head, breaks=()):
    """Judge the keys of a run against another one, by key."""
    candidates = [
        Candidate(
            key,
            compare(
                golden(base, spec), golden(head, spec), axes=(X, Y), noise=NoiseTable()
            ),
            breaks,
        )
        for key, spec in KEYS.items()
    ]
    return {found.key: found for found in judge(candidates)}


def test_a_better_image_is_an_improvement_of_both_keys(golden):
    found = judged(golden, 33100000001, 33300000002)
    assert {key: one.verdict for key, one in found.items()} == {
        "plain": Verdict.IMPROVEMENT,
        "mtp": Verdict.IMPROVEMENT,
    }


def test_the_regression_is_three_points_of_one_key_and_no_other(golden):
    found = judged(golden, 33598359757, 33500000006)
    assert found["mtp"].verdict == Verdict.WITHIN_NOISE
    assert found["plain"].verdict == Verdict.REGRESSION
    assert {point.place for point in found["plain"].findings.losses} == {
        (2, 64),
        (2, 128),
        (2, 256),
    }
    assert found["plain"].findings.gains == ()
    assert sentence(
        found["plain"], baseline="run 33598359757 of 2026-09-02", labels=LABELS
    ).startswith(
        "regression: up to -9.0 % total throughput per GPU at 3 of 7 points "
        "(TP2 c64, c128, c256), area like for like -"
    )


def test_the_recovered_run_is_within_noise_of_the_one_before(golden):
    found = judged(golden, 33598359757, 33600000007)
    assert {one.verdict for one in found.values()} == {Verdict.WITHIN_NOISE}


def test_the_recovery_is_an_improvement_on_the_regression(golden):
    found = judged(golden, 33500000006, 33600000007)
    assert found["plain"].verdict == Verdict.IMPROVEMENT
    assert found["mtp"].verdict == Verdict.WITHIN_NOISE


def test_another_checkpoint_is_not_compared_and_its_numbers_stay(golden):
    found = judged(golden, 33300000002, 33598359757, ("checkpoint",))["plain"]
    assert found.verdict == Verdict.NOT_COMPARABLE
    assert found.flagged == frozenset()
    assert found.comparison.like_for_like.pairs == 7
    assert [where for where, _ in found.comparison.coverage.lost] == [4]
    assert sentence(found).startswith(
        "not comparable: checkpoint differs, area at matched points +"
    )
    assert sentence(found).endswith("], not like for like")


# Total throughput per GPU and interactivity as the producer gave them.
TRACES_BEFORE = {
    2: [(263.4, 3036.7), (229.0, 10394.8), (187.0, 17899.3), (147.3, 22476.6)],
    4: [(305.9, 1794.3), (263.7, 6214.2), (226.4, 11179.6), (197.8, 15027.1)],
}
TRACES_AFTER = {
    2: [(262.9, 3245.1), (230.7, 11023.7), (187.6, 18611.9), (148.8, 23911.2)],
    4: [(308.3, 1875.4), (265.2, 6523.6), (230.1, 11745.8), (198.7, 15695.7)],
}


def test_a_cancelled_run_is_judged_on_what_it_has_and_says_so():
    """CASES C21: matched points only, E13: how many of how many."""
    before, after = (
        pd.concat(
            sweep(rows, concurrencies=(1, 4, 8, 12), deployment=tp)
            for tp, rows in side.items()
        )
        for side in (TRACES_BEFORE, TRACES_AFTER)
    )
    more = sweep([(113.5, 25498.1), (79.9, 25760.4)], concurrencies=(16, 20))
    before = pd.concat([before, more.assign(deployment=2)])
    comparison = compare(
        before, after, axes=(X, Y), metrics=(), noise=NoiseTable(), planned=16
    )
    (found,) = judge([Candidate("traces", comparison)])
    assert headline(found, ("image differs", "acceptance synthetic")) == (
        "improvement, partial: 8 of 16 points, image differs, acceptance synthetic"
    )
    assert comparison.like_for_like is not None
    assert comparison.like_for_like.pairs == 8
    assert comparison.coverage.lost == ((2, (16, 20)),)


def test_every_listed_metric_is_in_recorded_rows(golden):
    assert set(LISTED) <= set(golden(33500000006, "none").columns)
