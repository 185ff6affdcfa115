"""Whatever JSON stands in a record, it becomes rows or skips and never an error."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.artifacts.names import READ_KINDS, Kind
from ingest.conversion import ArtifactMeta, RunConversion
from ingest.rows import PointRow
from tests.ingest.records import (
    EVAL,
    FIXED,
    META_ENV,
    MULTINODE,
    agentic,
    record,
    results,
)

ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["", "unknown", "NaN", "1e999", "true", "8", "-1", "0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
SOUND: dict[str, list[tuple[str, Any]]] = {
    "results_bmk": [("a.json", FIXED), ("a.json", FIXED | MULTINODE)],
    "bmk_agentic_x": [("x.json", agentic())],
    "eval_x": [("meta_env.json", META_ENV), ("results_1.json", results())],
    "eval_results_all": [("a.json", EVAL)],
    "changelog-metadata": [
        (
            "c.json",
            {
                "base_ref": "a",
                "head_ref": "b",
                "entries": [{"config-keys": ["k"], "description": ["d"]}],
            },
        )
    ],
    "run-stats": [("r.json", {"mi355x": {"n_success": 1, "total": 1}})],
    "reused-ingest-metadata": [("r.json", {"source_run_id": 1, "ingest_run_id": 2})],
}


def paths_of(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of every value inside a value, its own included."""
    found = [path]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += paths_of(inner, (*path, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            found += paths_of(inner, (*path, index))
    return found


def replaced(value: Any, path: tuple[Any, ...], odd: object) -> Any:
    if not path:
        return odd
    value = copy.deepcopy(value)
    inner = value
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = odd
    return value


@pytest.mark.parametrize("artifact", SOUND)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_one_odd_value_anywhere_is_no_error(artifact: str, data: st.DataObject) -> None:
    members = SOUND[artifact]
    position = data.draw(st.integers(0, len(members) - 1))
    member, value = members[position]
    path = data.draw(st.sampled_from(paths_of(value)))
    changed = [(member, replaced(value, path, data.draw(ODD)))]
    others = [pair for i, pair in enumerate(members) if i != position]
    records = [
        record(v, m, i) for i, (m, v) in enumerate(sorted(others + changed, key=first))
    ]

    rows = list(RunConversion().rows(ArtifactMeta(0, artifact), records))

    for row in rows:
        if isinstance(row, PointRow):
            assert all(abs(number) < float("inf") for number in row.metrics.values())
            assert row.identity.concurrency > 0


def first(pair: tuple[str, Any]) -> str:
    return pair[0]


@pytest.mark.parametrize("kind", sorted(READ_KINDS - {Kind.REUSED}))
@settings(max_examples=60, deadline=None)
@given(value=ODD)
def test_any_json_at_all_is_no_error(kind: Kind, value: object) -> None:
    name = f"{kind}x" if kind.endswith("_") else str(kind)

    rows = list(RunConversion().rows(ArtifactMeta(0, name), [record(value)]))

    assert not any(isinstance(row, PointRow) for row in rows)
