"""The commands that correct: what they store, derive at once, say and refuse."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import Correction, IngestRequest, Point
from tests import factories
from tests.ingest import golden
from tests.pipeline.conftest import Desk, the_run, the_sweep
from tests.pipeline.test_sweeps import DENSE, push, states

BY = ("--reason", "a broken node", "--author", "maintainer")
BY_WHOM = "by maintainer: a broken node"
Said = Callable[..., list[str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Call a command and return the lines it printed."""

    def call(name: str, *arguments: Any) -> list[str]:
        capsys.readouterr()
        call_command(name, *map(str, arguments))
        return capsys.readouterr().out.splitlines()

    return call


def key_of(run_id: int) -> str:
    key: str = the_sweep(run_id).config_key.key
    return key


@pytest.fixture
def held(desk: Desk) -> Desk:
    """Take in a complete sweep and a newer one that lost points."""
    push(desk, 90001, 0, DENSE)
    push(desk, 90002, 1, DENSE[:2])
    assert states()[90002][0] == "held"
    return desk


def test_publishing_makes_the_held_sweep_current_at_once(
    held: Desk, said: Said
) -> None:
    key = key_of(90002)
    lines = said("publish", 90002, "--key", key, "--scenario", "1k/1k", *BY)
    pk = Correction.objects.get().pk
    assert lines == [
        f"correction {pk}, new: publish the sweep {key} 1k/1k of run 90002, {BY_WHOM}",
        "derived: run 90002 is official, 2 points",
        f"{key} 1k/1k: current",
    ]
    assert {run: state for run, (state, _) in states().items()} == {
        90001: "former",
        90002: "current",
    }
    assert not IngestRequest.objects.exists()


def test_a_key_without_a_scenario_means_each_of_its_sweeps(
    held: Desk, said: Said
) -> None:
    sweep = the_run(90002).sweeps.get()
    factories.SweepFactory(run=sweep.run, config_key=sweep.config_key, scenario="1k/8k")
    key = sweep.config_key.key
    lines = said("hold", 90002, "--key", key, *BY)
    assert [line.split(", ")[1] for line in lines[:2]] == [
        f"new: hold the sweep {key} {scenario} of run 90002"
        for scenario in ("1k/1k", "1k/8k")
    ]
    assert Correction.objects.filter(action="hold").count() == 2


def test_hiding_twice_is_said_and_stored_once(held: Desk, said: Said) -> None:
    assert "new: hide the run" in said("hide", 90001, *BY)[0]
    assert "made before: hide the run" in said("hide", 90001, *BY)[0]
    assert Correction.objects.count() == 1
    assert the_run(90001).publication == "hidden"


def test_c23_excluding_by_command_and_undoing_restores_every_byte(
    held: Desk, said: Said
) -> None:
    before = golden.state()
    made = said("exclude", 90001, *BY)
    assert made[1] == "derived: run 90001 is official, 0 points"
    said("undo", Correction.objects.get().pk, "--reason", "it was right")
    assert golden.state() == before
    assert Correction.objects.get().undo_reason == "it was right"


def test_a_single_point_is_excluded_by_its_names(held: Desk, said: Said) -> None:
    point = Point.objects.filter(sweep__run__github_run_id=90001, concurrency=8).get()
    sweep = ("--key", key_of(90001), "--scenario", "1k/1k")
    place = ("--deployment", point.deployment.label, "--concurrency", 8)
    said("exclude", 90001, *sweep, *place, "--attempt", point.attempt, *BY)
    assert list(Point.objects.filter(is_excluded=True)) == [point]


def test_undoing_twice_is_said(held: Desk, said: Said) -> None:
    said("hide", 90001, *BY)
    pk = Correction.objects.get().pk
    assert said("undo", pk, *BY)[0].startswith(f"correction {pk}, undone:")
    assert said("undo", pk, *BY)[0].startswith(f"correction {pk}, undone before:")


def test_the_author_is_the_login_where_none_is_named(
    held: Desk, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "kim")
    said("hide", 90001, "--reason", "a broken node")
    assert Correction.objects.get().author == "kim"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("hide", "5"), "unknown run: 5"),
        (("hide", "x"), "invalid run_id value: 'x'"),
        (("publish", "90001"), "arguments are required: --key"),
        (("publish", "90001", "--key", "nothing"), "No config key is called nothing."),
        (("exclude", "90001", "--concurrency", "77"), "names no point of the run"),
        (("exclude", "90001", "--deployment", "TP9"), "The run has no deployment TP9."),
        (("exclude", "90001", "--attempt", "9" * 12), "invalid number value"),
        (("undo", "77"), "unknown correction: 77"),
        (("undo", "x"), "invalid number value"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_stored(
    held: Desk, arguments: tuple[str, ...], line: str
) -> None:
    with pytest.raises(CommandError, match=line) as refused:
        call_command(*arguments, *BY)
    assert "\n" not in str(refused.value)
    assert not Correction.objects.exists()


@pytest.mark.parametrize("lacking", ["reason", "author"])
def test_a_correction_needs_both_its_author_and_its_reason(
    held: Desk, lacking: str
) -> None:
    given = {"reason": "why", "author": "who", lacking: " "}
    with pytest.raises(CommandError, match=f"A correction needs an? {lacking}."):
        call_command("hide", "90001", **given)
    assert not Correction.objects.exists()


def test_what_is_printed_obeys_no_control_character(held: Desk, said: Said) -> None:
    line = said("hide", 90001, "--reason", "a\x1b[31m\u202eb\nc", "--author", "x")[0]
    assert line.endswith(": a [31mb c")
