"""Prices and power that a request is answered with, and what is said of an axis."""

from collections.abc import Iterable
from datetime import datetime

import pandas as pd
from ninja import Schema
from pydantic import Field

from dashboard.analysis.axis_notes import axis_note
from dashboard.api.errors import RequestFault
from dashboard.queries.prices import prices_at
from dashboard.vocabulary.metrics import PRICED
from dashboard.vocabulary.prices import Custom, Prices, read_custom


class PricedQuery(Schema):
    """Numbers of the caller's own, which stand over those of an edition."""

    price: str = Field(
        "", description="USD per GPU and hour, such as mi355x:1.85,b200:2"
    )
    kw: str = Field("", description="all-in kW per GPU, such as mi355x:2.1")

    def prices(self, names: Iterable[str], moment: datetime | None) -> Prices | None:
        """Return the prices of that day, None is today; None where nothing needs them.

        Raises RequestFault naming the parameter that is no list of numbers.
        """
        custom = Custom(
            _given("price", self.price, "price"), _given("kw", self.kw, "power")
        )
        return None if PRICED.isdisjoint(names) else prices_at(moment, custom)


class AxisNotes(Schema):
    """What each axis rests on: whose prices, of which edition, which GPUs divide."""

    x: list[str]
    y: list[str]


def notes_of(values: pd.DataFrame, x: str, y: str, prices: Prices | None) -> AxisNotes:
    """Return what is said at both axes of these points."""
    said = [axis_note(values, name, prices).sentences for name in (x, y)]
    return AxisNotes(x=said[0], y=said[1])


def _given(parameter: str, text: str, unit: str) -> dict[str, float]:
    try:
        return read_custom(parameter, [text], unit)
    except ValueError as error:
        raise RequestFault(
            parameter, str(error), allowed=["mi355x:1.85,b200:2"]
        ) from error
