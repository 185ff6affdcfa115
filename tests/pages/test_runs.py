"""The page of one run."""

# mypy: allow-untyped-calls

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from dashboard.models import Run
from dashboard.templatetags.site import MISSING
from tests import factories

pytestmark = pytest.mark.django_db


def page_of(client, run):
    return client.get(reverse("run", args=[run.github_run_id]))


def text_of(response):
    """Return what a reader sees, roughly: one blank for each run of white space."""
    return " ".join(response.content.decode().split())


def test_unknown_run_is_a_page_with_a_sentence(client):
    response = client.get(reverse("run", args=[123]))
    assertContains(response, "Run 123 is not stored here.", status_code=404)


def test_unknown_run_takes_ids_that_no_column_holds(client):
    response = client.get(f"/runs/{10**30}")
    assertContains(response, "is not stored here", status_code=404)


def test_unknown_address_is_a_page_with_a_sentence(client):
    response = client.get("/nothing/here")
    assertContains(response, "There is no page at /nothing/here", status_code=404)


def test_bare_run_has_a_sentence_for_everything_it_lacks(client):
    run = factories.RunFactory(
        title="", branch="", sha="", pr_number=None, url="", jobs_known=False
    )
    page = text_of(page_of(client, run))
    for sentence in (
        "Run without a title",
        "the run left no throughput row",
        "the plan is not known",
        "measured nothing that belongs to a config key",
        "The attempts of this run are not known",
        "The jobs of this run are not known",
        "left no eval score",
        "Every record of this run was taken",
        "No point of this run is in doubt",
        "carries no changelog entry",
        "No artifact of this run is stored",
        "The run did not count them",
    ):
        assert sentence in page, sentence


def test_run_links_to_its_commit_pull_request_and_run(client):
    run = factories.RunFactory(sha="abcdef1234" * 4, pr_number=2801)
    page = page_of(client, run)
    base = "https://github.com/example/bench"
    assertContains(page, f'href="{base}/commit/{run.sha}"')
    assertContains(page, f'href="{base}/pull/2801"')
    assertContains(page, f'href="{run.url}"')


def test_run_never_links_to_a_script(client):
    run = factories.RunFactory(url="javascript:alert(1)//actions/runs/1")
    factories.ChangelogEntryFactory(run=run, pr_link="javascript:alert(2)")
    page = page_of(client, run)
    assertNotContains(page, 'href="javascript:')
    assertContains(page, "PR #501")


def test_run_escapes_what_others_wrote(client):
    bad = "<script>alert(1)</script>"
    run = factories.RunFactory(title=bad, branch=bad, event="<b>")
    factories.JobFactory(run=run, name=bad, conclusion="failure")
    factories.ArtifactFactory(run=run, name=bad, state="rejected", reason=bad)
    factories.SkipFactory(run=run, member=bad, detail=bad)
    factories.ChangelogEntryFactory(
        run=run, raw_keys=[bad], description=[bad], pr_link=bad, link_state="invalid"
    )
    factories.RunStatFactory(run=run, raw_key=bad)
    sweep = factories.SweepFactory(
        run=run, mapping_candidates=[bad, "b"], planned=[[bad, 4]], planned_count=1
    )
    factories.PointFactory(sweep=sweep, flags=[["x", bad]])
    for page in (page_of(client, run), client.get(reverse("runs"))):
        assertNotContains(page, "<script>alert")
        assertContains(page, "&lt;script&gt;alert(1)")


def test_run_shows_status_of_each_attempt(client):
    run = factories.RunFactory(conclusion="cancelled", attempt=2)
    factories.RunAttemptFactory(run=run, attempt=1, conclusion="failure")
    factories.RunAttemptFactory(run=run, attempt=2, conclusion="cancelled")
    page = page_of(client, run)
    assertContains(page, '<span class="badge badge-bad">failure</span>', html=True)
    assertContains(page, '<span class="badge badge-warn">cancelled</span>', html=True)


def test_missing_points_are_named(client):
    sweep = factories.SweepFactory(
        run__received_count=1,
        run__planned_count=4,
        run__conclusion="cancelled",
        received_count=1,
        planned=[["TP2", 64], ["TP2", 512], ["TP4", 4], ["TP4", 8]],
        planned_count=4,
    )
    factories.PointFactory(sweep=sweep, concurrency=64)
    page = text_of(page_of(client, sweep.run))
    assert "missing: TP2 c512; TP4 c4, c8" in page
    assert "cancelled, 3 missing" in page
    assert "1 of 4 planned points were received" in page


def test_excluded_points_are_not_called_missing(client):
    sweep = factories.SweepFactory(planned=[["TP2", 64]], planned_count=1)
    factories.PointFactory(sweep=sweep, is_current=False, is_excluded=True)
    factories.CorrectionFactory(run=sweep.run, action="exclude", reason="bad node")
    page = text_of(page_of(client, sweep.run))
    assert "excluded: TP2 c64" in page
    assert "missing:" not in page
    assert "bad node" in page


