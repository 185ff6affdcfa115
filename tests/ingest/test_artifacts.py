"""Artifact names, members within limits, and bundles on disk."""

import io
import json
import stat
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.artifacts.bundles import (
    BundleError,
    attempt_of,
    attempt_starts,
    open_bundle,
)
from ingest.artifacts.members import (
    ArtifactError,
    Limits,
    MemberError,
    artifact_digest,
    judge,
    open_zip,
    zip_entries,
)
from ingest.artifacts.names import Kind, Parallel, kind_of, parse_name
from tests.ingest.records import FIXED, RUN, write_bundle, write_zip

LIMITS = Limits()


# Names


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("results_bmk", Kind.RESULTS),
        ("bmk_x", Kind.POINT),
        ("bmk_agentic_x", Kind.POINT_AGENTIC),
        ("agentic_x", Kind.AGENTIC),
        ("server_logs_x", Kind.SERVER_LOGS),
        ("eval_server_logs_x", Kind.EVAL_SERVER_LOGS),
        ("multinode_server_logs_x", Kind.MULTINODE_SERVER_LOGS),
        ("gpu_metrics_x", Kind.GPU_METRICS),
        ("eval_gpu_metrics_x", Kind.EVAL_GPU_METRICS),
        ("power_audit_x", Kind.POWER_AUDIT),
        ("eval_x", Kind.EVAL),
        ("eval_results_all", Kind.EVAL_RESULTS),
        ("changelog-metadata", Kind.CHANGELOG),
        ("run-stats", Kind.RUN_STATS),
        ("reused-ingest-artifacts", Kind.REUSED),
        ("reused-ingest-metadata", Kind.REUSE_SOURCE),
        ("profile_x", Kind.OTHER),
        ("speedbench-x", Kind.OTHER),
        ("results_bmk_old", Kind.OTHER),
    ],
)
def test_kinds_by_name(name: str, kind: Kind) -> None:
    assert kind_of(name) is kind


def test_a_current_single_node_name() -> None:
    parts = parse_name(
        "bmk_agentic_qwen3.5_tp2_conc4_kvdram-hicache_spec-mtp_fp4_sglang_tp2-pp1-dcp1"
        "-pcp1-ep2-dpafalse_disagg-false_spec-mtp_conc4_mi355x-amds_01"
        "_recipe-99aa99aa99aa99aa"
    )

    assert parts.runner == "mi355x-amds_01"
    assert parts.recipe == "99aa99aa99aa99aa"
    assert parts.experiment == "qwen3.5_tp2_conc4_kvdram-hicache_spec-mtp"
    assert (parts.precision, parts.framework, parts.spec) == ("fp4", "sglang", "mtp")
    assert parts.offload == "dram-hicache"
    assert parts.concurrencies == (4,)
    assert parts.disagg is False
    assert parts.single == Parallel(2, 1, 1, 1, 2, dp_attention=False)


def test_a_current_multinode_name() -> None:
    parts = parse_name(
        "eval_qwen3.5_8k1k_fp8_dynamo-sglang_prefill-tp4-pp1-dcp1-pcp1-ep4-dptrue-nw8"
        "_decode-tp16-pp1-dcp1-pcp1-ep16-dptrue-nw1_disagg-true_spec-none"
        "_conc2048x4096_gb200-nv_2"
    )

    assert parts.prefill == Parallel(4, 1, 1, 1, 4, dp_attention=True, workers=8)
    assert parts.decode == Parallel(16, 1, 1, 1, 16, dp_attention=True, workers=1)
    assert parts.concurrencies == (2048, 4096)
    assert parts.experiment == "qwen3.5_8k1k"
    assert parts.runner == "gb200-nv_2"


