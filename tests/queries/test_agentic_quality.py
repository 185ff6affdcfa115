"""Failed requests, caches and KV memory of replayed traces, made and recorded."""

from pathlib import Path

import pytest

from dashboard.analysis.request_errors import RequestErrors
from dashboard.models import Run
from dashboard.queries.agentic_quality import run_quality, sweep_quality
from tests.factories import PointFactory, SweepFactory
from tests.ingest.golden import import_masters, ingest

pytestmark = pytest.mark.django_db


def test_points_of_traces_say_errors_caches_and_memory(django_assert_num_queries):
    sweep = SweepFactory(scenario="agentic-traces")
    accounting = {
        "records_profiled": 80,
        "records_error_dropped": 20,
        "error_categories": {"Timeout": 20},
    }
    PointFactory(
        sweep=sweep,
        concurrency=4,
        facts={"request_accounting": accounting},
        extra={"server_gpu_cache_hit_rate": 0.9, "gpu_kv_cache_usage_pct": 0.0},
    )
    PointFactory(sweep=sweep, concurrency=8)
    PointFactory(sweep=sweep, concurrency=4, attempt=2, is_current=False)
    PointFactory(sweep=SweepFactory(run=sweep.run))
    with django_assert_num_queries(1):
        first, second = run_quality(sweep.run)
    assert (first.errors, first.categories) == ((20, 0.2), {"Timeout": 20})
    assert first.gate.outcome == "fail"
    assert first.shares == {
        "server_gpu_cache_hit_rate": 0.9,
        "gpu_kv_cache_usage_pct": 0.0,
    }
    assert (second.gate.outcome, second.shares) == ("not measured", {})
    assert sweep_quality([sweep.pk]) == [first, second]
    (older,) = run_quality(sweep.run, attempt=2)
    assert older.concurrency == 4


def test_a_recorded_replay_has_all_of_it(shared_data: Path):
    import_masters(shared_data)
    ingest(shared_data, 33588417338)
    found = {(q.deployment, q.concurrency): q for q in run_quality(Run.objects.get())}
    assert len(found) == 8
    failing = found["TP4 mtp", 12]
    assert failing.errors == RequestErrors(3, 3 / 2697)
    assert failing.categories == {"ServerDisconnectedError": 3}
    assert failing.gate.outcome == "pass"
    quoted = found["TP2/EP2 mtp", 4]
    assert quoted.errors == (0, 0.0)
    assert quoted.gate.reason == "0 of 892 requests failed: 0 %, 10 % allowed"
    for quality in found.values():
        assert {
            "theoretical_cache_hit_rate",
            "server_overall_cache_hit_rate",
            "server_gpu_cache_hit_rate",
            "gpu_kv_cache_usage_pct",
        } <= quality.shares.keys()
        assert all(0 <= share <= 1 for share in quality.shares.values())
