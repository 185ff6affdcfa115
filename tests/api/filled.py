"""A small site that has something under every address of the interface."""

# mypy: allow-untyped-calls

from datetime import UTC, datetime
from typing import Any, NamedTuple

from tests import factories

KEY = "qwen3.5-fp4-mi355x-sglang"
MODEL = "Qwen-3.5-397B-A17B"
SWAP = {"kind": "checkpoint", "from": "org/Old", "to": "org/New"}


class Filled(NamedTuple):
    """What there is to ask for, as path parameters name it."""

    key: str
    run_id: int
    other_run_id: int
    point_id: int
    eval_id: int
    pk: int
    request_id: int

    @property
    def query(self) -> dict[str, dict[str, Any]]:
        """Return what some addresses cannot do without."""
        return {
            "/api/v1/compare": {"base": self.run_id, "head": self.other_run_id},
            "/api/v1/calculator": {"model": "qwen3.5", "scenario": "8k/1k", "at": 50},
            "/api/v1/config-keys/{key}/frontier": {"scenario": "8k/1k"},
            "/api/v1/benchmarks": {"model": MODEL},
            "/api/v1/benchmarks/history": {"model": MODEL},
        }


def day(number: int) -> datetime:
    return datetime(2026, 8, number, 20, tzinfo=UTC)


def official(number: int, **fields: Any) -> Any:
    return factories.SweepFactory(
        official=True,
        run__official=True,
        run__created_at=day(number),
        received_count=3,
        grid=[["TP2", [4, 8, 16]]],
        **fields,
    )


def measure(sweep: Any, scale: float = 1.0) -> list[Any]:
    """Three points on one frontier."""
    return [
        factories.PointFactory(
            sweep=sweep,
            concurrency=concurrency,
            median_intvty=intvty,
            tput_per_gpu=tput * scale,
            extra={"p99_ttft": 1.5},
        )
        for concurrency, intvty, tput in (
            (4, 90.0, 600.0),
            (8, 60, 900),
            (16, 40, 1100),
        )
    ]


def fill() -> Filled:
    """Store a former, a current and a held sweep, and an unofficial run."""
    definition = factories.ConfigDefinitionFactory(config_key__key=KEY)
    key = definition.config_key
    key.definition = definition
    key.save()
    former = official(3, state="former", segment=1)
    current = official(
        9, segment=2, previous=former, breaks=[SWAP], is_swap=True, run__sha="c" * 40
    )
    held = official(12, state="held")
    head = factories.SweepFactory(received_count=3, run__created_at=day(13))
    for sweep, scale in ((former, 1), (current, 1.1), (held, 1), (head, 0.8)):
        measure(sweep, scale)
    scored = factories.EvalResultFactory(run=current.run, concurrency=16)
    for number in range(3):
        factories.EvalSampleFactory(eval=scored, doc_id=number)
    factories.EvalResultFactory(run=head.run, strict=0.9)
    factories.SkipFactory(run=current.run)
    factories.ChangelogEntryFactory(run=current.run)
    regression = factories.RegressionFactory(sweep=current, baseline=former)
    asked = factories.IngestRequestFactory()
    return Filled(
        key=KEY,
        run_id=current.run.github_run_id,
        other_run_id=head.run.github_run_id,
        point_id=current.points.first().pk,
        eval_id=scored.pk,
        pk=regression.pk,
        request_id=asked.pk,
    )