def test_failed_jobs_are_those_whose_newest_attempt_failed(client):
    run = factories.RunFactory()
    factories.JobFactory(run=run, name="retried", attempt=1, conclusion="failure")
    factories.JobFactory(run=run, name="retried", attempt=2, conclusion="success")
    factories.JobFactory(run=run, name="broken c4", attempt=1, conclusion="failure")
    factories.JobFactory(run=run, name="passed over", conclusion="skipped")
    factories.JobFactory(run=run, name="under way", conclusion="", status="queued")
    page = page_of(client, run)
    assertContains(page, "broken c4")
    for name in ("retried", "passed over", "under way"):
        assertNotContains(page, name)


def test_run_without_a_point_says_why(client):
    run = factories.RunFactory(planned_count=41, received_count=0)
    factories.SkipFactory.create_batch(3, run=run, reason="failed_run")
    assertContains(
        page_of(client, run),
        "No usable throughput point: 3 rows with zero successful requests, "
        "38 of 41 jobs without a row",
    )


def test_run_without_a_point_counts_points_where_a_job_holds_several(client):
    run = factories.RunFactory(planned_count=6)
    factories.JobFactory(run=run, name="multi-node 8k1k / 1P (TP4) c1x2x4")
    assertContains(page_of(client, run), "6 of 6 planned points without a row")


def test_agentic_only_run_says_so(client):
    sweep = factories.SweepFactory(scenario="agentic-traces")
    note = "no fixed-length results in this run"
    assertContains(page_of(client, sweep.run), note)
    factories.SweepFactory(run=sweep.run, scenario="8k/1k")
    assertNotContains(page_of(client, sweep.run), note)


def test_merge_run_and_source_name_each_other(client):
    merge = factories.RunFactory(official=True, reuse_source_run_id=777)
    source = factories.RunFactory(
        github_run_id=777,
        publication="official",
        published_by=merge,
        published_at=merge.created_at,
    )
    page = text_of(page_of(client, merge))
    assert 'measured in <a href="/runs/777">777</a>' in page
    assert "No usable throughput point" not in page
    assert "Published by" in text_of(page_of(client, source))
    assertContains(page_of(client, source), f'href="/runs/{merge.github_run_id}"')


def test_merge_run_whose_source_is_not_stored_has_no_dead_link(client):
    merge = factories.RunFactory(reuse_source_run_id=777)
    page = page_of(client, merge)
    assertContains(page, "777, which is not stored here")
    assertNotContains(page, 'href="/runs/777"')


def test_placeholder_link_is_pr_unknown_and_no_link(client):
    run = factories.RunFactory(url="", pr_number=None)
    factories.ChangelogEntryFactory(
        run=run,
        pr_link="https://github.com/example/bench/pull/XXX",
        link_state="placeholder",
    )
    page = page_of(client, run)
    assertContains(page, "PR unknown")
    assertNotContains(page, 'href="https://github.com/example/bench/pull/XXX"')


def test_expanded_keys_are_shown_only_where_they_say_more(client):
    run = factories.RunFactory()
    factories.ChangelogEntryFactory(
        run=run, raw_keys=["a", "b"], expanded_keys=["b", "a"]
    )
    assertNotContains(page_of(client, run), "meant:")
    factories.ChangelogEntryFactory(run=run, raw_keys=["a-*"], expanded_keys=["a-1"])
    assertContains(page_of(client, run), "meant: a-1")


def test_good_link_is_a_link(client):
    entry = factories.ChangelogEntryFactory(pr_number=501)
    assertContains(page_of(client, entry.run), f'href="{entry.pr_link}"')


def test_rejected_artifacts_are_named_with_their_reason(client):
    run = factories.RunFactory()
    for name in ("a", "b", "c"):
        factories.ArtifactFactory(
            run=run, name=f"bmk_{name}", state="rejected", reason=f"cut off at {name}"
        )
    page = text_of(page_of(client, run))
    assert "Partly ingested, 3 artifacts rejected" in page
    assert "<code>bmk_b</code>: cut off at b" in page


def test_expired_artifacts_are_said(client):
    artifact = factories.ArtifactFactory(expired=True)
    assertContains(page_of(client, artifact.run), "1 artifact has expired")


@pytest.mark.parametrize(
    ("source", "length", "said"),
    [
        ("synthetic_by_policy", 3.39, "synthetic 3.39 (golden)"),
        ("synthetic_by_policy", None, "synthetic by policy"),
        ("synthetic_declared", 3.2, "synthetic 3.2"),
        ("real", 3.39, "configured 3.39 (golden)"),
    ],
)
def test_contract_11d_a_configured_acceptance_is_never_said_to_be_measured(
    client, source, length, said
):
    sweep = factories.SweepFactory(
        acceptance_source=source,
        acceptance_length=length,
        acceptance_evidence="so says a note",
    )
    page = text_of(page_of(client, sweep.run))
    assert f"acceptance: {said}</span> configured, not measured" in page
    assert "acceptance: measured" not in page
    assert "so says a note" in page


