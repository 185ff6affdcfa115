"""The history figure: valid, broken at swaps, and a reason where there is none."""

from typing import Any

import pytest
from plotly.graph_objects import Figure

from dashboard.analysis.history import Pull, Series, Value, best_series, history_of
from dashboard.charts import theme
from dashboard.charts.exports import Words
from dashboard.charts.history import HistoryAxis, history_export, history_figure
from tests.analysis.history_frames import SWAP, X, Y, member, swapped, usual

LOOK = theme.look(
    hardware="mi355x", framework="sglang", precision="fp4", is_speculative=False
)
AXIS = HistoryAxis("Best (tok/s/GPU)", "Nothing was reached.")


def drawn(history: Any, series: Any = None) -> Any:
    found = series or best_series(usual(), history, X, Y, [50])
    return history_figure(found, history, LOOK, AXIS)


def by_role(figure: Any) -> dict[str, list[Any]]:
    roles: dict[str, list[Any]] = {}
    for trace in figure["data"]:
        roles.setdefault(trace["meta"]["role"], []).append(trace)
    return roles


def test_figure_is_valid_and_has_its_unit():
    figure = Figure(drawn(swapped()))
    assert figure.layout.yaxis.title.text == "Best (tok/s/GPU)"
    assert figure.layout.xaxis.type == "date"


def test_no_line_joins_two_segments():
    roles = by_role(drawn(swapped()))
    (before,), (after,) = roles["segment"], roles["series"]
    assert [d[0] for d in before["customdata"]] == [1, 2]
    assert [d[0] for d in after["customdata"]] == [3, 5]
    assert before["marker"]["color"] == after["marker"]["color"]


def test_a_held_sweep_is_hollow_and_on_no_line():
    (held,) = by_role(drawn(swapped()))["held"]
    assert held["mode"] == "markers"
    assert held["marker"]["symbol"].endswith("-open")
    assert [d[0] for d in held["customdata"]] == [4]


def test_a_line_breaks_where_a_sweep_has_no_value():
    history = history_of(member(n) for n in (1, 2, 3))
    series = Series("s", "s", {1: Value(1.0), 3: Value(3.0)})
    (trace,) = drawn(history, [series])["data"]
    assert trace["y"] == [1.0, None, 3.0]
    assert trace["connectgaps"] is False


def test_a_rule_with_both_checkpoints_stands_at_the_swap():
    layout = drawn(swapped())["layout"]
    (rule,) = layout["shapes"]
    assert (rule["x0"], rule["x1"]) == ("2026-08-04 00:00:00",) * 2
    (label,) = layout["annotations"]
    assert label["text"] == "swap: Old<br>\u2192 New"
    assert label["x"] == rule["x0"]


def test_publishers_are_named_where_only_they_differ():
    change = {"kind": "checkpoint", "from": "org-a/Same", "to": "org-b/Same"}
    history = history_of([member(1), member(2, segment=2, breaks=(change,))])
    (label,) = drawn(history)["layout"]["annotations"]
    assert label["text"] == "swap: org-a/Same<br>\u2192 org-b/Same"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            "org/A-very-long-model-FP4",
            "org/A-very-long-model-FP4-V2",
            "swap: \u2026ong-model-FP4<br>\u2192 \u2026-model-FP4-V2",
        ),
        (
            "first-publisher/Same",
            "other-publisher/Same",
            "swap: first-publish\u2026<br>\u2192 other-publish\u2026",
        ),
        ("org/Old", "org/New", "swap: Old<br>\u2192 New"),
    ],
)
def test_a_narrow_plot_has_the_part_of_the_names_that_differs(
    before: str, after: str, told: str
):
    change = {"kind": "checkpoint", "from": before, "to": after}
    history = history_of([member(1), member(2, segment=2, breaks=(change,))])
    layout = drawn(history)["layout"]
    (narrow,) = layout["meta"]["narrow_annotations"]
    assert narrow["text"] == told
    (wide,) = layout["annotations"]
    assert {**narrow, "text": wide["text"]} == wide


def test_other_breaks_say_what_they_are():
    harness = {"kind": "spec_method", "from": "mtp", "to": "eagle"}
    notice = {"kind": "notice", "text": "moved <b>racks</b>", "at": ""}
    history = history_of([member(1), member(2, segment=2, breaks=(harness, notice))])
    (label,) = drawn(history)["layout"]["annotations"]
    assert label["text"] == (
        "spec method: mtp<br>\u2192 eagle<br>break: moved &lt;b&gt;racks&lt;/b&gt;"
    )


def test_rules_that_follow_each_other_do_not_write_over_each_other():
    sweeps = [member(1)]
    sweeps += [member(n, segment=n, breaks=(SWAP,)) for n in (2, 3, 4)]
    labels = drawn(history_of(sweeps))["layout"]["annotations"]
    assert len({label["yshift"] for label in labels}) == 3


def test_changes_inside_a_segment_stand_in_a_strip_by_kind():
    figure = drawn(swapped())
    (marker,) = by_role(figure)["marker"]
    assert (marker["yaxis"], marker["y"]) == ("y2", ["image"])
    assert marker["customdata"][0][3] == "image changed from a to b"
    assert marker["marker"]["color"] == theme.INK
    assert figure["layout"]["yaxis2"]["categoryarray"] == ["image"]


def test_intervals_and_the_floor_of_scores_are_drawn():
    series = Series("gsm8k TP2 c64", "", {1: Value(0.97, "", 0.96, 0.98)}, 0.94)
    figure = drawn(history_of([member(1)]), [series])
    assert Figure(figure)
    bars = figure["data"][0]["error_y"]
    assert round(bars["array"][0], 4) == round(bars["arrayminus"][0], 4) == 0.01
    assert figure["layout"]["shapes"][0]["y0"] == 0.94
    assert figure["layout"]["annotations"][0]["text"] == "floor 0.94"


def test_one_sweep_has_days_around_it():
    axis = drawn(history_of([member(1)]))["layout"]["xaxis"]
    assert axis["range"] == ["2026-07-29 00:00:00", "2026-08-06 00:00:00"]


def test_a_single_value_has_room_around_it_and_takes_in_sweeps_without_one():
    history = history_of(member(n) for n in (1, 4))
    layout = drawn(history, [Series("s", "s", {1: Value(200.0)})])["layout"]
    assert layout["xaxis"]["range"] == ["2026-07-29 00:00:00", "2026-08-09 00:00:00"]
    assert layout["yaxis"]["range"] == pytest.approx([180.0, 220.0])


def test_nothing_to_draw_gives_the_reason():
    assert drawn(swapped(), [Series("s", "s", {})]) == "Nothing was reached."


def test_hover_says_run_image_checkpoint_and_pull_request():
    given = {"checkpoint": "o/<i>", "image": "%{x}", "pull": Pull(12)}
    (trace,) = drawn(history_of([member(1, **given)]))["data"]
    assert "<i>" not in str(trace)
    assert trace["customdata"][0][5] == ", PR #12"
    assert trace["customdata"][0][:5] == [1, 1, "2026-08-02", "o/&lt;i&gt;", "%{x}"]
    assert trace["customdata"][0][7] == " at TP2 c4"


def test_a_picture_keeps_rules_words_and_source():
    figure = drawn(swapped())
    words = Words("Title", ["Source: here"])
    layout = history_export(figure, words, 1)
    assert Figure({**figure, "layout": {**figure["layout"], **layout}})
    assert [a["text"] for a in layout["annotations"]] == [
        "swap: Old<br>\u2192 New",
        "Source: here",
    ]
    assert layout["shapes"] == figure["layout"]["shapes"]
