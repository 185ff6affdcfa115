"""The text of a pull request's comment: an order, a marker, and an end."""

import pytest

from dashboard.analysis.comment_body import LONGEST, comment_body, comment_marker
from dashboard.analysis.verdict_report import RunFacts, folded_report, markdown_report

MARKER = comment_marker("https://board.example.org")


def report(run_id: int, more: int = 0) -> str:
    facts = RunFacts(
        run_id=run_id,
        title="a title",
        page=f"https://board.example.org/runs/{run_id}",
        link=f"https://board.example.org/inference?unofficialRun={run_id}",
        attempt=None,
        status="completed",
        conclusion="success",
        received=1,
        planned=2,
        evals="intact",
    )
    return markdown_report(facts, []) + "x" * more


def shown(body: str) -> list[str]:
    """The runs of a text in their order: whole ones by id, folded ones in brackets."""
    found = []
    for line in body.splitlines():
        if "Run [" in line:
            run_id = line.partition("Run [")[2].partition("]")[0]
            found.append(f"({run_id})" if line.startswith("- ") else run_id)
    return found


def test_marker_tells_sites_apart_and_is_hidden() -> None:
    assert MARKER.startswith("<!-- frontierboard:verdict:")
    assert MARKER.endswith(" -->")
    assert comment_marker("https://other.example.org") != MARKER


def test_folded_report_is_one_line_with_state_and_run() -> None:
    assert folded_report(report(7)) == (
        "**nothing to judge: no usable point** Run"
        " [7](https://board.example.org/runs/7) `a title`: success, 1 of 2 points."
        " Evals: intact."
    ).replace("judge:", "judge\\:")


def test_five_newest_are_whole_and_older_ones_a_line() -> None:
    body = comment_body(MARKER, [report(n) for n in range(8, 0, -1)])
    assert body.startswith(f"{MARKER}\n")
    assert shown(body) == ["8", "7", "6", "5", "4", "(3)", "(2)", "(1)"]
    assert body.count("\n---\n") == 4
    assert "shortened" not in body


def test_body_never_changes_for_the_same_reports() -> None:
    reports = [report(2), report(1)]
    assert comment_body(MARKER, reports) == comment_body(MARKER, list(reports))


@pytest.mark.parametrize(
    ("lengths", "expected", "said"),
    [
        ((40_000, 30_000, 20_000), ["3", "(2)", "(1)"], "2 reports are shortened"),
        ((70_000, 10, 10), ["(3)", "(2)", "(1)"], "3 reports are shortened"),
        ((30_000, 30_000, 10_000), ["3", "2", "(1)"], "1 report is shortened"),
    ],
)
def test_what_is_too_long_loses_the_oldest_first_and_says_so(
    lengths: tuple[int, ...], expected: list[str], said: str
) -> None:
    reports = [report(3 - n, more) for n, more in enumerate(lengths)]
    body = comment_body(MARKER, reports)
    assert len(body.encode()) <= LONGEST
    assert shown(body) == expected
    assert f"{said} to a line: a comment holds 65,536 characters." in body


def test_lines_that_do_not_fit_are_left_out_and_counted() -> None:
    body = comment_body(MARKER, [report(n) for n in range(1000, 0, -1)])
    assert len(body.encode()) <= LONGEST
    left = 1000 - len(shown(body))
    assert 0 < left < 1000
    assert shown(body)[0] == "(1000)"
    assert f"{left} reports are left out for lack of space." in body


def test_length_counts_bytes_not_only_characters() -> None:
    wide = report(1) + "\N{GRINNING FACE}" * 20_000
    assert len(wide) < LONGEST
    assert shown(comment_body(MARKER, [wide])) == ["(1)"]
