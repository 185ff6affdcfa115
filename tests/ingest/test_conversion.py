"""Bundles to rows: what repeats what, which of two counts, what is refused."""

import json
from pathlib import Path
from typing import Any

from ingest.artifacts.bundles import open_bundle
from ingest.artifacts.members import Limits
from ingest.conversion import (
    ArtifactMeta,
    RunConversion,
    reading_order,
    stored_record,
)
from ingest.rows import ChangelogRow, PointRow
from tests.ingest.reading import ReadResult, read_bundle
from tests.ingest.records import (
    EVAL,
    FIXED,
    META_ENV,
    RUN,
    agentic,
    results,
    write_bundle,
    write_zip,
)
from tests.ingest.records import record as made

LIMITS = Limits()


def read(path: Path, limits: Limits = LIMITS) -> ReadResult:
    return read_bundle(open_bundle(path, limits), limits)


def timed(path: Path, *items: tuple[int, str, str]) -> Path:
    """Give artifacts ids and times; the run has two attempts, at 10 and 12."""
    listed = [
        {"id": i, "name": name, "created_at": f"2026-08-01T{time}:00Z"}
        for i, name, time in items
    ]
    (path / "artifacts.json").write_text(json.dumps(listed))
    attempts = [
        RUN | {"run_attempt": n, "run_started_at": f"2026-08-01T{hour}:00:00Z"}
        for n, hour in ((1, 10), (2, 12))
    ]
    (path / "run.attempts.json").write_text(json.dumps(attempts))
    return path


def rejected(result: ReadResult) -> dict[str, str]:
    return {a.meta.name: a.rejected[0] for a in result.artifacts if a.rejected}


def throughput(result: ReadResult) -> list[tuple[int, float]]:
    return [
        (row.identity.concurrency, row.metrics["tput_per_gpu"]) for row in result.points
    ]


def test_one_bad_artifact_leaves_the_others(tmp_path: Path) -> None:
    path = write_bundle(
        tmp_path,
        {
            "results_bmk": {"agg_bmk.json": [FIXED]},
            "bmk_cut": {"agg.json": b'{"a":1'},
            "bmk_text": {"readme.txt": "x"},
        },
    )
    (path / "artifacts" / "bmk_broken.zip").write_bytes(b"no zip")

    result = read(path)

    assert len(result.points) == 1
    assert rejected(result) == {
        "bmk_broken": "bad_zip",
        "bmk_cut": "bad_json",
        "bmk_text": "no_json",
    }


def test_nan_and_infinity_lose_a_field_and_not_the_aggregate(tmp_path: Path) -> None:
    text = json.dumps([FIXED, FIXED | {"conc": 8}])
    text = text.replace('"p99_ttft": 1.0', '"p99_ttft": NaN', 1)
    head, tail = text.rsplit('"median_e2el": 20.76', 1)
    text = f'{head}"median_e2el": Infinity{tail}'
    path = write_bundle(tmp_path, {"results_bmk": {"agg_bmk.json": text}})

    first, second = read(path).points

    assert first.warnings == [("nan_token", "p99_ttft is nan")]
    assert second.warnings == [("nan_token", "median_e2el is inf")]
    assert "median_e2el" not in second.metrics


def test_a_run_with_agentic_artifacts_only_gives_its_points(tmp_path: Path) -> None:
    path = write_bundle(
        tmp_path,
        {
            "bmk_agentic_x": {"x.json": agentic()},
            "run-stats": {
                "run_stats.json": {"mi355x-amds": {"n_success": 1, "total": 1}}
            },
        },
    )

    result = read(path)

    assert [row.identity.scenario for row in result.points] == ["agentic-traces"]
    assert result.skips == []


def test_the_aggregate_adds_what_no_artifact_of_its_own_holds(tmp_path: Path) -> None:
    failed = FIXED | {"conc": 4, "num_requests_successful": 0}
    lost = FIXED | {"conc": 128}
    path = write_bundle(
        tmp_path,
        {
            "bmk_a": {"agg_a.json": FIXED},
            "bmk_b": {"agg_b.json": failed},
            "results_bmk": {"agg_bmk.json": [lost, failed, FIXED, lost]},
        },
    )

    result = read(path)

    assert sorted(throughput(result)) == [(64, 3156.8), (128, 3156.8)]
    assert [row.reason for row in result.skips] == ["failed_run"]


