"""Prices and power: which edition counts on a day, and what is no number."""

from datetime import date

import pytest

from dashboard.vocabulary.prices import (
    Custom,
    PriceRow,
    Prices,
    Quote,
    edition,
    read_custom,
)

APRIL, AUGUST = date(2026, 4, 1), date(2026, 8, 1)
ROWS = [
    PriceRow("mi355x", AUGUST, 1.50, 2.09, 2.10, 2.09),
    PriceRow("mi355x", APRIL, 1.48, 1.90, 2.10, 2.65),
    PriceRow("rtx5090", AUGUST, 9.99, 0.57, 0.60, 9.99, ("hyperscaler", "power_kw")),
    PriceRow("b300", APRIL, None, 2.808, 3.48, 2.17, note="temporary"),
]


@pytest.mark.parametrize(
    ("day", "neocloud", "since"),
    [
        (date(2026, 12, 1), 2.09, AUGUST),
        (AUGUST, 2.09, AUGUST),
        (date(2026, 7, 31), 1.90, APRIL),
        (APRIL, 1.90, APRIL),
    ],
)
def test_the_newest_edition_by_the_day_counts(day, neocloud, since):
    assert Prices(ROWS, day).rate("mi355x", "neocloud") == Quote(neocloud, since)


def test_before_the_first_edition_there_is_no_price_and_it_says_so():
    found = Prices(ROWS, date(2026, 3, 31)).rate("mi355x", "rental")
    assert found.value is None
    assert found.reason == "no rental price of MI355X is valid on 2026-03-31"


def test_a_placeholder_is_never_a_number():
    prices = Prices(ROWS, AUGUST)
    assert prices.rate("rtx5090", "neocloud").value == 0.57
    assert prices.rate("rtx5090", "hyperscaler").value is None
    assert prices.power("rtx5090").value is None
    assert (
        prices.power("rtx5090").reason
        == "all-in power of RTX 5090 of 2026-08 is a placeholder"
    )


def test_an_unknown_value_is_missing_and_a_row_keeps_its_note():
    prices = Prices(ROWS, AUGUST)
    unknown = prices.rate("b300", "hyperscaler")
    assert unknown.reason == "hyperscaler price of B300 of 2026-04 is unknown"
    assert prices.power("b300") == Quote(2.17, APRIL, note="temporary")


def test_what_a_reader_gives_stands_over_every_tier():
    prices = Prices(ROWS, AUGUST, Custom({"mi355x": 1.85}, {"rtx5090": 0.8}))
    assert prices.rate("mi355x", "rental") == Quote(1.85)
    assert prices.rate("mi355x", "custom").is_custom
    assert prices.power("rtx5090") == Quote(0.8)
    assert prices.power("mi355x") == Quote(2.09, AUGUST)


def test_the_custom_metrics_take_nothing_but_what_is_given():
    prices = Prices(ROWS, AUGUST, Custom({"h200": 1.0}))
    assert prices.rate("mi355x", "custom").reason == "no price of MI355X in the address"
    assert prices.power("mi355x", is_custom=True).value is None


def test_an_edition_is_named_by_its_month_or_day():
    assert edition(AUGUST) == "2026-08"
    assert edition(date(2026, 9, 15)) == "2026-09-15"


def test_given_numbers_are_read_by_gpu():
    texts = ["mi355x:1.85, B200:2", "h100: 1e0", ""]
    assert read_custom("price", texts, "price") == {
        "mi355x": 1.85,
        "b200": 2,
        "h100": 1,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mi355x", "price: mi355x is not like mi355x:1.85."),
        ("tpu9:1", "price: tpu9 is not known. Allowed: gb300,"),
        ("mi355x:cheap", "price: cheap is no price above 0"),
        ("mi355x:", "price: nothing is no price above 0"),
        ("mi355x:0", "price: 0 is no price above 0"),
        ("mi355x:-1", "price: -1 is no price above 0"),
        ("mi355x:nan", "price: nan is no price above 0"),
        ("mi355x:inf", "price: inf is no price above 0"),
        ("mi355x:1,mi355x:2", "price: mi355x is given twice."),
        ("a" * 200 + ":1", "price: " + "a" * 40 + " is not known"),
    ],
)
def test_what_is_no_price_is_named(text, said):
    with pytest.raises(ValueError, match=r"^price: ") as error:
        read_custom("price", [text], "price")
    assert str(error.value).startswith(said)