@pytest.mark.parametrize(
    ("core", "single", "spec"),
    [
        ("70b_1k1k_fp8_vllm_tp8_conc64", Parallel(8), ""),
        (
            "dsr1_1k8k_fp8_sglang_tp8_ep8_dpa_True_conc64",
            Parallel(8, ep=8, dp_attention=True),
            "",
        ),
        (
            "dsr1_1k8k_fp8_sglang_tp8_ep1_dpa_false_conc64_specdecode_draft_model",
            Parallel(8, ep=1, dp_attention=False),
            "draft_model",
        ),
        (
            "dsr1_8k1k_fp8_sglang_tp8-ep1-dpafalse_disagg-false_spec-none_conc64",
            Parallel(8, ep=1, dp_attention=False),
            "none",
        ),
        (
            "dsr1_8k1k_fp8_trt_tp8-dcp2-pcp1-ep1-dpatrue_disagg-false_spec-mtp_conc64",
            Parallel(8, dcp=2, pcp=1, ep=1, dp_attention=True),
            "mtp",
        ),
    ],
)
def test_historical_single_node_names(core: str, single: Parallel, spec: str) -> None:
    parts = parse_name(f"bmk_{core}_h200-nv_1")

    assert (parts.single, parts.spec) == (single, spec)
    assert parts.concurrencies == (64,)
    assert parts.runner == "h200-nv_1"
    assert parts.logical_name == core


def test_a_historical_multinode_name() -> None:
    core = "dsr1_8k1k_fp4_ptp4pep4_dtp8dep8_dynamo-trt_specdec-mtp_conc4x8"

    parts = parse_name(f"bmk_{core}_gb200-nv_1")

    assert (parts.prefill, parts.decode) == (Parallel(4, ep=4), Parallel(8, ep=8))
    assert (parts.framework, parts.spec) == ("dynamo-trt", "mtp")
    assert parts.concurrencies == (4, 8)


def test_retries_and_companions_share_their_names() -> None:
    core = "m_8k1k_fp4_sglang_tp2-ep1-dpafalse_disagg-false_spec-none_conc8"
    first = parse_name(f"bmk_{core}_mi355x-amds_03_recipe-{'0' * 16}")
    retry = parse_name(f"bmk_{core}_mi355x-amds_04_recipe-{'0' * 16}")
    logs = parse_name(f"server_logs_{core}_mi355x-amds_03_recipe-{'0' * 16}")

    assert first.logical_name == retry.logical_name == core
    assert first.result_name == logs.result_name != retry.result_name


def test_an_unknown_form_keeps_its_kind() -> None:
    parts = parse_name("bmk_something_new")

    assert (parts.kind, parts.framework, parts.single) == (Kind.POINT, "", None)


# Members


def contents_of(path: Path, limits: Limits = LIMITS):
    return judge(zip_entries(open_zip(path)), limits)


def reasons(path: Path, limits: Limits = LIMITS) -> dict[str, str]:
    contents = contents_of(path, limits)
    return {refusal.member: refusal.reason for refusal in contents.refused}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../agg.json", "path_traversal"),
        ("a/../../agg.json", "path_traversal"),
        ("/etc/agg.json", "path_traversal"),
        ("C:/agg.json", "path_traversal"),
        ("a\\b.json", "bad_name"),
    ],
)
def test_members_that_leave_their_folder_are_refused(
    tmp_path: Path, name: str, reason: str
) -> None:
    path = write_zip(tmp_path / "a.zip", {name: "{}", "good.json": "{}"})

    assert reasons(path) == {name: reason}
    assert [member.name for member in contents_of(path).members] == ["good.json"]


