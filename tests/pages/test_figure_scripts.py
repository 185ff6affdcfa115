"""Figures in a page's source: read back as they were, whatever their texts say."""

import json
from typing import Any

import numpy as np
import pytest

from dashboard.templatetags.figures import figure_script


def read(figure: object) -> Any:
    script = figure_script(figure, "a-figure")
    start, end = '<script id="a-figure" type="application/json">', "</script>"
    assert script.startswith(start)
    assert script.endswith(end)
    text = script.removeprefix(start).removesuffix(end)
    assert text.isascii()
    assert not set(text) & set("<>&")
    return json.loads(text)


@pytest.mark.parametrize(
    "text", ["</script><!--", "a &amp; b", "\u202egnp.exe\u2028", "\U0001f600 \u00e9"]
)
def test_no_text_ends_the_script_and_all_come_back(text: str) -> None:
    assert read({"name": text}) == {"name": text}


def test_numbers_of_numpy_are_numbers_and_no_number_is_null() -> None:
    figure = {"x": [np.float64(1.5), np.int64(2), 0.0, float("nan"), np.float64("inf")]}
    assert read(figure) == {"x": [1.5, 2, 0.0, None, None]}


def test_the_id_cannot_leave_its_quotes() -> None:
    assert 'id="a&quot;b"' in figure_script({}, 'a"b')
