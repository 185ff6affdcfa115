"""GET /api/v1/runs/<id>: names, meanings and the ways to fail."""

# mypy: allow-untyped-calls

import json

import pytest

from tests import factories

pytestmark = pytest.mark.django_db


def strict(response):
    """Read JSON and refuse the tokens that are none."""

    def refuse(token):
        raise AssertionError(f"{token} is not JSON")

    return json.loads(response.content, parse_constant=refuse)


def get(client, run, **query):
    return client.get(f"/api/v1/runs/{run.github_run_id}", query)


def test_run_has_every_field_of_the_shape(client):
    body = strict(get(client, factories.RunFactory()))
    assert set(body) >= {
        "run_id",
        "repository",
        "attempt",
        "attempts",
        "title",
        "event",
        "branch",
        "sha",
        "pr",
        "status",
        "conclusion",
        "created_at",
        "publication",
        "published_by",
        "measured_in",
        "url",
        "points",
        "evals",
        "sweeps",
        "skips",
        "flags",
        "failed_jobs",
        "changelog",
    }
    assert body["sweeps"] == body["skips"] == body["flags"] == []


def test_ids_are_numbers_and_times_are_utc(client):
    run = factories.RunFactory(github_run_id=33598359757)
    body = strict(get(client, run))
    assert body["run_id"] == 33598359757
    assert body["pr"] == 501
    assert body["created_at"].endswith("Z")


def test_unknown_plan_is_null_and_zero_received_is_zero(client):
    body = strict(get(client, factories.RunFactory(planned_count=None)))
    assert body["points"] == {"received": 0, "planned": None}


def test_sweep_has_its_plan_state_mapping_and_acceptance(client):
    sweep = factories.SweepFactory(
        official=True,
        received_count=1,
        planned=[["TP2", 64], ["TP2", 512]],
        planned_count=2,
        mapping_candidates=["a", "b"],
        acceptance_source="synthetic_by_policy",
        acceptance_length=3.39,
        acceptance_evidence="no row says which",
    )
    factories.PointFactory(sweep=sweep)
    (body,) = strict(get(client, sweep.run))["sweeps"]
    assert body["config_key"] == "qwen3.5-fp4-mi355x-sglang"
    assert body["scenario"] == "8k/1k"
    assert body["checkpoint"] == "org-a/Model-397B-FP4"
    assert body["image"] == "img/sglang:1"
    assert (body["points"], body["planned"]) == (1, 2)
    assert body["missing"] == ["TP2 c512"]
    assert body["state"] == "current"
    assert body["extends"] is None
    assert body["mapping"] == {"method": "fingerprint", "candidates": ["a", "b"]}
    assert body["acceptance"] == "synthetic_by_policy"
    assert body["acceptance_length"] == 3.39
    assert body["acceptance_label"] == "synthetic 3.39 (golden)"
    assert body["acceptance_evidence"] == "no row says which"


def test_sweep_says_what_changed_against_the_one_before(client):
    swap = {"kind": "checkpoint", "from": "org/Old", "to": "org/New"}
    marker = {"kind": "image", "from": "img:1", "to": "img:2"}
    base = factories.SweepFactory(official=True, state="former", segment=1)
    sweep = factories.SweepFactory(
        official=True,
        segment=2,
        breaks=[swap],
        markers=[marker],
        is_swap=True,
        previous=base,
    )
    names = ("segment", "breaks", "markers", "previous_run_id")
    (body,) = strict(get(client, sweep.run))["sweeps"]
    assert [body[n] for n in names] == [2, [swap], [marker], base.run.github_run_id]
    (first,) = strict(get(client, base.run))["sweeps"]
    assert [first[n] for n in names] == [1, [], [], None]


def test_extension_names_the_run_that_it_extends(client):
    base = factories.SweepFactory(official=True)
    extension = factories.SweepFactory(official=True, extends=base)
    (body,) = strict(get(client, extension.run))["sweeps"]
    assert body["extends"] == base.run.github_run_id


def test_run_with_a_held_sweep_is_held(client):
    sweep = factories.SweepFactory(official=True, state="held")
    assert strict(get(client, sweep.run))["publication"] == "held"


def test_hidden_run_stays_hidden(client):
    sweep = factories.SweepFactory(official=True, state="held")
    sweep.run.publication = "hidden"
    sweep.run.save()
    assert strict(get(client, sweep.run))["publication"] == "hidden"


def test_merge_run_and_source_name_each_other(client):
    merge = factories.RunFactory(official=True, reuse_source_run_id=777)
    source = factories.RunFactory(
        github_run_id=777, published_by=merge, published_at=merge.created_at
    )
    assert strict(get(client, merge))["measured_in"] == 777
    assert strict(get(client, source))["published_by"] == merge.github_run_id


def test_evals_are_counted_by_outcome(client):
    run = factories.RunFactory()
    factories.EvalResultFactory(run=run, concurrency=1)
    factories.EvalResultFactory(run=run, concurrency=2, strict=0.9447)
    factories.EvalResultFactory(run=run, concurrency=4, strict=0.9350)
    factories.EvalResultFactory(run=run, concurrency=8, strict=0.8)
    body = strict(get(client, run))
    assert body["evals"] == {"received": 4, "passed": 2, "failed": 1}


def test_skips_are_counted_with_examples(client):
    run = factories.RunFactory()
    factories.SkipFactory.create_batch(7, run=run)
    (body,) = strict(get(client, run))["skips"]
    assert (body["reason"], body["count"]) == ("failed_run", 7)
    assert len(body["examples"]) == 5


