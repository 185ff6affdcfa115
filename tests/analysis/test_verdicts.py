"""From flags to a verdict: each limit, each word, and how often chance is called."""

from collections import Counter
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest

from dashboard.analysis.comparison import compare
from dashboard.analysis.limits import limit
from dashboard.analysis.noise import Noise, NoiseTable
from dashboard.analysis.verdicts import (
    Candidate,
    Verdict,
    headline,
    judge,
    leading,
    sentence,
)
from tests.analysis.sweeps import CONCURRENCIES, METRICS, TRUTH, X, Y, simulated

TTFT, P99 = "median_ttft", "p99_ttft"


def measured(**factors):
    """Return the true sweep, a metric moved by a factor at some concurrencies."""
    frame = pd.DataFrame(TRUTH, dtype="float64").assign(
        deployment=2, concurrency=CONCURRENCIES, is_out=False
    )
    for metric, moved in factors.items():
        at = dict.fromkeys(CONCURRENCIES, moved) if isinstance(moved, float) else moved
        frame[metric] *= [at.get(c, 1.0) for c in CONCURRENCIES]
    return frame


def comparison(head, *, noise=None, planned=None, base=None):
    return compare(
        measured() if base is None else base,
        head,
        axes=(X, Y),
        metrics=METRICS,
        noise=noise or NoiseTable(),
        planned=planned,
    )


def judged(head, **options):
    (found,) = judge([Candidate("key", comparison(head, **options))])
    return found


def test_no_change_is_within_noise():
    found = judged(measured())
    assert (found.verdict, found.partial, found.strong) == ("within noise", "", False)
    assert found.flagged == frozenset()


@pytest.mark.parametrize(
    ("factors", "verdict"),
    [
        ({Y: {64: 0.95}}, "regression"),
        ({Y: {64: 1.05}}, "improvement"),
        ({Y: {64: 0.95, 4: 1.05}}, "mixed"),
        ({X: {64: 0.95}}, "regression"),
        ({Y: {64: 0.971}}, "within noise"),
        ({Y: {64: 0.969}}, "regression"),
        # Latencies alone decide from half of the pairs on, each by its own limit.
        ({TTFT: dict.fromkeys(CONCURRENCIES[:4], 1.12)}, "regression"),
        ({TTFT: dict.fromkeys(CONCURRENCIES[:3], 1.12)}, "within noise"),
        ({TTFT: 1.09}, "within noise"),
        ({TTFT: 0.88}, "improvement"),
        ({P99: 1.20}, "regression"),
        ({P99: 1.17}, "within noise"),
        ({"median_e2el": 1.30}, "within noise"),
    ],
)
def test_flags_become_a_verdict(factors, verdict):
    assert judged(measured(**factors)).verdict == verdict


def test_a_latency_that_decides_nothing_is_still_flagged():
    found = judged(measured(median_e2el=1.30, median_ttft={4: 1.4, 8: 1.4}))
    assert {p.metric for p in found.findings.shown} == {"median_e2el", TTFT}
    assert found.findings.losses == ()
    assert sentence(found).startswith("within noise: no change at 7 points")


def test_the_limit_grows_with_noise():
    loud = NoiseTable([Noise(Y, "all", 0.02, 300, date(2026, 9, 1))])
    (point,) = [
        p
        for p in comparison(measured(), noise=loud).points
        if p.metric == Y and p.concurrency == 4
    ]
    assert limit(point) == pytest.approx(1.96 * 2**0.5 * 0.02)
    assert judged(measured(**{Y: {64: 0.95}}), noise=loud).verdict == "within noise"


def test_noise_that_hides_everything_is_inconclusive():
    deaf = NoiseTable([Noise(Y, "all", 0.05, 300, date(2026, 9, 1))])
    found = judged(measured(), noise=deaf)
    assert found.verdict == Verdict.INCONCLUSIVE
    assert found.reason == "noise hides changes of up to 14 %"


def test_many_small_losses_move_the_frontier_where_no_point_is_flagged():
    found = judged(measured(**{X: 0.975, Y: 0.975}))
    assert found.findings.losses == ()
    assert found.findings.frontier == pytest.approx(0.975**2 - 1)
    assert found.verdict == Verdict.REGRESSION
    assert found.reason == "the frontier moved by -4.9 %"
    assert not found.strong
    assert judged(measured(**{X: 0.97, Y: 0.97})).strong


def test_a_local_loss_counts_only_where_its_point_is_flagged():
    found = judged(measured(**{X: {64: 0.93}, Y: {64: 0.93}}))
    assert found.findings.local == pytest.approx(1 / 0.93 - 1)
    # Both sides of the loss are small: the place falls behind, no metric is flagged.
    calm = comparison(measured())
    far = replace(calm.worst_local, loss=0.06)
    (quiet,) = judge([Candidate("key", replace(calm, worst_local=far))])
    assert quiet.findings.local is None
    assert quiet.verdict == Verdict.WITHIN_NOISE


def test_a_gain_above_two_is_no_improvement():
    found = judged(measured(**{Y: {256: 2.5}}))
    assert found.verdict == Verdict.INCONCLUSIVE
    assert found.reason == "a gain above 2x at 1 of 7 points needs a look"
    assert found.findings.frontier is None
    assert "a gain above 2x at TP2 c256 needs a look" in sentence(
        found, labels={2: "TP2"}
    )


@pytest.mark.parametrize(
    ("kept", "reason"),
    [
        (0, "0 usable pairs of points, 3 are needed"),
        (1, "1 usable pair of points, 3 are needed"),
        (2, "2 usable pairs of points, 3 are needed"),
    ],
)
def test_fewer_than_three_pairs_are_inconclusive(kept, reason):
    found = judged(measured(**{Y: 0.5}).head(kept))
    assert (found.verdict, found.reason) == (Verdict.INCONCLUSIVE, reason)


