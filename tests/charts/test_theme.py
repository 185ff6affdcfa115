"""Colours: apart for everybody, on both grounds, and fixed by meaning."""

from bisect import bisect
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.charts.theme import (
    HARDWARE,
    MARKERS,
    UNOFFICIAL,
    Colour,
    Look,
    look,
    unofficial_look,
)
from dashboard.templatetags.inference import swatch
from dashboard.templatetags.runs import badge

# How dichromats see linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
EYES = {
    "all cones": np.eye(3),
    "no green": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no red": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no blue": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
GROUNDS = {"light": "#ffffff", "dark": "#151b21"}
LEAST_DIFFERENCE = 10
LEAST_CONTRAST = 3


def linear(colour: str) -> Any:
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(
        channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
    )


def lab(rgb: Any) -> Any:
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("eyes", EYES)
def test_gpus_stay_apart_for_every_kind_of_eye(eyes, ground):
    seen = {
        n: lab(EYES[eyes] @ linear(getattr(c, ground))) for n, c in HARDWARE.items()
    }
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) >= LEAST_DIFFERENCE, (one, other)


@pytest.mark.parametrize("ground", GROUNDS)
def test_gpus_stand_out_from_the_ground(ground):
    paper = luminance(GROUNDS[ground])
    for name, colour in HARDWARE.items():
        ink = luminance(getattr(colour, ground))
        dark, bright = sorted((ink, paper))
        assert (bright + 0.05) / (dark + 0.05) >= LEAST_CONTRAST, name


def drawn(**given: Any) -> Look:
    usual: Any = {"hardware": "b200", "framework": "trt", "precision": "fp4"}
    return look(**{**usual, "is_speculative": False, **given})


def test_each_meaning_has_its_own_sign():
    usual = drawn()
    assert drawn(hardware="h200").colour != usual.colour
    assert drawn(precision="fp8").colour != usual.colour
    assert drawn(framework="vllm").marker != usual.marker
    assert drawn(is_speculative=True).dash != usual.dash == "solid"


def test_aliases_look_like_what_they_mean():
    assert drawn(framework="trtllm") == drawn()


def test_the_unknown_is_drawn_too():
    unknown = drawn(hardware="tpu9", framework="newserve")
    assert isinstance(unknown.colour, Colour)
    assert unknown.marker not in MARKERS.values()


def test_unofficial_runs_have_colours_that_no_official_line_has():
    violets = [unofficial_look(n).colour for n in range(len(UNOFFICIAL))]
    assert len(set(violets)) == len(violets)
    for ground, paper in GROUNDS.items():
        for violet in violets:
            colour = getattr(violet, ground)
            ends = sorted((luminance(colour), luminance(paper)))
            assert (ends[1] + 0.05) / (ends[0] + 0.05) >= LEAST_CONTRAST, colour
            for name, official in HARDWARE.items():
                apart = lab(linear(colour)) - lab(linear(getattr(official, ground)))
                assert np.linalg.norm(apart) >= LEAST_DIFFERENCE, (colour, name)
    assert {unofficial_look(n).marker for n in range(20)} == {"x"}
    assert "x" not in MARKERS.values()


def test_unofficial_lines_are_always_dashed():
    assert "solid" not in {unofficial_look(n).dash for n in range(20)}


def test_badges_of_unofficial_runs_have_the_violet_that_charts_begin_with():
    css = Path(__file__).parents[2] / "static/css"
    told = [
        line.strip()
        for sheet in css.glob("*.css")
        for line in sheet.read_text().splitlines()
        if line.strip().startswith("--unofficial:")
    ]
    light, dark = UNOFFICIAL[0]
    assert told == [f"--unofficial: light-dark({light}, {dark});"]
    assert badge("unofficial") == "badge badge-unofficial"


@pytest.mark.parametrize("place", range(len(UNOFFICIAL)))
def test_the_dashes_of_a_swatch_show_beside_its_marker(place: int):
    drawn = swatch(unofficial_look(place))
    dashes = [float(length) for length in drawn["dash"].split()]
    ends = list(accumulate(dashes))
    gaps = [
        at
        for at in range(-14, 14)
        if bisect(ends, (at + 14 + drawn["offset"]) % ends[-1]) % 2 and abs(at) > 5
    ]
    assert len(gaps) >= 3


def test_a_swatch_knows_dashes_by_name():
    dotted = swatch(unofficial_look(0)._replace(dash="dot"))
    assert (dotted["dash"], dotted["offset"]) == ("3 3", 0)
    solid = swatch(unofficial_look(0)._replace(dash="solid"))
    assert (solid["dash"], solid["offset"]) == ("", 0)