def test_repeated_uploads_are_points_each(tmp_path: Path) -> None:
    first, second = FIXED | {"tput_per_gpu": 100}, FIXED | {"tput_per_gpu": 101}
    path = write_bundle(
        tmp_path, {"1-bmk_a": {"a.json": first}, "2-bmk_a": {"a.json": second}}
    )
    timed(path, (2, "bmk_a", "12:30"), (1, "bmk_a", "10:30"))

    result = read(path)

    assert throughput(result) == [(64, 100), (64, 101)]
    assert [a.meta.attempt for a in result.artifacts] == [1, 2]


def test_the_newest_aggregate_counts_within_an_attempt(tmp_path: Path) -> None:
    path = write_bundle(
        tmp_path,
        {
            "1-results_bmk": {"agg_bmk.json": [FIXED | {"tput_per_gpu": 100}]},
            "2-results_bmk": {"agg_bmk.json": [FIXED | {"tput_per_gpu": 101}]},
        },
    )
    timed(path, (1, "results_bmk", "10:30"), (2, "results_bmk", "10:40"))

    assert throughput(read(path)) == [(64, 101)]


def test_an_earlier_attempt_keeps_points_that_the_later_lacks(tmp_path: Path) -> None:
    four, eight = FIXED | {"conc": 4}, FIXED | {"conc": 8}
    again = four | {"tput_per_gpu": 101}
    path = write_bundle(
        tmp_path,
        {
            "1-results_bmk": {"agg_bmk.json": [four, eight]},
            "2-results_bmk": {"agg_bmk.json": [again]},
        },
    )
    timed(path, (1, "results_bmk", "10:30"), (2, "results_bmk", "12:30"))

    result = read(path)

    attempts = {a.meta.position: a.meta.attempt for a in result.artifacts}
    found = {
        (row.identity.concurrency, attempts[row.ref.artifact]): row.metrics
        for row in result.points
    }
    assert set(found) == {(4, 2), (4, 1), (8, 1)}
    assert found[4, 2]["tput_per_gpu"] == 101


def test_an_older_aggregate_stands_in_for_a_broken_one(tmp_path: Path) -> None:
    path = write_bundle(
        tmp_path,
        {
            "1-results_bmk": {"agg_bmk.json": [FIXED]},
            "2-results_bmk": {"agg_bmk.json": b"[{"},
        },
    )
    timed(path, (1, "results_bmk", "10:30"), (2, "results_bmk", "10:40"))

    result = read(path)

    assert len(result.points) == 1
    assert [row.reason for row in result.skips] == ["bad_json"]


def test_the_newest_changelog_counts_and_the_older_stands_in(tmp_path: Path) -> None:
    def changelog(key: str) -> dict[str, Any]:
        return {"entries": [{"config-keys": [key], "description": ["x"]}]}

    path = write_bundle(
        tmp_path,
        {
            "1-changelog-metadata": {"changelog_metadata.json": changelog("old")},
            "2-changelog-metadata": {"changelog_metadata.json": changelog("new")},
            "3-changelog-metadata": {"changelog_metadata.json": ["no object"]},
        },
    )
    name = "changelog-metadata"
    timed(path, (1, name, "10:30"), (2, name, "12:30"), (3, name, "12:40"))

    result = read(path)

    rows = [row for row in result.rows if isinstance(row, ChangelogRow)]
    assert [row.config_keys for row in rows] == [["new"]]
    assert [row.reason for row in result.skips] == ["bad_changelog"]


def test_folders_of_artifacts_inside_an_artifact(tmp_path: Path) -> None:
    single = "eval_x_fp4_sglang_tp2-ep1-dpafalse_disagg-false_spec-none_conc64_h200_1"
    members = {
        "results_bmk/agg_bmk.json": [FIXED, FIXED | {"conc": 8}],
        "bmk_a/agg_a.json": FIXED,
        f"{single}/meta_env.json": META_ENV,
        f"{single}/results_2026-08-21T10-00-00.1.json": results(),
        "eval_results_all/agg_eval_all.json": [EVAL],
        "reused-ingest-metadata/reuse_source_run.json": {
            "source_run_id": 5,
            "ingest_run_id": 90001,
        },
        "server_logs_a/other.json": {"not": "read"},
    }
    path = write_bundle(tmp_path, {"reused-ingest-artifacts": members})

    result = read(path)

    kinds = sorted(type(row).__name__ for row in result.rows)
    assert kinds == ["EvalRow", "PointRow", "PointRow", "ReuseRow"]


def test_listed_kinds_are_not_parsed(tmp_path: Path) -> None:
    path = write_bundle(tmp_path, {"power_audit_x": {"agg_x.json": FIXED}})

    assert read(path).artifacts == []