def test_links_in_a_zip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("link.json")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")

    assert reasons(path) == {"link.json": "symlink"}


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.json": "{}"})
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    path.write_bytes(data)

    assert reasons(path) == {"a.json": "encrypted"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for text in ("{}", "[]"):
            archive.writestr("a.json", text)

    assert contents_of(path).members == []
    assert reasons(path) == {"a.json": "duplicate_member"}


def test_a_zip_bomb_is_refused_by_ratio(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"bomb.json": b"0" * (4 << 20)})

    assert reasons(path) == {"bomb.json": "zip_bomb"}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_bound_are_refused(
    tmp_path: Path, method: int
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.json", "{}")

    assert contents_of(path).members == []
    assert reasons(path) == {"a.json": "bad_zip"}


def test_caps_are_absolute_too(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.json": "x" * 100, "b.json": "x" * 100})

    assert reasons(path, Limits(member=99)) == {
        "a.json": "member_too_large",
        "b.json": "member_too_large",
    }
    with pytest.raises(ArtifactError, match="artifact_too_large"):
        contents_of(path, Limits(artifact=150))
    with pytest.raises(ArtifactError, match="too_many_members"):
        contents_of(path, Limits(members=1))


def test_a_lying_header_does_not_overrun_its_size(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.json": "x" * 5000})
    data = path.read_bytes().replace((5000).to_bytes(4, "little"), b"\x10\0\0\0")
    path.write_bytes(data)

    (member,) = contents_of(path).members

    with pytest.raises(MemberError):
        member.read_bytes()


def test_a_broken_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"PK\x03\x04 not a zip")

    with pytest.raises(ArtifactError, match="bad_zip"):
        open_zip(path)


def test_broken_bytes_of_a_member_are_one_fault(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.json": bytes(range(256)) * 4})
    data = bytearray(path.read_bytes())
    data[60:65] = b"\xff\xff\xff\xff\xff"
    path.write_bytes(data)

    (member,) = contents_of(path).members

    with pytest.raises(MemberError):
        member.sha256()


# Bundles


def digest(bundle, position: int = 0) -> str:
    members = bundle.artifacts[position].contents(LIMITS).members
    return artifact_digest((member.name, member.sha256()) for member in members)


def test_folder_zip_and_zipped_bundle_hold_the_same(tmp_path: Path) -> None:
    members = {"agg_bmk.json": [FIXED], "deep/x.txt": "x"}
    folder = write_bundle(tmp_path / "folder", {"7-results_bmk": members})
    zipped = write_bundle(tmp_path / "zipped", {})
    write_zip(zipped / "artifacts" / "results_bmk.zip", members)
    whole: dict[str, object] = {
        f"artifacts/results_bmk/{n}": v for n, v in members.items()
    }
    flat = write_zip(tmp_path / "flat.zip", {"run.json": RUN} | whole)
    nested_zip = (zipped / "artifacts" / "results_bmk.zip").read_bytes()
    inside = {"r/run.json": RUN, "r/artifacts/results_bmk.zip": nested_zip}
    below = write_zip(tmp_path / "below.zip", inside)

    bundles = [open_bundle(path, LIMITS) for path in (folder, zipped, flat, below)]

    assert {digest(bundle) for bundle in bundles} == {digest(bundles[0])}
    assert {bundle.artifacts[0].name for bundle in bundles} == {"results_bmk"}
    assert [bundle.artifacts[0].github_id for bundle in bundles] == [
        7,
        None,
        None,
        None,
    ]


def test_items_without_folder_and_folders_without_item_both_count(
    tmp_path: Path,
) -> None:
    path = write_bundle(tmp_path, {"5-bmk_a": {"a.json": {}}, "bmk_b": {"b.json": {}}})
    item = {"size_in_bytes": 9, "created_at": "2026-08-01T21:00:00Z"}
    items = [
        item | {"id": 5, "name": "bmk_a", "expired": False},
        item | {"id": 6, "name": "bmk_a", "expired": True},
        item | {"id": 8, "name": "bmk_c", "expired": False},
    ]
    (path / "artifacts.json").write_text(json.dumps({"artifacts": items}))

    sources = open_bundle(path, LIMITS).artifacts

    found = [(s.name, s.github_id, s.expired, bool(s.missing)) for s in sources]
    assert found == [
        ("bmk_a", 5, False, False),
        ("bmk_a", 6, True, True),
        ("bmk_c", 8, False, True),
        ("bmk_b", None, False, False),
    ]
    assert sources[0].created_at == datetime(2026, 8, 1, 21, tzinfo=UTC)
    with pytest.raises(ArtifactError, match="expired"):
        sources[1].contents(LIMITS)


def test_jobs_attempts_and_configs_are_read(tmp_path: Path) -> None:
    path = write_bundle(tmp_path, {})
    attempts = [RUN | {"run_attempt": 2}, RUN]
    (path / "run.attempts.json").write_text(json.dumps(attempts))
    (path / "jobs.json").write_text(json.dumps({"jobs": [{"id": 1}]}))
    configs = path / "repo" / ".github" / "configs"
    configs.mkdir(parents=True)
    (configs / "amd-master.yaml").write_text("a: 1\n")

    bundle = open_bundle(path, LIMITS)

    assert [attempt["run_attempt"] for attempt in bundle.attempts] == [1, 2]
    assert bundle.jobs == [{"id": 1}]
    assert bundle.configs == {"amd-master.yaml": "a: 1\n"}


def test_without_jobs_they_are_unknown_and_the_run_is_its_attempt(
    tmp_path: Path,
) -> None:
    bundle = open_bundle(write_bundle(tmp_path, {}), LIMITS)

    assert bundle.jobs is None
    assert bundle.attempts == [RUN]
    assert bundle.artifacts == []


def test_a_broken_list_is_a_notice_and_not_the_end(tmp_path: Path) -> None:
    path = write_bundle(tmp_path, {"bmk_a": {"a.json": {}}})
    (path / "jobs.json").write_text("[1, 2")
    (path / "artifacts.json").write_text('"text"')

    bundle = open_bundle(path, LIMITS)

    assert bundle.jobs is None
    assert [source.name for source in bundle.artifacts] == ["bmk_a"]
    assert len(bundle.notices) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "run.json: "),
        ("[]", "run.json: not an object"),
        ('{"id": "x", "created_at": "2026-08-01T20:00:00Z"}', "id is not a number"),
        ('{"id": 5}', "created_at is missing"),
        ('{"id": 5, "created_at": "soon"}', "created_at is not a time"),
    ],
)
def test_a_broken_run_is_one_clear_line(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "run.json").write_text(text)

    with pytest.raises(BundleError, match=message) as caught:
        open_bundle(tmp_path, LIMITS)

    assert "\n" not in str(caught.value)


