"""Lines of samples to documents: every form that lm-eval writes, and broken ones."""

import json
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest

from ingest.conversion.records import RefusedError
from ingest.conversion.samples import Sample, lines, sample_file, sample_of

LINE: dict[str, Any] = {
    "doc_id": 7,
    "doc": {"question": "How many?"},
    "target": "72",
    "arguments": [["prompt text", {"until": ["x"]}]],
    "resps": [["... #### 72"]],
    "filtered_resps": ["72"],
    "filter": "strict-match",
    "metrics": ["exact_match"],
    "exact_match": 1.0,
}


def sample(**changes: Any) -> Sample:
    return sample_of(json.dumps(LINE | changes).encode())


def refusal(line: bytes) -> str:
    with pytest.raises(RefusedError) as raised:
        sample_of(line)
    assert raised.value.reason == "bad_sample"
    return raised.value.detail


def test_a_line_is_a_document_as_one_filter_read_it() -> None:
    assert sample() == Sample(
        doc_id=7,
        filter="strict-match",
        score=1.0,
        passed=True,
        prompt="prompt text",
        target="72",
        answer="... #### 72",
        extracted="72",
    )


@pytest.mark.parametrize(
    ("changes", "name", "expected"),
    [
        ({"arguments": {"gen_args_0": {"arg_0": "p", "arg_1": {}}}}, "prompt", "p"),
        ({"arguments": {"arg": "p"}}, "prompt", "p"),
        ({"arguments": []}, "prompt", ""),
        ({"arguments": None}, "prompt", ""),
        ({"arguments": {}}, "prompt", ""),
        ({"target": 72}, "target", "72"),
        ({"target": ["a", "b"]}, "target", '["a","b"]'),
        ({"resps": [[]]}, "answer", ""),
        ({"resps": [[[-1.5, False]]]}, "answer", "-1.5"),
        ({"filtered_resps": ["[invalid]"]}, "extracted", "[invalid]"),
        ({"resps": [["a\0b\ud83d"]]}, "answer", "ab\ufffd"),
        ({"filter": None}, "filter", "none"),
    ],
)
def test_texts_are_the_first_of_their_lists(changes, name, expected) -> None:
    assert getattr(sample(**changes), name) == expected


@pytest.mark.parametrize(
    ("changes", "score", "passed"),
    [
        ({"exact_match": 0.5}, 0.5, True),
        ({"exact_match": 0.49}, 0.49, False),
        ({"exact_match": True}, 1.0, True),
        ({"metrics": ["acc_norm"], "acc_norm": 1}, 1.0, True),
        ({"metrics": "odd"}, 1.0, True),
        ({"metrics": None, "exact_match": None, "acc": 0.0}, 0.0, False),
        ({"exact_match": None}, None, False),
        ({"exact_match": "1.0"}, None, False),
    ],
)
def test_from_one_half_on_an_answer_counts_as_right(changes, score, passed) -> None:
    found = sample(**changes)
    assert (found.score, found.passed) == (score, passed)


def test_nan_is_no_score() -> None:
    line = json.dumps(LINE).replace("1.0", "NaN").encode()
    assert sample_of(line).score is None


def test_bare_nul_bytes_are_left_out() -> None:
    line = json.dumps(LINE).encode().replace(b"prompt text", b"prompt\0 text")
    assert sample_of(line).prompt == "prompt text"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"doc_id": None}, "doc_id"),
        ({"doc_id": True}, "doc_id"),
        ({"doc_id": -1}, "doc_id"),
        ({"doc_id": 2**31}, "doc_id"),
        ({"doc_id": "7"}, "doc_id"),
        ({"filter": "x" * 61}, "filter"),
        ({"filter": ""}, "filter"),
        ({"filter": ["strict"]}, "filter"),
    ],
)
def test_a_line_without_its_place_is_refused(changes, said) -> None:
    assert said in refusal(json.dumps(LINE | changes).encode())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"doc_id": 1, "tar', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[1]", "no object"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_json_object_is_refused(line, said) -> None:
    assert said in refusal(line)


def test_lines_are_numbered_blank_ones_left_out_long_ones_told() -> None:
    stream = BytesIO(b"one\n\n" + b"x" * 3_000_000 + b"\nfour\n" + b"y" * 11)
    assert list(lines(stream, 10)) == [
        (1, b"one\n"),
        (3, None),
        (4, b"four\n"),
        (5, None),
    ]


@pytest.mark.parametrize(
    ("name", "task", "concurrency"),
    [
        ("samples_gsm8k_2026-08-22T04-14-47.221213.jsonl", "gsm8k", None),
        ("a/samples_gsm8k_2026-08-22T04-14-47.221213_conc64.jsonl", "gsm8k", 64),
        ("samples_a_b_2026-08-22T04-14-47.221213_conc64_1.jsonl", "a_b", 64),
    ],
)
def test_the_name_tells_task_time_and_concurrency(name, task, concurrency) -> None:
    at = datetime(2026, 8, 22, 4, 14, 47, 221213, tzinfo=UTC)
    assert sample_file(name) == (name, task, at, concurrency)


def test_names_without_a_time_tell_none_and_other_files_are_none() -> None:
    assert sample_file("samples_a_b.jsonl") == ("samples_a_b.jsonl", "a_b", None, None)
    assert sample_file("results_2026-08-22T04-14-47.json") is None
    assert sample_file("samples_gsm8k.jsonl.gz") is None
