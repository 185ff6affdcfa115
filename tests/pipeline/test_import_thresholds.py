"""The command that imports floors of evals, and what it does to what was set before."""

from datetime import date
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import EvalFloor, EvalResult, Generation
from dashboard.queries.floors import floor_table
from dashboard.queries.run_parts import evals
from tests.factories import EvalFloorFactory, EvalResultFactory, RunFactory
from tests.pipeline.conftest import counts

pytestmark = pytest.mark.django_db

AT = "2026-08-21T22:25:16Z"
DAY = date(2026, 8, 21)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "eval-thresholds.yaml"


def run_command(path: Path, at: str = AT, **options: str) -> None:
    call_command("import_thresholds", str(path), at=at, **options)


def minimum(model: str, task: str, day: date = DAY) -> float:
    return floor_table().at(model, task, day).minimum


def test_the_producers_file_is_imported_once(shared_data, capsys):
    path = shared_data / "configs" / "eval-thresholds.yaml"
    run_command(path, author="ada")
    assert "11 floors from 2026-08-21 on: 11 new, 0 defects" in capsys.readouterr().out
    rows = EvalFloor.objects.values_list("model", "task", "minimum")
    assert set(rows) == {
        ("", "gsm8k", 0.90),
        ("", "gpqa_diamond_cot_n_shot", 0.30),
        ("", "swebench_lite", 0.50),
        *((model, "gsm8k", 0.91) for model in ("dsr1", "dsv4", "gptoss")),
        *((model, "gsm8k", 0.94) for model in ("glm5", "qwen3.5")),
        ("glm5.1", "gsm8k", 0.93),
        ("minimaxm2.5", "gsm8k", 0.92),
        ("kimik2.5", "gsm8k", 0.90),
    }
    said = EvalFloor.objects.values_list("source", "author", "valid_from").distinct()
    assert list(said) == [("eval-thresholds.yaml", "ada", DAY)]
    before, generation = counts(), Generation.objects.get().number
    run_command(path)
    run_command(path, at="2026-09-09T00:00:00Z")
    assert counts() == before
    assert Generation.objects.get().number == generation
    assert minimum("qwen3.5", "aime25") == 0.85


def test_a_newer_file_counts_from_its_day_on_and_scores_stay(file):
    score = EvalResultFactory(strict=0.9697, flexible=0.9568, run=RunFactory())
    stored = EvalResult.objects.values().get()
    file.write_text("models: {qwen3.5: {gsm8k: 0.99}}\ndefault: {gsm8k: 0.9}")
    run_command(file, at=f"{score.run.created_at:%Y-%m-%d}T00:00:00Z")
    (judged,) = evals(score.run, None)
    assert (judged.floor, judged.outcome) == (0.99, "fail")
    assert judged.floor_source == file.name
    assert EvalResult.objects.values().get() == stored
    EvalFloor.objects.update(valid_from=date(2026, 12, 1))
    assert [(e.floor, e.outcome) for e in evals(score.run, None)] == [(0.94, "pass")]


def test_a_floor_that_left_the_file_falls_back_as_the_producer_does(file):
    EvalFloorFactory(model="new", task="gsm8k", minimum=0.99)
    file.write_text("default: {gsm8k: 0.88}")
    run_command(file)
    assert minimum("qwen3.5", "gsm8k") == 0.88
    assert minimum("new", "gsm8k") == 0.88
    assert minimum("dsr1", "swebench_lite") == 0.85
    assert minimum("qwen3.5", "gsm8k", date(2026, 8, 1)) == 0.94
    left = EvalFloor.objects.get(model="qwen3.5")
    assert left.source == f"{file.name}: no floor of its own in the file"


def test_what_staff_set_on_that_day_stays(file, capsys):
    EvalFloorFactory(task="gsm8k", minimum=0.95, valid_from=DAY, author="ada")
    file.write_text("default: {gsm8k: 0.9, gpqa_diamond_cot_n_shot: 0.3}")
    run_command(file)
    assert "gsm8k: 0.95 was set for that day and stays" in capsys.readouterr().err
    assert EvalFloor.objects.get(model="", task="gsm8k").author == "ada"


def test_values_that_are_no_fractions_are_named_and_the_rest_stands(file, capsys):
    file.write_text(
        "default: {gsm8k: 94, gpqa_diamond_cot_n_shot: 0.4}\n"
        f"models: {{a: {{gsm8k: high}}, b: 1, {'c' * 61}: {{gsm8k: 0.9}},"
        " d: {gsm8k: true}, e: {gsm8k: .nan}}"
    )
    run_command(file)
    said = capsys.readouterr().err
    for text in (
        "default gsm8k: 94 is no fraction",
        "a gsm8k: 'high' is no number",
        "b: not a mapping of tasks",
        "name is empty or too long",
        "d gsm8k: True is no number",
        "e gsm8k: None is no number",
    ):
        assert text in said
    assert minimum("x", "gpqa_diamond_cot_n_shot") == 0.4
    assert minimum("x", "gsm8k") == 0.90
    assert minimum("qwen3.5", "gsm8k") == 0.94
    assert EvalFloor.objects.count() == 2
    file.write_text("default: 1\nmodels: {qwen3.5: {gsm8k: 0.95}}")
    run_command(file, at="2026-08-23T00:00:00Z")
    assert EvalFloor.objects.count() == 3


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("[1, 2]", AT, "not a mapping"),
        ("x: 1", AT, "neither default nor models"),
        ("default: {gsm8k: 0.9}", "yesterday", "not a time with its zone"),
    ],
)
def test_what_cannot_be_used_at_all_is_refused(file, text, at, said):
    file.write_text(text)
    with pytest.raises(CommandError, match=said):
        run_command(file, at=at)
    assert not EvalFloor.objects.exists()
