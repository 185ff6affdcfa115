"""What becomes of the jobs of those runs in which not all goes well."""

from demo.power import Power
from demo.recipes import Recipe
from demo.runs import Outcome

# The largest topology of the disaggregated key begins at this concurrency.
LARGEST_FROM = 512
# TP of the recipes that the new weights do not run with.
CRASHING_TP = 4
# Upper half of a ladder from 4 to 128.
LARGE_FROM = 32
WITHOUT_POWER = 32


def largest_fails(_recipe: Recipe, concurrency: int) -> Outcome:
    """Fail in the largest topology alone."""
    return Outcome.FAILURE if concurrency >= LARGEST_FROM else Outcome.SUCCESS


def only_largest(_recipe: Recipe, concurrency: int) -> Outcome:
    """Run the job of the largest topology again, and no other."""
    return Outcome.SUCCESS if concurrency >= LARGEST_FROM else Outcome.ABSENT


def offload_answers_nothing(recipe: Recipe, _concurrency: int) -> Outcome:
    """Let servers that offload to host memory answer no request."""
    return Outcome.NO_REQUESTS if recipe.offloading != "none" else Outcome.SUCCESS


def tp4_crashes(recipe: Recipe, _concurrency: int) -> Outcome:
    """Fail wherever the weights have no kernel."""
    crashes = recipe.roles[0].tp == CRASHING_TP
    return Outcome.FAILURE if crashes else Outcome.SUCCESS


def large_fails(_recipe: Recipe, concurrency: int) -> Outcome:
    """Fail in the upper half of the ladder."""
    return Outcome.FAILURE if concurrency >= LARGE_FROM else Outcome.SUCCESS


def first_try(recipe: Recipe, users: int) -> Outcome:
    """Finish two points before the attempt is cancelled."""
    return _finished(recipe, users, {2: {1, 4}})


def second_try(recipe: Recipe, users: int) -> Outcome:
    """Finish one point of the first attempt again, and a new one."""
    return _finished(recipe, users, {2: {4, 8}})


def third_try(recipe: Recipe, users: int) -> Outcome:
    """Finish both points of the second attempt again, and two new ones."""
    return _finished(recipe, users, {2: {4, 8}, 4: {4, 8}})


def _finished(recipe: Recipe, users: int, done: dict[int, set[int]]) -> Outcome:
    finished = users in done.get(recipe.roles[0].tp, set())
    return Outcome.SUCCESS if finished else Outcome.CANCELLED


def no_power(_recipe: Recipe, _concurrency: int) -> Power:
    """Let all telemetry be invalid."""
    return Power.INVALID


def one_without_power(_recipe: Recipe, concurrency: int) -> Power:
    """Let the telemetry of one point be invalid."""
    return Power.INVALID if concurrency == WITHOUT_POWER else Power.MEASURED