@pytest.mark.parametrize(
    ("source", "said"), [("real", "measured"), ("unknown", "unknown")]
)
def test_an_acceptance_without_a_length_is_measured_or_unknown(client, source, said):
    sweep = factories.SweepFactory(acceptance_source=source)
    page = text_of(page_of(client, sweep.run))
    assert f"acceptance: {said}</span>" in page
    assert "configured, not measured" not in page


def test_ambiguous_mapping_lists_the_candidates(client):
    sweep = factories.SweepFactory(mapping_candidates=["key-a", "key-b"])
    assertContains(page_of(client, sweep.run), "could also be: key-a, key-b")


def test_state_is_shown_with_its_reason(client):
    sweep = factories.SweepFactory(
        official=True, state="held", state_reason="incomplete: 12 of 19 points"
    )
    page = page_of(client, sweep.run)
    assertContains(page, '<span class="badge badge-warn">held</span>', html=True)
    assertContains(page, "incomplete: 12 of 19 points")


def test_evals_have_four_decimals_and_missing_is_no_zero(client):
    run = factories.RunFactory()
    factories.EvalResultFactory(run=run, strict=0.9674, flexible=None, n=1319)
    factories.EvalResultFactory(run=run, strict=0.0, concurrency=None)
    page = page_of(client, run)
    assertContains(page, ">0.9674<")
    assertContains(page, ">0.0000<")
    assertContains(page, f">{MISSING}<")
    assertContains(page, ">1319<")


def test_evals_are_held_against_their_floor(client):
    run = factories.RunFactory()
    factories.EvalResultFactory(run=run, concurrency=1)
    factories.EvalResultFactory(run=run, concurrency=2, strict=0.9447)
    factories.EvalResultFactory(run=run, concurrency=4, strict=0.8)
    factories.EvalResultFactory(run=run, concurrency=8, strict=None)
    factories.EvalResultFactory(run=run, concurrency=16, is_current=False)
    page = text_of(page_of(client, run))
    assert "2 of 4 evals passed, 1 failed" in page
    assert "floor</a> gsm8k 0.94" in page
    for outcome in ("pass", "thin margin", "fail", "not measured"):
        assert f">{outcome}</span>" in page


def test_skips_are_grouped_with_a_few_examples(client):
    run = factories.RunFactory()
    factories.SkipFactory.create_batch(7, run=run)
    factories.SkipFactory(run=run, reason="unmapped_hw", detail="xyz900")
    page = text_of(page_of(client, run))
    assert "7 \N{MULTIPLICATION SIGN} no request succeeded" in page
    assert "the first 5 of 7" in page
    assert "1 \N{MULTIPLICATION SIGN} unknown hardware" in page
    assert 'href="/help#skip-unmapped_hw"' in page
    assert "xyz900" in page


def test_flags_show_code_text_and_effect(client):
    sweep = factories.SweepFactory()
    factories.PointFactory(
        sweep=sweep,
        is_out=True,
        flags=[["littles_law", "expected about 197.3 output tok/s/GPU"]],
    )
    page = text_of(page_of(client, sweep.run))
    assert "littles_law" in page
    assert "TP2 c64: expected about 197.3 output tok/s/GPU" in page
    assert "off the frontier" in page


def _filled_run(size):
    run = factories.RunFactory(received_count=size, planned_count=size)
    factories.RunAttemptFactory(run=run)
    sweep = factories.SweepFactory(
        run=run, planned=[["TP2", n + 1] for n in range(size)], planned_count=size
    )
    for n in range(size):
        factories.PointFactory(
            sweep=sweep, concurrency=n + 1, flags=[["power_invalid", "4 of 8 seen"]]
        )
        factories.EvalResultFactory(run=run, concurrency=n + 1)
        artifact = factories.ArtifactFactory(run=run)
        factories.SkipFactory(run=run, artifact=artifact)
        factories.JobFactory(run=run, conclusion="failure")
        factories.ChangelogEntryFactory(run=run)
    return run


@pytest.mark.parametrize("size", [1, 12])
def test_queries_do_not_grow_with_what_a_run_holds(
    client, django_assert_num_queries, size
):
    run = _filled_run(size)
    with django_assert_num_queries(22):
        page_of(client, run)


def test_run_pages_refuse_to_be_written_to(client):
    run = factories.RunFactory()
    assert client.post(reverse("run", args=[run.github_run_id])).status_code == 405
    assert Run.objects.count() == 1
