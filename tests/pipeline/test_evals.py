"""Evals through the whole pipeline: whose they are, and that they come once."""

from dashboard.models import EvalResult, Point
from tests.pipeline.bundles import (
    KEY,
    changelog,
    eval_row,
    evals,
    master,
    results,
    row,
    run_object,
)
from tests.pipeline.conftest import Desk, skips, the_point, the_run


def test_c22_an_evals_only_run_publishes_no_speed(desk: Desk) -> None:
    desk.ingest(
        None,
        {
            **results(row()),
            **evals(eval_row()),
            "run-stats": {
                "run_stats.json": {"mi355x-amds": {"n_success": 1, "total": 1}}
            },
        },
        changelog=changelog(**{"evals-only": True}),
        configs={"amd-master.yaml": master()},
    )
    assert not Point.objects.exists()
    assert EvalResult.objects.get().config_key.key == KEY
    assert not the_run().stats.exists()
    assert len(skips()["evals_only"]) == 2


def test_c25_an_eval_joins_the_deployment_that_was_measured(desk: Desk) -> None:
    roles = {
        f"{role}_{name}": value
        for role in ("prefill", "decode")
        for name, value in {"num_workers": 1, "tp": 2, "ep": 1}.items()
    }
    odd = eval_row(dp_attention="False", spec_decoding=None, **roles)
    desk.ingest(None, {**results(row()), **evals(odd)})
    point, found = the_point(), EvalResult.objects.get()
    assert found.deployment_id == point.deployment_id
    assert found.config_key_id == point.sweep.config_key_id
    assert found.concurrency == point.concurrency


def test_c26_an_eval_on_several_nodes_is_filed_as_such(desk: Desk) -> None:
    for flag in ("true", "True", True):
        several = eval_row(
            is_multinode=flag, tp=None, ep=None, dp_attention=None, prefill_tp=4,
            decode_tp=8, prefill_num_workers=2, decode_num_workers=1,
        )  # fmt: skip
        run_id = 90001 + ["true", "True", True].index(flag)
        desk.ingest(run_object(run_id), evals(several))
    found = {e.deployment for e in EvalResult.objects.all()}
    assert {d.label for d in found} == {"2P TP4 x 1D TP8"}
    assert all(d.multinode for d in found)


def test_c29_unknown_lengths_and_concurrency_are_one_eval(desk: Desk) -> None:
    for conc in (None, 0):
        unknown = eval_row(isl=None, osl=None, conc=conc)
        desk.ingest(None, evals(unknown, unknown | {"note": "twice"}))
    found = EvalResult.objects.get()
    assert found.concurrency is None
