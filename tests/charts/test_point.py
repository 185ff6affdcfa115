"""Figures of a point and of its requests: valid, and true to what is given."""

import numpy as np
import plotly.graph_objects as go

from dashboard.analysis.request_distributions import distribution
from dashboard.charts.point import AxisWords, Series, shares_figure, statistics_figure
from dashboard.charts.requests import Bar, histogram_figure, timeline_figure


def test_statistics_leave_out_what_was_not_measured() -> None:
    series = [
        Series("TTFT", {"mean": 1.0, "median": 0.5, "p90": None, "p99": 0.0, "std": 9}),
        Series("E2E", {"mean": None}),
    ]
    figure = statistics_figure(series, AxisWords("Latency (s)", is_log=True))
    assert not isinstance(figure, str)
    go.Figure(figure)
    (trace,) = figure["data"]
    assert trace["x"] == ["Mean", "Median", "p99"]
    assert trace["y"] == [1.0, 0.5, 0.0]
    assert figure["layout"]["yaxis"]["title"]["text"] == "Latency (s), log scale"


def test_a_log_axis_within_a_decade_has_more_ticks_than_1_2_and_5() -> None:
    axis = AxisWords("Latency (s)", is_log=True)
    near = statistics_figure([Series("E2E", {"mean": 22.0, "p99": 49.0})], axis)
    far = statistics_figure([Series("E2E", {"mean": 2.0, "p99": 49.0})], axis)
    assert not isinstance(near, str)
    assert not isinstance(far, str)
    assert "dtick" not in near["layout"]["yaxis"]
    assert far["layout"]["yaxis"]["dtick"] == "D2"


def test_nothing_measured_is_a_sentence() -> None:
    nothing = statistics_figure([Series("TTFT", {"mean": None})], AxisWords("s"))
    assert nothing == "None of these was measured."
    assert shares_figure([("GPU", None)]) == "None of these was measured."
    assert timeline_figure([], []) == "None of the requests says when it began."


def test_shares_stand_from_zero_to_one_and_zero_is_a_share() -> None:
    figure = shares_figure([("GPU", 0.5), ("CPU", None), ("external", 0.0)])
    assert not isinstance(figure, str)
    go.Figure(figure)
    assert figure["data"][0]["x"] == [0.5, 0.0]
    assert figure["layout"]["xaxis"]["range"] == [0, 1.0]


def test_a_request_is_a_line_from_start_to_end_in_its_conversations_row() -> None:
    bars = [
        Bar(1, 0, "warm-up", 0.0, 1.0, ("a<b>",)),
        Bar(2, 1, "measured", 2.0, 5.0, ("c",)),
        Bar(3, 1, "failed", 6.0, None, ("d",)),
    ]
    figure = timeline_figure(bars, ["a<b>", "c"])
    assert not isinstance(figure, str)
    go.Figure(figure)
    spans = {t["name"]: t for t in figure["data"] if t["mode"] == "lines"}
    assert spans["measured, from start to end"]["x"] == [2.0, 5.0, None]
    assert spans["measured, from start to end"]["y"] == [1, 1, None]
    assert spans["failed, from start to end"]["x"] == []
    starts = {t["name"]: t for t in figure["data"] if t["mode"] == "markers"}
    symbols = [trace["marker"]["symbol"] for trace in starts.values()]
    assert len(set(symbols)) == len(symbols)
    assert starts["warm-up"]["customdata"] == [[1, "a&lt;b&gt;"]]
    assert figure["layout"]["yaxis"]["ticktext"][0] == "a&lt;b&gt;"


def test_steps_hold_every_request_and_end_where_the_last_bin_does() -> None:
    spread = distribution(np.array([1.0, 2.0, 500.0]))
    assert spread is not None
    figure = histogram_figure(spread, "Time to first token", "s")
    go.Figure(figure)
    (trace,) = figure["data"]
    assert sum(trace["y"][:-1]) == 3
    assert (trace["x"][0], trace["x"][-1]) == (1.0, 500.0)
    assert len(trace["x"]) == len(trace["y"]) == len(trace["customdata"])
    assert figure["layout"]["xaxis"]["type"] == "log"