def test_a_zero_baseline_is_inconclusive():
    found = judged(measured(), base=measured(**{Y: 0.0}))
    assert found.verdict == Verdict.INCONCLUSIVE
    assert "nan" not in sentence(found)
    assert "inf" not in sentence(found)


def test_all_points_out_is_inconclusive():
    assert judged(measured().assign(is_out=True)).verdict == Verdict.INCONCLUSIVE


def test_unknown_noise_is_inconclusive():
    axes = ("median_e2e_norm_intvty", Y)
    frame = measured().assign(median_e2e_norm_intvty=TRUTH[X])
    found = compare(frame, frame, axes=axes, metrics=(), noise=NoiseTable())
    (one,) = judge([Candidate("key", found)])
    assert one.verdict == Verdict.INCONCLUSIVE
    assert one.reason == "the noise of median end-to-end interactivity is unknown"


def test_breaks_are_not_compared_and_no_baseline_is_said():
    moved = comparison(measured(**{Y: 0.5}))
    broken, both, none = judge(
        [
            Candidate("a", moved, ("checkpoint",)),
            Candidate("b", moved, ("checkpoint", "precision")),
            Candidate("c", None, ("checkpoint",)),
        ]
    )
    assert (broken.verdict, broken.reason) == ("not comparable", "checkpoint differs")
    assert both.reason == "checkpoint and precision differ"
    assert broken.flagged == frozenset()
    assert none.verdict == Verdict.NO_BASELINE
    assert sentence(none).startswith("no baseline: there is no earlier official sweep")


def test_the_words_stay_with_their_keys():
    loss, gain = (comparison(measured(**{Y: factor})) for factor in (0.9, 1.1))
    found = judge([Candidate("a", loss), Candidate("b", None), Candidate("c", gain)])
    assert [(one.key, one.verdict) for one in found] == [
        ("a", "regression"),
        ("b", "no baseline"),
        ("c", "improvement"),
    ]
    assert judge([]) == []


def test_what_is_rare_in_one_key_is_expected_among_many():
    lucky = Candidate("lucky", comparison(measured(**{Y: {64: 0.969}})))
    assert judge([lucky])[0].verdict == Verdict.REGRESSION
    rng = np.random.default_rng(1)
    calm = [
        Candidate(str(n), comparison(simulated(rng), base=simulated(rng)))
        for n in range(20)
    ]
    assert judge([lucky, *calm])[0].verdict == Verdict.WITHIN_NOISE


def test_more_listed_metrics_do_not_change_the_verdict():
    head = measured(**{Y: {64: 0.969}})
    listed = (*METRICS, "p99_e2el", "median_itl", "p90_e2el")
    base = measured().assign(p99_e2el=1.0, median_itl=1.0, p90_e2el=1.0)
    head = head.assign(p99_e2el=1.0, median_itl=1.0, p90_e2el=1.0)
    found = compare(base, head, axes=(X, Y), metrics=listed, noise=NoiseTable())
    assert judge([Candidate("key", found)])[0].verdict == Verdict.REGRESSION


def test_an_incomplete_candidate_keeps_its_word_and_says_how_much_came():
    found = judged(measured(**{Y: 0.9}).head(4), planned=7)
    assert found.partial == "4 of 7"
    assert headline(found) == "regression, partial: 4 of 7 points"
    assert headline(found, ["image differs"]).endswith("points, image differs")
    assert judged(measured(), planned=7).partial == ""


def test_the_sentence_names_the_largest_change_and_every_place():
    at = {64: 0.94, 128: 0.91, 256: 0.95}
    found = judged(measured(**{Y: at, X: at}))
    said = sentence(found, baseline="run 1 of 2026-09-02", labels={2: "TP2"})
    assert said.startswith(
        "regression: up to -9.0 % total throughput per GPU at 3 of 7 points "
        "(TP2 c64, c128, c256), area like for like "
    )
    assert said.endswith("], vs run 1 of 2026-09-02")


def test_one_figure_for_all_places_is_not_the_largest_of_several():
    place = judged(measured(**{Y: {64: 0.9}}))
    assert sentence(place).startswith("regression: -10.0 % total throughput per GPU ")
    alike = judged(measured(**{Y: {64: 0.9, 128: 0.9}}))
    assert sentence(alike).startswith("regression: -10.0 % total throughput per GPU ")


def test_what_is_not_comparable_is_not_called_like_for_like():
    moved = comparison(measured(**{Y: 1.1}))
    (found,) = judge([Candidate("a", moved, ("checkpoint",))])
    said = sentence(found, baseline="run 1 of 2026-09-02")
    assert said.startswith(
        "not comparable: checkpoint differs, area at matched points +"
    )
    assert said.endswith(", not like for like, vs run 1 of 2026-09-02")


def test_the_leading_metric_is_throughput_however_large_another_is():
    found = judged(measured(**{Y: {64: 0.93, 128: 0.91}, X: {64: 0.80}}))
    points = leading(found.findings.losses, (X, Y))
    assert [(p.metric, p.concurrency) for p in points] == [(Y, 128), (Y, 64)]


def shares(losses, count=40):
    rng = np.random.default_rng(11)
    found = [
        judged(simulated(rng, losses=losses), base=simulated(rng)) for _ in range(count)
    ]
    return Counter(one.verdict for one in found)


def test_two_runs_of_one_thing_are_within_noise():
    assert shares({})[Verdict.WITHIN_NOISE] >= 38


def test_a_true_loss_at_three_of_seven_points_is_called():
    assert shares({64: 0.06, 128: 0.06, 256: 0.06})[Verdict.REGRESSION] >= 36
