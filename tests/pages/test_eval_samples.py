"""The samples of an eval: listed, searched, in full, and what flipped."""

import time
from typing import Any

import pytest

from dashboard.models import EvalSample
from tests.factories import DeploymentFactory, EvalResultFactory, RunFactory
from tests.verdict_builders import official

pytestmark = pytest.mark.django_db

HOSTILE = "<img src=x onerror=alert(1)>\u202etxt\x1b[31m"


def make(strict: dict[int, bool], **given: Any) -> Any:
    result = EvalResultFactory(**given)
    EvalSample.objects.bulk_create(
        EvalSample(
            eval=result,
            doc_id=doc,
            filter=name,
            score=float(passed),
            passed=passed,
            prompt=f"question {doc}",
            target=f"#### {doc}",
            answer=f"it is {doc}",
            extracted=str(doc),
        )
        for doc, passed in strict.items()
        for name in ("strict-match", "flexible-extract")
    )
    return result


def listed(client, result: Any, query: str = "") -> list[int]:
    page = client.get(f"/evaluation/samples/{result.pk}{query}").context["page"]
    return [document.doc_id for document in page.documents]


def test_documents_are_listed_narrowed_and_searched(client):
    result = make({n: n != 3 for n in range(50)})
    assert listed(client, result) == list(range(20))
    assert listed(client, result, "?page=3") == list(range(40, 50))
    assert listed(client, result, "?show=failed") == [3]
    assert listed(client, result, "?q=QUESTION+17") == [17]
    assert listed(client, result, "?doc=49") == [49]
    body = client.get(f"/evaluation/samples/{result.pk}").content.decode()
    for text in ("strict-match: passed", "flexible-extract: failed", "50 documents"):
        assert text in body


def test_what_is_not_there_is_said(client):
    result = make({1: True})
    for query, said in (
        ("?doc=7", "Document 7 is not stored"),
        ("?page=9", "There is no page 9"),
        ("?q=nothing", "No stored document passes"),
        ("?show=flipped", "no baseline whose documents"),
    ):
        body = client.get(f"/evaluation/samples/{result.pk}{query}").content.decode()
        assert said in body
    bare = EvalResultFactory(concurrency=1)
    body = client.get(f"/evaluation/samples/{bare.pk}").content.decode()
    assert "No sample is stored" in body


@pytest.mark.parametrize("query", ["page=0", "page=x", "doc=-1", "show=x", "q=%00"])
def test_bad_parameters_are_refused_by_name(client, query):
    result = make({1: True})
    answer = client.get(f"/evaluation/samples/{result.pk}?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.content.decode()


def test_an_unknown_or_hidden_eval_is_not_found(client):
    hidden = EvalResultFactory(run=RunFactory(publication="hidden"))
    for pk in (hidden.pk, hidden.pk + 1000):
        assert client.get(f"/evaluation/samples/{pk}").status_code == 404


def test_long_texts_are_cut_in_lists_and_whole_alone(client):
    result = make({1: True})
    EvalSample.objects.update(answer="x" * 30_000)
    path = f"/evaluation/samples/{result.pk}"
    assert "[26000 more characters" in client.get(path).content.decode()
    assert "x" * 30_000 in client.get(f"{path}?doc=1").content.decode()


def test_hostile_texts_are_inert(client):
    result = make({1: True})
    EvalSample.objects.update(
        prompt=HOSTILE, answer=HOSTILE, target=HOSTILE, extracted=HOSTILE
    )
    for query in ("", "?doc=1", "?q=%3Cimg"):
        body = client.get(f"/evaluation/samples/{result.pk}{query}").content.decode()
        assert "<img src=x" not in body
        assert "\u202e" not in body
        assert "\x1b" not in body


def test_flipped_documents_and_mcnemar_against_the_baseline(client):
    old, new = official(0), official(1)
    place: dict[str, Any] = {"deployment": DeploymentFactory(tp=2)}
    place |= {"config_key": old.config_key, "scenario": old.scenario}
    before = dict.fromkeys(range(100), True) | dict.fromkeys((98, 99), False)
    after = {n: n >= 10 for n in range(100)}
    base = make(before, run=old.run, **place)
    result = make(after, run=new.run, **place)
    answer = client.get(f"/evaluation/samples/{result.pk}?show=flipped")
    flips = answer.context["flips"]
    assert (flips.lost, flips.won) == (tuple(range(10)), (98, 99))
    # Of 12 flips 10 were lost: 2 * (1 + 12 + 66) / 2**12.
    assert flips.p == pytest.approx(158 / 4096)
    body = answer.content.decode()
    assert "10 lost, 2 won, McNemar p 0.039: worse" in body
    assert f"/evaluation/samples/{base.pk}" in body
    shown = [d.doc_id for d in answer.context["page"].documents]
    assert shown == [*range(10), 98, 99]


def test_the_drawer_gets_the_part_alone(client):
    result = make({1: True})
    headers = {"HX-Request": "true", "HX-Target": "drawer"}
    answer = client.get(f"/evaluation/samples/{result.pk}", headers=headers)
    body = answer.content.decode()
    assert "<html" not in body
    assert "data-close-drawer" in body


def test_a_page_of_ten_thousand_documents_costs_few_queries_and_little_time(
    client, django_assert_max_num_queries
):
    result = make(dict.fromkeys(range(10_000), True))
    path = f"/evaluation/samples/{result.pk}?page=400"
    client.get(path)
    with django_assert_max_num_queries(14):
        began = time.perf_counter()
        assert client.get(path).status_code == 200
        took = time.perf_counter() - began
    assert took < 0.2
