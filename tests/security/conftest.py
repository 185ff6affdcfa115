"""A site in whose every text a stranger wrote something, and all its addresses."""

# mypy: allow-untyped-calls

from collections.abc import Iterator
from typing import Any

import pytest

from dashboard.models import Correction, EvalResult
from tests import factories
from tests.pages.builders import curve, official_sweep
from tests.pages.test_hostile_run import BAD, add_details
from tests.pages.test_unofficial import KEY, overlaid
from tests.security.addresses import Address, every_address

# Where more than one table has a number of that name: by how the address begins.
NUMBERED = ("points", "requests", "regressions", "evaluation", "corrections")
FILES = {"ending": ("csv", "json", "md")}
TABLES = ("points", "history", "changes", "evals", "jobs", "skips", "grid")


class Site:
    """The run, the key and the rows that addresses name."""

    def __init__(self) -> None:
        curve(KEY)
        self.run = overlaid(
            run_fields={
                "title": BAD,
                "branch": BAD,
                "actor": BAD,
                "workflow_path": BAD,
                "jobs_known": True,
            },
            image=BAD,
            state_reason=BAD,
            mapping_candidates=[BAD],
            checkpoint=factories.CheckpointFactory(name=BAD),
        )
        sweep = self.run.sweeps.get()
        sweep.points.update(image=BAD, flags=[["stale", BAD]])
        artifact = factories.ArtifactFactory(run=self.run, name=BAD, reason=BAD)
        add_details(self.run, artifact)
        self.rows = self._rows(sweep)
        self._side_rows(sweep)

    def _rows(self, sweep: Any) -> dict[str, Any]:
        official = official_sweep(
            "another-key", run=factories.RunFactory(official=True, title=BAD)
        )
        return {
            "points": sweep.points.first(),
            "requests": factories.IngestRequestFactory(
                target=BAD, state="failed", error=BAD, requested_by=BAD
            ),
            "regressions": factories.RegressionFactory(sweep=official, summary=BAD),
            "evaluation": EvalResult.objects.get(run=self.run),
            "corrections": Correction.objects.get(run=self.run),
        }

    def _side_rows(self, sweep: Any) -> None:
        factories.EvalSampleFactory(eval=self.rows["evaluation"])
        factories.NoticeFactory(text=BAD, author=BAD)
        factories.FileDefectFactory(text=BAD)
        factories.ConfigChangeFactory(before=BAD, after=BAD)
        factories.TriageEventFactory(regression=self.rows["regressions"], note=BAD)

    def at(self, address: Address) -> Iterator[str]:
        """Yield the addresses that a route stands for here."""
        values = {
            "run_id": self.run.github_run_id,
            "attempt": 1,
            "key": KEY,
            "request_id": self.rows["requests"].pk,
            "point_id": self.rows["points"].pk,
            "eval_id": self.rows["evaluation"].pk,
            "pk": self._number(address),
        }
        for table in (
            TABLES
            if "<slug:table>" in address.route or "<table>" in address.route
            else ("",)
        ):
            for ending in FILES["ending"] if "ending>" in address.route else ("",):
                yield address.at(**values, table=table, ending=ending)

    def _number(self, address: Address) -> int:
        for part in NUMBERED:
            if f"/{part}/" in address.route:
                return int(self.rows[part].pk)
        return 0


@pytest.fixture
def site(db: None) -> Site:
    return Site()


def public() -> list[Address]:
    """Return what is no staff page."""
    return [a for a in every_address() if not a.route.startswith("/admin")]