def test_what_is_no_bundle_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("x")
    (tmp_path / "x.zip").write_bytes(b"no zip")

    for path in (tmp_path, tmp_path / "absent", tmp_path / "x.zip", tmp_path / "x.txt"):
        with pytest.raises(BundleError):
            open_bundle(path, LIMITS)


def test_an_artifact_that_the_zip_of_a_bundle_cannot_open_is_one_fault(
    tmp_path: Path,
) -> None:
    """Its name differs between the zip's directory and what stands before its bytes."""
    name = "artifacts/1-results_bmk.zip"
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run.json", json.dumps(RUN))
        archive.writestr(name, b"never opened")
    other = name.replace("results", "Results")
    path.write_bytes(path.read_bytes().replace(name.encode(), other.encode(), 1))
    artifact = open_bundle(path, Limits()).artifacts[0]

    with pytest.raises(ArtifactError, match="bad_zip: cannot open"):
        artifact.contents(Limits())


def test_links_in_a_bundle_folder_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    path = write_bundle(tmp_path / "b", {"bmk_a": {"a.json": {}}})
    (path / "artifacts" / "bmk_a" / "link.json").symlink_to(secret)
    (path / "artifacts" / "bmk_b").symlink_to(tmp_path)

    sources = {s.name: s for s in open_bundle(path, LIMITS).artifacts}

    refused = sources["bmk_a"].contents(LIMITS).refused
    assert [(r.member, r.reason) for r in refused] == [("link.json", "symlink")]
    with pytest.raises(ArtifactError, match="symlink"):
        sources["bmk_b"].contents(LIMITS)


def test_an_artifact_belongs_to_the_attempt_it_was_made_in() -> None:
    attempts = [
        {"run_attempt": 1, "run_started_at": "2026-08-01T10:00:00Z"},
        {"run_attempt": 2, "run_started_at": "2026-08-01T12:00:00Z"},
    ]

    starts = attempt_starts(attempts)

    def at(hour: int) -> int:
        return attempt_of(datetime(2026, 8, 1, hour, 30, tzinfo=UTC), starts)

    assert [at(9), at(10), at(11), at(12)] == [1, 1, 1, 2]
    assert attempt_of(None, starts) == 2
    latest_only = attempt_starts(attempts[1:])
    assert attempt_of(datetime(2026, 8, 1, 11, tzinfo=UTC), latest_only) == 1


def test_an_artifact_zip_can_stand_in_memory(tmp_path: Path) -> None:
    buffer = io.BytesIO(write_zip(tmp_path / "a.zip", {"a.json": "{}"}).read_bytes())

    contents = judge(zip_entries(open_zip(buffer)), LIMITS)

    assert contents.members[0].read_bytes() == b"{}"
