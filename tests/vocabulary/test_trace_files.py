"""Which file of a raw tree is whose, in every layout that producers have used."""

import pytest

from dashboard.vocabulary.trace_files import TraceFile, is_trace, trace_of

FILE = "profile_export.jsonl"


def files(*names: str) -> list[TraceFile]:
    return [TraceFile(name, 10, f"{n:064x}") for n, name in enumerate(names)]


@pytest.mark.parametrize(
    "member",
    [
        f"aiperf_artifacts/{FILE}",
        f"results/aiperf_artifacts/{FILE}",
        f"results/aiperf_artifacts/Qwen3-agentic-conc4/{FILE}",
        f"trace_replay/{FILE}",
        f"results/trace_replay/{FILE}",
    ],
)
def test_every_layout_of_one_node_is_found(member: str) -> None:
    found = trace_of(files("server.log", member), 4, is_alone=True)
    assert found is not None
    assert found.member == member


def test_a_folder_says_whose_concurrency_it_is() -> None:
    tree = files(*(f"conc_{n}/aiperf_artifacts/{FILE}" for n in (1, 4, 16)))
    found = trace_of(tree, 4, is_alone=False)
    assert found is not None
    assert found.member == f"conc_4/aiperf_artifacts/{FILE}"
    assert trace_of(tree, 2, is_alone=False) is None
    assert trace_of(tree, 40, is_alone=False) is None


def test_a_file_without_a_folder_is_of_nobody_where_several_share_the_artifact() -> (
    None
):
    tree = files(f"aiperf_artifacts/{FILE}")
    assert trace_of(tree, 4, is_alone=False) is None


def test_present_trees_come_before_older_ones_and_equal_bytes_are_one_file() -> None:
    tree = files(f"trace_replay/{FILE}", f"aiperf_artifacts/{FILE}")
    found = trace_of(tree, 4, is_alone=True)
    assert found is not None
    assert found.member == f"aiperf_artifacts/{FILE}"
    one, other = (f"aiperf_artifacts/{child}/{FILE}" for child in ("a", "b"))
    assert trace_of(files(one, other), 4, is_alone=True) is None
    twins = [TraceFile(name, 10, "e" * 64) for name in (one, other)]
    assert trace_of(twins, 4, is_alone=True) == twins[0]


@pytest.mark.parametrize(
    "member",
    [
        FILE,
        "aiperf_artifacts/profile_export_raw.jsonl",
        "aiperf_artifacts/a/b/profile_export.jsonl",
        "aiperf_artifacts/server_metrics_export.json",
        f"aiperf_artifacts/{'x' * 500}/{FILE}",
    ],
)
def test_other_files_are_none(member: str) -> None:
    assert not is_trace(member)
