"""The golden runs, from bundle to rows: what each must give, by its own README."""

from collections import Counter
from pathlib import Path

import pytest

from dashboard.vocabulary.deployments import deployment_label
from ingest.artifacts.bundles import open_bundle
from ingest.artifacts.members import Limits
from ingest.rows import ChangelogRow, PointRow, ReuseRow, RunStatRow
from tests.ingest.reading import ReadResult, read_bundle

# run: usable points (distinct), point rows, evals, skips by reason.
EXPECTED = {
    31544080186: (0, 0, 26, {"failed_run": 3}),
    31560100623: (26, 26, 0, {"failed_run": 15}),
    31900000004: (16, 16, 1, {}),
    33100000001: (29, 29, 6, {}),
    33300000002: (19, 19, 4, {}),
    33400000005: (33, 33, 17, {}),
    33484262630: (13, 13, 4, {}),
    33588417338: (8, 11, 0, {}),
    33598359757: (13, 13, 4, {}),
    33700000003: (0, 0, 0, {}),
    33500000006: (13, 13, 4, {}),
    33600000007: (13, 13, 4, {}),
}


@pytest.fixture
def golden(shared_data: Path):
    def read(run: int) -> ReadResult:
        limits = Limits()
        bundle = open_bundle(shared_data / "runs" / str(run), limits)
        return read_bundle(bundle, limits)

    return read


def _place(row: PointRow) -> tuple[object, ...]:
    who = row.identity
    return (who.framework, who.precision, who.deployment, who.concurrency)


@pytest.mark.parametrize("run", EXPECTED)
def test_golden_run_gives_its_points_evals_and_skips(golden, run: int) -> None:
    result = golden(run)

    points, rows, evals, skips = EXPECTED[run]
    assert len({_place(row) for row in result.points}) == points
    assert len(result.points) == rows
    assert len(result.evals) == evals
    assert Counter(skip.reason for skip in result.skips) == skips
    assert [a for a in result.artifacts if a.rejected] == []
    assert result.notices == []


def test_evals_join_the_points_of_their_run(golden) -> None:
    for run in EXPECTED:
        result = golden(run)
        places = {_place(row)[:3] for row in result.points}
        evals = [row.identity for row in result.evals]
        joined = {(e.framework, e.precision, e.deployment) for e in evals}
        if places:
            assert joined <= places, run


def test_agentic_interactivity_is_recomputed_from_latency(golden) -> None:
    points = {
        (deployment_label(p.identity.deployment), p.identity.concurrency): p
        for p in golden(31900000004).points
    }

    point = points["TP2/EP2 mtp", 4]

    assert point.metrics["median_intvty"] == pytest.approx(228.83, abs=0.005)
    assert point.metrics["output_tput_per_gpu"] == pytest.approx(114.1, abs=0.05)
    assert point.metrics["tput_per_gpu"] == pytest.approx(10394.8, abs=0.05)
    assert point.facts["num_requests_successful"] == 892
    stored = point.facts["stored_interactivity"]
    assert stored["median_intvty"] == pytest.approx(229.0, abs=0.05)


def test_the_newest_run_statistics_count(golden) -> None:
    rows = [r for r in golden(33400000005).rows if isinstance(r, RunStatRow)]

    stats = {row.raw_key: (row.successes, row.total) for row in rows}

    assert stats["b200-nscale"] == (9, 10)
    assert len(stats) == len(rows)


def test_attempts_of_uploads_are_told_apart(golden) -> None:
    result = golden(33588417338)
    attempts = {a.meta.position: a.meta.attempt for a in result.artifacts}

    counts = Counter(attempts[row.ref.artifact] for row in result.points)

    assert counts == {1: 2, 2: 3, 3: 6}


@pytest.mark.parametrize(
    ("run", "state", "number"),
    [
        (33484262630, "placeholder", None),
        (33598359757, "placeholder", None),
        (33588417338, "missing", None),
        (33700000003, "good", 2801),
    ],
)
def test_links_of_golden_changelogs(
    golden, run: int, state: str, number: int | None
) -> None:
    rows = [row for row in golden(run).rows if isinstance(row, ChangelogRow)]

    assert [(row.link_state, row.pr_number) for row in rows] == [(state, number)]


def test_reuse_names_the_source_run(golden) -> None:
    rows = [row for row in golden(33700000003).rows if isinstance(row, ReuseRow)]

    assert [row.source_run_id for row in rows] == [33598359757]


def test_invalid_power_is_a_fact_and_no_metric(golden) -> None:
    points = golden(33100000001).points

    invalid = [p for p in points if p.facts.get("power_valid") is False]

    assert [(p.identity.framework, p.identity.concurrency) for p in invalid] == [
        ("atom", 8)
    ]
    assert "avg_power_w" not in invalid[0].metrics


def test_gpu_counts_of_disaggregated_points(golden) -> None:
    points = golden(33400000005).points

    sums = {(p.prefill_gpus, p.decode_gpus): p.gpus for p in points}

    assert all(total == sum(parts) for parts, total in sums.items())
    assert (28, 32) in sums
