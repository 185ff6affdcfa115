"""Places of metrics in a stored array, which no later version may move."""

from importlib import import_module

import pytest

from dashboard.vocabulary.metrics import DERIVED, METRICS
from dashboard.vocabulary.stored_metrics import (
    STORED_METRICS,
    array_of,
    metrics_of,
    parted,
)

FROZEN = import_module("dashboard.migrations.0025_point_metrics_array").NAMES


def test_every_metric_that_is_measured_has_a_place():
    assert METRICS.keys() - DERIVED <= set(STORED_METRICS)


def test_no_metric_has_two_places_and_none_is_derived():
    assert len(set(STORED_METRICS)) == len(STORED_METRICS)
    assert DERIVED.isdisjoint(STORED_METRICS)


def test_places_are_those_by_which_rows_were_converted():
    assert STORED_METRICS[: len(FROZEN)] == FROZEN


def test_an_array_ends_with_its_last_value_and_zero_is_one():
    assert array_of({}) == []
    assert array_of({STORED_METRICS[2]: 0.0, STORED_METRICS[4]: None}) == [
        None,
        None,
        0,
    ]
    assert metrics_of([None, None, 0]) == {STORED_METRICS[2]: 0.0}


def test_metrics_come_back_whatever_their_order():
    measured = {name: float(n) for n, name in enumerate(reversed(STORED_METRICS))}
    assert metrics_of(array_of(measured)) == measured


def test_what_has_no_place_is_parted_from_what_has_one():
    measured = {"p42_ttft": 1.5, STORED_METRICS[1]: 2.0}
    assert parted(measured) == ((None, 2.0), {"p42_ttft": 1.5})
    assert parted({STORED_METRICS[0]: 3.0}) == ((3.0,), None)
    with pytest.raises(ValueError, match="p42_ttft is no stored metric"):
        array_of(measured)