def test_flags_name_their_point(client):
    point = factories.PointFactory(flags=[["power_invalid", "8 of 4 GPUs seen"]])
    assert strict(get(client, point.sweep.run))["flags"] == [
        {
            "config_key": "qwen3.5-fp4-mi355x-sglang",
            "scenario": "8k/1k",
            "deployment": "TP2",
            "concurrency": 64,
            "code": "power_invalid",
            "text": "8 of 4 GPUs seen",
        }
    ]


def test_failed_jobs_and_changelog(client):
    run = factories.RunFactory()
    factories.JobFactory(run=run, name="TP4 c8", conclusion="failure")
    factories.ChangelogEntryFactory(
        run=run,
        raw_keys=["qwen3.5-fp4-*"],
        expanded_keys=["qwen3.5-fp4-mi355x-sglang"],
        pr_link="PR_LINK_PLACEHOLDER",
        link_state="placeholder",
    )
    body = strict(get(client, run))
    (job,) = body["failed_jobs"]
    assert (job["name"], job["conclusion"]) == ("TP4 c8", "failure")
    assert body["changelog"] == [
        {
            "config_keys": ["qwen3.5-fp4-*"],
            "expanded": ["qwen3.5-fp4-mi355x-sglang"],
            "description": ["Bump the image"],
            "pr_link": "PR_LINK_PLACEHOLDER",
            "link_state": "placeholder",
        }
    ]


@pytest.fixture
def retried_run():
    """Attempt 1 failed with points at 4 and 8; attempt 2 measured 4 again."""
    run = factories.RunFactory(attempt=2, received_count=2)
    factories.RunAttemptFactory(run=run, attempt=1, conclusion="failure")
    factories.RunAttemptFactory(run=run, attempt=2)
    sweep = factories.SweepFactory(run=run, received_count=2)
    factories.PointFactory(sweep=sweep, concurrency=4, attempt=1, is_current=False)
    factories.PointFactory(sweep=sweep, concurrency=8, attempt=1)
    factories.PointFactory(sweep=sweep, concurrency=4, attempt=2)
    factories.JobFactory(run=run, name="TP2 c4", attempt=1, conclusion="failure")
    factories.JobFactory(run=run, name="TP2 c4", attempt=2)
    factories.EvalResultFactory(run=run, attempt=1)
    return run


def test_attempts_are_merged_without_asking(client, retried_run):
    body = strict(get(client, retried_run))
    assert body["attempt"] == 2
    assert body["conclusion"] == "success"
    assert body["points"]["received"] == 2
    assert body["failed_jobs"] == []
    assert [a["attempt"] for a in body["attempts"]] == [1, 2]


def test_one_attempt_shows_what_it_left(client, retried_run):
    first = strict(get(client, retried_run, attempt=1))
    assert (first["attempt"], first["conclusion"]) == (1, "failure")
    assert first["points"]["received"] == 2
    assert first["evals"]["received"] == 1
    assert len(first["failed_jobs"]) == 1
    second = strict(get(client, retried_run, attempt=2))
    assert second["points"]["received"] == 1
    assert second["evals"]["received"] == 0
    assert second["failed_jobs"] == []


@pytest.mark.parametrize(
    ("path", "query", "status", "parameter"),
    [
        ("123", {}, 404, "run_id"),
        (str(10**30), {}, 404, "run_id"),
        ("90001", {"attempt": 9}, 404, "attempt"),
        ("90001", {"attempt": 0}, 400, "attempt"),
        ("90001", {"attempt": "x"}, 400, "attempt"),
        ("90001", {"attempt": 10**30}, 404, "attempt"),
    ],
)
def test_faults_name_their_parameter(client, path, query, status, parameter):
    factories.RunFactory(github_run_id=90001)
    response = client.get(f"/api/v1/runs/{path}", query)
    assert response.status_code == status
    error = strict(response)["error"]
    assert set(error) == {"code", "parameter", "message", "allowed"}
    assert error["code"] == ("not_found" if status == 404 else "invalid_parameter")
    assert error["parameter"] == parameter
    assert error["message"]


def test_interface_describes_itself(client):
    body = strict(client.get("/api/v1/openapi.json"))
    assert "/api/v1/runs/{run_id}" in body["paths"]
    assert "/api/v1/config-keys/{key}/frontier" in body["paths"]


@pytest.mark.parametrize("path", ["/api/v1/", "/api/docs"])
def test_root_of_the_interface_leads_to_its_page(client, path):
    answer = client.get(path)
    assert (answer.status_code, answer["Location"]) == (302, "/api/v1/docs")


def test_interface_has_a_page_that_loads_nothing_from_elsewhere(client):
    page = client.get("/api/v1/docs").content.decode()
    assert "GET /api/v1/runs/{run_id}" in page
    assert "://" not in page.partition("<main")[0]


@pytest.mark.parametrize("size", [1, 12])
def test_queries_do_not_grow_with_what_a_run_holds(
    client, django_assert_num_queries, size
):
    run = factories.RunFactory()
    sweep = factories.SweepFactory(run=run)
    for n in range(size):
        factories.PointFactory(sweep=sweep, concurrency=n + 1, flags=[["x", "y"]])
        factories.SkipFactory(run=run, artifact=factories.ArtifactFactory(run=run))
        factories.JobFactory(run=run, conclusion="failure")
    with django_assert_num_queries(13):
        get(client, run)
