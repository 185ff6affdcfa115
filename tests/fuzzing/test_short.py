"""A part of the fuzzing that fits into every run; benchmarks/fuzz.py runs the rest."""

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzzing.checking import check
from tests.fuzzing.inputs import Case, cases


@seed(20261130)
@settings(
    max_examples=2000,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(case=cases)
def test_bent_artifacts_end_no_ingestion_and_lose_no_good_row(case: Case) -> None:
    assert check(case)
