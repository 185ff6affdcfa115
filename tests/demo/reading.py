"""Reads a bundle back with nothing but the standard library."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class DemoRun:
    """A run as its bundle on disk tells it."""

    name: str
    folder: Path
    run: dict[str, Any]
    jobs: list[dict[str, Any]]
    artifacts: list[dict[str, Any]]

    def documents(self, prefix: str) -> list[Any]:
        """JSON files of the artifacts whose names begin so, in order of upload."""
        return [
            json.loads(path.read_text())
            for item in self.artifacts
            if item["name"].startswith(prefix)
            for path in sorted(self.artifact(item).glob("*.json"))
        ]

    def artifact(self, item: dict[str, Any]) -> Path:
        return self.folder / "artifacts" / f"{item['id']}-{item['name']}"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the artifacts of single jobs."""
        return self.documents("bmk_")

    @property
    def names(self) -> list[str]:
        return [item["name"] for item in self.artifacts]

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Changelog entries of the newest metadata."""
        entries: list[dict[str, Any]] = self.documents("changelog-metadata")[-1][
            "entries"
        ]
        return entries

    @property
    def texts(self) -> dict[str, str]:
        configs = self.folder / "repo" / "configs"
        return {path.name: path.read_text() for path in configs.iterdir()}


def read_run(folder: Path) -> DemoRun:
    def load(name: str) -> Any:
        return json.loads((folder / name).read_text())

    return DemoRun(
        name=folder.name.partition("-")[2],
        folder=folder,
        run=load("run.json"),
        jobs=load("jobs.json"),
        artifacts=load("artifacts.json"),
    )


def fixed_rows(runs: dict[str, DemoRun]) -> list[dict[str, Any]]:
    return [row for run in runs.values() for row in run.rows if "isl" in row]


def agentic_rows(runs: dict[str, DemoRun]) -> list[dict[str, Any]]:
    """Agentic rows with at least one successful request."""
    return [
        row
        for run in runs.values()
        for row in run.rows
        if "isl" not in row and row["num_requests_successful"]
    ]


def gpus(row: dict[str, Any]) -> int:
    if row["is_multinode"]:
        return int(row["num_prefill_gpu"] + row["num_decode_gpu"])
    return int(row["tp"] * row["pp"] * row["pcp_size"])