def test_a_large_member_is_streamed(tmp_path: Path) -> None:
    rows = [FIXED | {"conc": conc} for conc in range(1, 50)]
    path = write_bundle(tmp_path, {"results_bmk": {"agg_bmk.json": rows}})

    streamed = read(path, Limits(memory=100, record=70_000))

    assert throughput(streamed) == throughput(read(path))
    first, second = streamed.artifacts[0].records, read(path).artifacts[0].records
    assert [r.sha256 for r in first] == [r.sha256 for r in second]


def test_a_large_member_that_cannot_be_streamed_is_refused(tmp_path: Path) -> None:
    path = write_bundle(tmp_path, {"bmk_a": {"agg.json": FIXED}})

    result = read(path, Limits(memory=100))

    assert rejected(result) == {"bmk_a": "member_too_large"}
    assert "not an array of records" in result.skips[0].detail


def test_a_record_too_long_to_stream_is_refused(tmp_path: Path) -> None:
    rows = [FIXED | {"note": "x" * 200_000}]
    path = write_bundle(tmp_path, {"results_bmk": {"agg_bmk.json": rows}})

    result = read(path, Limits(memory=100, record=100_000))

    assert rejected(result) == {"results_bmk": "member_too_large"}


def test_unknown_fields_are_named_once(tmp_path: Path) -> None:
    rows = [FIXED | {"conc": c, "warp_factor": 9, "std_intvty": 5} for c in (1, 2)]
    path = write_bundle(tmp_path, {"results_bmk": {"agg_bmk.json": rows}})

    (notice,) = read(path).notices

    assert notice.endswith(": warp_factor")


def test_refused_members_are_reported_and_the_rest_stands(tmp_path: Path) -> None:
    path = write_bundle(tmp_path, {})
    members = {"../evil.json": FIXED, "agg_bmk.json": [FIXED]}
    write_zip(path / "artifacts" / "results_bmk.zip", members)

    result = read(path)

    assert len(result.points) == 1
    assert [(r.ref.member, r.reason) for r in result.skips] == [
        ("../evil.json", "path_traversal")
    ]
    assert rejected(result) == {}


def test_replay_from_stored_text_gives_the_same_rows(tmp_path: Path) -> None:
    text = json.dumps([FIXED, agentic(), FIXED | {"conc": 0}])
    text = text.replace('"p99_ttft": 1.0', '"p99_ttft": NaN', 1)
    single = "eval_x_fp4_sglang_tp2-ep1-dpafalse_disagg-false_spec-none_conc64_h200_1"
    path = write_bundle(
        tmp_path,
        {
            "results_bmk": {"agg_bmk.json": text},
            single: {"meta_env.json": META_ENV, "results_1.json": results()},
        },
    )
    first = read(path)

    conversion = RunConversion()
    stored = {
        a.meta: [(r.member, r.index, r.text, r.sha256) for r in a.records]
        for a in first.artifacts
    }
    again = [
        row
        for meta in reading_order(list(stored))
        for row in conversion.rows(meta, (stored_record(*r) for r in stored[meta]))
    ]

    assert again == first.rows


def test_characters_that_tables_refuse_are_replaced_in_rows(tmp_path: Path) -> None:
    text = json.dumps(FIXED | {"image": "a\0b", "framework": "sg\ud800"})
    path = write_bundle(tmp_path, {"bmk_a": {"agg.json": text}})

    result = read(path)

    (row,) = result.points
    assert row.identity.image == "a\ufffdb"
    assert row.identity.framework == "sg\ufffd"
    assert "\\u0000" in result.artifacts[0].records[0].text
    assert "\\ud800" in result.artifacts[0].records[0].text


def test_order_of_artifacts_in_the_bundle_does_not_matter() -> None:
    metas = [
        ArtifactMeta(0, "results_bmk"),
        ArtifactMeta(1, "bmk_a"),
        ArtifactMeta(2, "server_logs_a"),
        ArtifactMeta(3, "changelog-metadata"),
    ]

    order = [meta.name for meta in reading_order(metas)]

    assert order[0] == "bmk_a"
    assert order == [meta.name for meta in reading_order(metas[::-1])]
    assert "server_logs_a" not in order


def test_a_record_is_a_point_whatever_member_it_is_in() -> None:
    rows = RunConversion().rows(ArtifactMeta(4, "bmk_a"), [made(FIXED, "m.json", 3)])

    (row,) = rows

    assert isinstance(row, PointRow)
    assert row.ref == (4, "m.json", 3)
