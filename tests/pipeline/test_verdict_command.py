"""``manage.py verdict``: a gate for workflows, told by its exit code and its words."""

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ingest.management.commands.verdict import Command
from tests.factories import EvalResultFactory
from tests.pages.key_builders import KEY
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db


def run_command(capsys, *arguments: Any) -> tuple[int, str]:
    """Return the exit code of the command, and what it printed."""
    capsys.readouterr()
    try:
        call_command("verdict", *map(str, arguments))
    except SystemExit as ended:
        return int(str(ended.code)), capsys.readouterr().out
    except CommandError as error:
        return error.returncode, f"{capsys.readouterr().out}{error}"
    return 0, capsys.readouterr().out


@pytest.fixture
def worse() -> int:
    """A run that lost ten percent and failed an eval."""
    official(0)
    sweep = unofficial(1, scale=0.9)
    EvalResultFactory(run=sweep.run, config_key=sweep.config_key, strict=0.5)
    return int(sweep.run.github_run_id)


@pytest.fixture
def better() -> int:
    """A run that gained twenty percent."""
    official(0)
    sweep = unofficial(1, scale=1.2)
    return int(sweep.run.github_run_id)


def test_without_a_condition_the_exit_code_is_0(capsys, worse):
    code, said = run_command(capsys, worse)
    assert code == 0
    assert f"{KEY} 8k/1k\n    failed evals: " in said
    assert "regression: -10.0 %" in said


@pytest.mark.parametrize("condition", ["regression", "evals"])
def test_what_is_found_ends_with_1_after_the_report(capsys, worse, condition):
    code, said = run_command(capsys, worse, "--fail-on", condition)
    assert code == 1
    assert "regression: -10.0 %" in said


@pytest.mark.parametrize("condition", ["regression", "evals"])
def test_what_is_not_found_ends_with_0(capsys, better, condition):
    assert run_command(capsys, better, "--fail-on", condition)[0] == 0


def test_one_of_two_conditions_is_enough(capsys, worse):
    both = ("--fail-on", "regression", "--fail-on", "evals")
    assert run_command(capsys, worse, *both)[0] == 1


def test_what_cannot_be_told_is_no_regression(capsys):
    sweep = unofficial(1)
    code, said = run_command(capsys, sweep.run.github_run_id, "--fail-on", "regression")
    assert code == 0
    assert "no baseline" in said


def test_an_unknown_run_ends_with_2_and_says_how_to_fetch_it(capsys, better):
    code, said = run_command(capsys, 4711)
    assert code == 2
    assert said == "Run 4711 is not stored here. Fetch it with ingest_run."
    assert run_command(capsys, better, "--base", 4711)[0] == 2


def test_an_unknown_attempt_and_the_run_itself_end_with_2(capsys, better):
    code, said = run_command(capsys, better, "--attempt", 9)
    assert (code, said) == (2, f"Run {better} has no attempt 9.")
    code, said = run_command(capsys, better, "--base", better)
    assert (code, said) == (2, f"Run {better} is the same run.")


def test_a_base_of_ones_own_choice_is_compared_with(capsys, better):
    slow = unofficial(0, scale=0.5, run_fields={"github_run_id": 55})
    code, said = run_command(capsys, slow.run.github_run_id, "--base", better)
    assert "regression" in said
    assert f"vs run {better} of" in said
    assert code == 0


def test_an_attempt_is_judged_alone(capsys, better):
    _, said = run_command(capsys, better, "--attempt", 1, "--format", "json")
    assert json.loads(said)["attempt"] == 1


def test_json_is_what_the_api_gives(capsys, better, client):
    _, said = run_command(capsys, better, "--format", "json")
    assert json.loads(said) == client.get(f"/api/v1/runs/{better}/verdict").json()


def test_markdown_is_what_the_page_gives(capsys, better, client):
    _, said = run_command(capsys, better, "--format", "markdown")
    assert said == client.get(f"/runs/{better}/verdict.md").content.decode()


@pytest.mark.parametrize(
    "arguments",
    ["abc", "", "1 --attempt 0", "1 --attempt x", "1 --fail-on x", "1 --base x"],
)
def test_wrong_usage_ends_with_2(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        Command().run_from_argv(["manage.py", "verdict", *arguments.split()])
    assert ended.value.code == 2
    assert "usage: manage.py verdict" in capsys.readouterr().err
