"""A fall of accuracy on the pages of regressions: what fell, where, and until when."""

from typing import Any

import pytest

from dashboard.models import Regression, Sweep
from ingest.detection import detect, judge_official
from tests.factories import DeploymentFactory, EvalResultFactory
from tests.verdict_builders import official

pytestmark = pytest.mark.django_db


def scored(day: int, strict: float) -> Sweep:
    sweep = official(day)
    EvalResultFactory(
        run=sweep.run,
        config_key=sweep.config_key,
        deployment=DeploymentFactory(tp=2),
        scenario=sweep.scenario,
        strict=strict,
        flexible=strict,
    )
    judge_official(sweep.run)
    return sweep


def body(client: Any, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_it_is_listed_and_says_which_eval_fell(client):
    scored(0, 0.9697)
    fallen = scored(1, 0.8947)
    (found,) = Regression.objects.all()
    assert (found.kind, found.is_strong) == ("accuracy", True)
    assert "accuracy" in body(client, "/regressions")
    page = body(client, f"/regressions/{found.pk}")
    assert "strict 0.8947" in page
    assert "floor 0.94" in page
    run = body(client, f"/runs/{fallen.run.github_run_id}")
    assert "failed evals: gsm8k TP2 c64 strict 0.8947" in run


def test_it_is_over_with_the_next_eval_that_is_as_before(client):
    scored(0, 0.9697)
    sweep = scored(1, 0.8947)
    scored(2, 0.8950)
    official(3)
    place = {(sweep.config_key_id, sweep.scenario)}
    detect(place)
    # A sweep that fails as well, or measures no eval, ends nothing.
    assert Regression.objects.get().recovered_by is None
    good = scored(4, 0.9690)
    detect(place)
    assert Regression.objects.get().recovered_by == good.run
