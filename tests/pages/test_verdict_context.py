"""What stands beside a verdict: a recovery is no gain, and a newer sweep is named."""

# mypy: allow-untyped-calls

from typing import Any

import pytest
from django.urls import reverse

from dashboard.analysis.verdict_json import verdict_json
from dashboard.models import Run, Sweep
from dashboard.queries.verdicts import judge_run
from tests.factories import JudgementFactory, RegressionFactory
from tests.pages.key_builders import KEY
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db


def text(client, path: str, **query: Any) -> str:
    answer = client.get(path, query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.fixture
def recovery() -> tuple[Sweep, Sweep]:
    """A fall of a tenth, and the sweep that ended it: an improvement on the fall."""
    base, fall, back = official(0), official(1, scale=0.9), official(2)
    (verdict,) = judge_run(back.run)
    numbers = verdict_json(verdict)
    JudgementFactory(sweep=back, baseline=fall, numbers=numbers)
    RegressionFactory(
        sweep=fall, baseline=base, recovered_by=back.run, recovered_at=back.official_at
    )
    return fall, back


def test_what_ended_a_regression_is_not_among_the_improvements(client, recovery):
    other = JudgementFactory(sweep__config_key__key="better")
    shown = client.get(reverse("home")).context["improvements"]
    assert [row.pk for row in shown] == [other.pk]
    listed = client.get(reverse("regressions"), {"show": "improvements"})
    assert [row.pk for row in listed.context["improvements"]] == [other.pk]


def test_what_is_held_is_not_among_the_improvements(client):
    held = JudgementFactory()
    Sweep.objects.filter(pk=held.sweep_id).update(state="held")
    listed = client.get(reverse("regressions"), {"show": "improvements"})
    assert list(listed.context["improvements"]) == []


def test_the_run_that_ended_a_regression_says_so(client, recovery):
    fall, back = (sweep.run.github_run_id for sweep in recovery)
    assert f'recovers <a href="/runs/{fall}">{fall}</a>' in text(
        client, f"/runs/{back}"
    )
    report = text(client, f"/runs/{back}/verdict.md").replace("\\", "")
    assert report.startswith(f"### Frontierboard: improvement, recovers run {fall} ")
    assert f"| improvement, recovers run {fall} |" in report
    assert "recovers" not in text(client, f"/runs/{fall}")


def test_a_newer_official_sweep_is_named_with_a_comparison(client):
    base, head, newer = official(0), unofficial(1, scale=1.1).run, official(5)
    run_id, newer_id = head.github_run_id, newer.run.github_run_id
    page = text(client, f"/runs/{run_id}")
    assert f'A newer official sweep exists: <a href="/runs/{newer_id}">' in page
    compared = f"/compare?base={newer_id}&amp;head={run_id}"
    assert f"{compared}&amp;key={KEY}" in page
    banner = text(client, "/inference", unofficialRun=run_id)
    assert "A newer official sweep exists, which the chart shows" in banner
    assert f"{compared}&quot;" in banner or f'{compared}"' in banner
    report = text(client, f"/runs/{run_id}/verdict.md")
    assert f"- a newer official sweep exists: run {newer_id}, [compare](" in report
    base_id = base.run.github_run_id
    explicit = text(client, f"/runs/{run_id}/verdict.md", base=base_id)
    assert "a newer official sweep" not in explicit


def test_the_baseline_itself_is_no_newer_sweep(client):
    official(0)
    head = unofficial(1).run.github_run_id
    assert "newer official sweep" not in text(client, f"/runs/{head}")
    assert "newer official sweep" not in text(client, f"/runs/{head}/verdict.md")


def test_the_banner_counts_planned_evals_as_the_page_of_the_run_does(client):
    head = unofficial(1).run
    Run.objects.filter(pk=head.pk).update(eval_planned_count=1)
    banner = text(client, "/inference", unofficialRun=head.github_run_id)
    assert ">0 of 1 planned eval received<" in banner
    assert "no evals" not in banner
