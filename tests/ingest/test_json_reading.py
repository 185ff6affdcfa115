"""JSON bytes to values and to one canonical text."""

import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.artifacts.json_reading import (
    BadJsonError,
    canonical,
    parse,
)
from ingest.artifacts.streaming import starts_with_array, stream_records


def text_of(data: bytes) -> str:
    parsed = parse(data)
    return canonical(parsed.value, strict=parsed.strict)[0]


def test_plain_json_takes_the_fast_parser() -> None:
    parsed = parse(b'[{"a": 1.5, "b": "\\u0000"}]')

    assert parsed.strict
    assert parsed.value == [{"a": 1.5, "b": "\x00"}]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"b": NaN, "a": 1}', '{"a":1,"b":NaN}'),
        (b"[Infinity, -Infinity]", "[Infinity,-Infinity]"),
        (b"[12345678901234567890123]", "[12345678901234567890123]"),
        (b"[-12345678901234567890123]", "[-12345678901234567890123]"),
        (b'["\\ud800"]', '["\\ud800"]'),
        (b'\xef\xbb\xbf{"a": 1}', '{"a":1}'),
        (b'{"a": "\\u0000"}', '{"a":"\\u0000"}'),
        (b"[9223372036854775807, 1788343219491912400]", None),
        (b"[0.00001234567890123456]", "[0.00001234567890123456]"),
        (b"[-0.0, 1e22]", None),
    ],
)
def test_nothing_is_lost_on_the_way_to_text(data: bytes, text: str | None) -> None:
    found = text_of(data)

    assert (
        parse(found.encode()).value == pytest.approx(parse(data).value, nan_ok=True)
        or found == text
    )
    if text is not None and "." not in text:
        assert found == text


def test_long_fractions_stay_with_the_fast_parser() -> None:
    assert parse(b"[0.001234567890123456789012345, 5]").strict
    assert not parse(b"[0.5, 12345678901234567890123]").strict


@pytest.mark.parametrize("digits", [19, 20, 21, 40])
@pytest.mark.parametrize(
    ("before", "digit"),
    [(b"", b"1"), (b"-", b"1"), (b"0.", b"1"), (b"1e", b"0"), (b"0.5E+", b"0")],
)
def test_a_whole_number_is_long_from_twenty_digits_on(
    before: bytes, digit: bytes, digits: int
) -> None:
    number = before + digit * digits

    is_fast = digits < 20 or before not in (b"", b"-")

    assert parse(number).strict is is_fast
    assert parse(b'{"a": ' + number + b"}").strict is is_fast


@pytest.mark.parametrize("end", [b".5", b"e2", b"E2"])
def test_what_has_a_fraction_or_an_exponent_is_no_whole_number(end: bytes) -> None:
    assert parse(b"[" + b"1" * 20 + end + b"]").strict


@given(st.integers(0, 1 << 17))
def test_a_long_number_is_found_wherever_it_stands(place: int) -> None:
    before = b"[0.5," + b" " * place

    assert not parse(before + b"1" * 20 + b"]").strict
    assert parse(before + b"1" * 19 + b"]").strict


def test_equal_content_has_equal_text_however_it_was_parsed() -> None:
    alone = parse(b'{"b": 1.0, "a": "\xc3\xa9", "c": [1e22, 5]}')
    beside_nan = parse(b'[{"c": [1e22, 5], "a": "\\u00e9", "b": 1.0}, {"x": NaN}]')

    assert isinstance(beside_nan.value, list)
    first = beside_nan.value[0]

    assert canonical(alone.value, strict=True) == canonical(first)


@pytest.mark.parametrize(
    "data", [b'{"a":1', b"", b"[1,]", b"\xff\xfe", b"nope", b"[" * 5000 + b"]" * 5000]
)
def test_broken_json_is_one_line(data: bytes) -> None:
    with pytest.raises(BadJsonError) as caught:
        parse(data)

    assert "\n" not in str(caught.value)


def test_deep_nesting_is_refused() -> None:
    value = parse(b"[" * 600 + b"]" * 600).value

    with pytest.raises(BadJsonError, match="nested too deeply"):
        canonical(value, strict=True)


def test_deep_nesting_behind_a_nan_is_refused() -> None:
    value = parse(b"[NaN, " + b"[" * 300 + b"]" * 300 + b"]").value

    with pytest.raises(BadJsonError, match="nested too deeply"):
        canonical(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_canonical_text_reads_back_as_the_same_text(value: object) -> None:
    text, sha256 = canonical(value)

    parsed = parse(text.encode())

    assert canonical(parsed.value, strict=parsed.strict) == (text, sha256)
    assert "\x00" not in text


def test_records_are_streamed_one_by_one() -> None:
    data = json.dumps([{"a": i, "b": 0.5} for i in range(1000)]).encode()

    records = list(stream_records(io.BytesIO(data), 1 << 20))

    assert len(records) == 1000
    assert records[7] == {"a": 7, "b": 0.5}
    assert canonical(records[7]) == canonical({"b": 0.5, "a": 7}, strict=True)


def test_a_streamed_record_may_not_be_endless() -> None:
    data = b'[{"a": "' + b"x" * 400_000 + b'"}]'

    with pytest.raises(BadJsonError, match="longer than"):
        list(stream_records(io.BytesIO(data), 100_000))


def test_a_stream_cut_off_gives_its_records_and_then_fails() -> None:
    data = json.dumps([{"a": "x" * 1000}] * 200).encode()[:-5]
    stream = stream_records(io.BytesIO(data), 1 << 20)

    found = [next(stream) for _ in range(100)]

    assert found == [{"a": "x" * 1000}] * 100
    with pytest.raises(BadJsonError, match="ends within the array"):
        list(stream)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        " [ ] ",
        "\ufeff[1]",
        '[1, "a,b", {"a": [1, {"b": "]"}]}, [], null]',
        '["\\"", "\\\\", "[{"]',
        "[NaN, -Infinity, 1e999, 12345678901234567890123]",
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1 << 20])
def test_a_stream_gives_what_the_whole_gives(monkeypatch, text: str, size: int) -> None:
    monkeypatch.setattr("ingest.artifacts.streaming._CHUNK", size)
    data = text.encode()

    found = list(stream_records(io.BytesIO(data), 1 << 20))

    assert repr(found) == repr(parse(data).value)


@pytest.mark.parametrize(
    "text", ["[1,]", "[,1]", "[1][2]", "[1] 2", "[1", '["a', "[1]}", "[1}{", "{}", ""]
)
def test_a_stream_that_is_no_array_is_refused(text: str) -> None:
    with pytest.raises(BadJsonError):
        list(stream_records(io.BytesIO(text.encode()), 1 << 20))


def test_the_first_sign_tells_an_array() -> None:
    assert starts_with_array(io.BytesIO(b" \n [1]"))
    assert not starts_with_array(io.BytesIO(b'{"a": []}'))
    assert not starts_with_array(io.BytesIO(b""))


def test_infinite_values_keep_their_tokens() -> None:
    assert canonical({"a": math.nan, "b": [math.inf]})[0] == '{"a":NaN,"b":[Infinity]}'
