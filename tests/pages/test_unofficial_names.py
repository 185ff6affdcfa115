"""The parameter that names unofficial runs: its forms, and what is refused."""

import pytest
from django.http import QueryDict

from dashboard.forms.unofficial import AskedRun, asked_runs, rewritten
from dashboard.vocabulary.links import OWNER_AND_NAME


def read(query: str) -> list[AskedRun]:
    return list(asked_runs(QueryDict(query)).runs)


@pytest.mark.parametrize(
    "query",
    [
        "unofficialRun=90002",
        "unofficialrun=90002",
        "UNOFFICIALRUNS=90002",
        "unofficialRuns=%20%2090002%20,",
        "unofficialruns=90002,90002",
        "unofficialRun=90002&unofficialrun=90002",
    ],
)
def test_name_in_any_case_blanks_trimmed_duplicates_folded(query):
    assert read(query) == [AskedRun(90002)]


def test_comma_list_keeps_its_order():
    assert [run.run_id for run in read("unofficialRun=90003, 90002")] == [90003, 90002]


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/o-1/r.x/actions/runs/90002/attempts/2",
        "github.com/o-1/r.x/actions/runs/90002/attempts/2?pr=5",
        "https://github.com/o-1/r.x/actions/runs/90002/attempts/2/",
    ],
)
def test_address_gives_repository_and_attempt(address):
    assert read(f"unofficialRun={address}") == [AskedRun(90002, 2, "o-1/r.x")]


@pytest.mark.parametrize("name", ["../r", "o/..", "./r", "o/.", "../..", "o/r/x"])
def test_address_that_leads_elsewhere_is_refused(name):
    assert read(f"unofficialRun=https://github.com/{name}/actions/runs/5") == []


@pytest.mark.parametrize("name", [".github/.x", "o/..r", "..o/r..", "o/..."])
def test_dots_may_be_part_of_a_name(name):
    address = f"https://github.com/{name}/actions/runs/5"
    assert read(f"unofficialRun={address}") == [AskedRun(5, None, name)]
    assert OWNER_AND_NAME.fullmatch(name)


def test_address_of_a_job_is_its_run():
    found = read("unofficialRun=https://github.com/o/r/actions/runs/90002/job/7%23s:1")
    assert found == [AskedRun(90002, None, "o/r")]


@pytest.mark.parametrize(
    "bad",
    ["abc", "-5", "0", "12x", "9" * 30, "9223372036854775808", "\u0661\u0662", "1/2"],
)
def test_bad_id_is_named_and_hides_no_other(bad):
    asked = asked_runs(QueryDict(f"unofficialRun={bad},90002"))
    assert asked.runs == (AskedRun(90002),)
    assert len(asked.refused) == 1
    assert bad[:20] in asked.refused[0]
    assert asked_runs(QueryDict(f"unofficialRun={bad}")).is_unusable


def test_nothing_is_asked_by_an_empty_value():
    assert asked_runs(QueryDict("unofficialRun=")).runs == ()
    assert not asked_runs(QueryDict("unofficialRun=")).is_unusable


def test_limit_is_said_and_the_others_are_named():
    ids = ",".join(str(n) for n in range(1, 26))
    asked = asked_runs(QueryDict(f"unofficialRun={ids}"))
    assert [run.run_id for run in asked.runs] == list(range(1, 9))
    (sentence,) = asked.refused
    assert "at most 8 runs" in sentence
    assert "9, 10" in sentence


def test_bad_id_is_quoted_inert_and_short():
    asked = asked_runs(QueryDict("unofficialRun=" + "x%E2%80%AE%00" * 5000))
    (sentence,) = asked.refused
    assert len(sentence) < 200
    assert "\u202e" not in sentence
    assert "\0" not in sentence


def test_rewriting_drops_one_run_and_keeps_the_rest():
    query = QueryDict(
        "unofficialRun=1,https://github.com/o/r/actions/runs/2&x=p90_ttft"
    )
    first, second = asked_runs(query).runs
    assert rewritten(query, [first]) == "x=p90_ttft&unofficialruns=1"
    kept = QueryDict(rewritten(query, [second]))
    assert asked_runs(kept).runs == (second,)
    assert rewritten(query, []) == "x=p90_ttft"


def test_attempt_survives_rewriting():
    query = QueryDict("unofficialRun=5/attempts/3")
    runs = asked_runs(query).runs
    assert asked_runs(QueryDict(rewritten(query, runs))).runs == (AskedRun(5, 3),)
