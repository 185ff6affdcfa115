"""Samples of an eval page by page, what two evals answered otherwise."""

import pytest

from dashboard.analysis.eval_changes import Flips
from dashboard.queries.eval_samples import (
    MOST,
    counts,
    filters_of,
    flipped,
    page,
)
from tests.factories import EvalResultFactory, EvalSampleFactory

pytestmark = pytest.mark.django_db

STRICT, FLEXIBLE = "strict-match", "flexible-extract"


def document(eval_result, doc_id: int, *, strict=True, flexible=True, **texts) -> None:
    for name, passed in ((STRICT, strict), (FLEXIBLE, flexible)):
        EvalSampleFactory(
            eval=eval_result,
            doc_id=doc_id,
            filter=name,
            passed=passed,
            score=float(passed),
            **texts,
        )


def ids(eval_result, **asked) -> list[int]:
    return [d.doc_id for d in page(eval_result.pk, **asked).documents]


@pytest.fixture
def scored():
    result = EvalResultFactory()
    document(result, 7, prompt="A Line of crates", target="72", answer="#### 72")
    document(result, 138, strict=False, answer="so many")
    document(result, 9, flexible=False, target="72 %")
    document(EvalResultFactory(concurrency=8), 7, prompt="another eval's")
    return result


def test_documents_come_in_order_with_the_results_of_both_filters(scored):
    found = page(scored.pk)
    assert [d.doc_id for d in found.documents] == [7, 9, 138]
    assert (found.total, found.has_more) == (3, False)
    first = found.documents[0]
    assert (first.prompt, first.target, first.answer) == (
        "A Line of crates",
        "72",
        "#### 72",
    )
    results = found.documents[1].results
    assert [(r.filter, r.passed) for r in results] == [
        (STRICT, True),
        (FLEXIBLE, False),
    ]


def test_pages_do_not_overlap_and_say_whether_there_are_more(scored):
    first = page(scored.pk, limit=2)
    rest = page(scored.pk, limit=2, offset=2)
    assert [d.doc_id for d in first.documents] == [7, 9]
    assert [d.doc_id for d in rest.documents] == [138]
    assert (first.has_more, rest.has_more) == (True, False)
    assert first.total == rest.total == 3
    assert ids(scored, offset=-5, limit=0) == [7]
    assert ids(scored, offset=50) == []
    assert MOST == 200


def test_only_failures_are_those_of_the_asked_filter(scored):
    assert ids(scored, failed_only=True) == [9, 138]
    assert ids(scored, failed_only=True, filter=STRICT) == [138]
    assert ids(scored, failed_only=True, filter=FLEXIBLE) == [9]
    assert ids(scored, filter="no such") == []


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("line OF", [7]),
        ("72", [7, 9]),
        ("138", [138]),
        ("so many", [138]),
        ("72 %", [9]),
        ("_", []),
        ("\0", [7, 9, 138]),
        ("9" * 30, []),
    ],
)
def test_search_reads_every_text_and_the_number(scored, search, expected):
    found = page(scored.pk, search=search)
    assert [d.doc_id for d in found.documents] == expected


def test_what_was_searched_has_no_total(scored):
    assert page(scored.pk, search="72").total is None


def test_a_page_takes_three_queries_whatever_its_size(
    scored, django_assert_num_queries
):
    for doc_id in range(200, 230):
        document(scored, doc_id)
    with django_assert_num_queries(3):
        page(scored.pk, failed_only=True, limit=50)


def test_filters_and_numbers_of_documents(scored, django_assert_num_queries):
    assert filters_of(scored.pk) == [STRICT, FLEXIBLE]
    with django_assert_num_queries(1):
        assert counts([scored.pk, 0]) == {scored.pk: 3}


def test_documents_that_flipped_between_two_evals(scored):
    later = EvalResultFactory(concurrency=16)
    document(later, 7, strict=False)
    document(later, 138)
    document(later, 500)
    EvalSampleFactory(eval=later, doc_id=9, filter=STRICT, score=None, passed=False)
    found = flipped(scored.pk, later.pk, "strict")
    assert found == Flips(2, lost=(7,), won=(138,), before=0.5, after=0.5, p=1.0)
    assert flipped(scored.pk, later.pk, "flexible") == Flips(2, (), (), 1.0, 1.0, 1.0)
    assert flipped(scored.pk, EvalResultFactory(task="x").pk, "strict") is None
