"""/runs/<id>/verdict.md: what a pull request is told, and that it does nothing else."""

import re

import pytest

from tests.factories import (
    DeploymentFactory,
    EvalResultFactory,
    NoticeFactory,
    RunFactory,
)
from tests.pages.key_builders import CURVE, KEY, START
from tests.pages.test_hostile_texts import BIDI, HOSTILE
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db

MARKUP = {
    **HOSTILE,
    "link": "[click](https://evil.example/x)",
    "autolink": "https://evil.example www.evil.example",
    "mention": "@octocat and @org/team see #12, o/r#3, GH-4",
    "table": "a | b |\n| --- | --- |",
    "heading": "# Owned",
    "fence": "``` \n</details>```",
    "hidden": "<!-- frontierboard:verdict -->",
    "picture": "![x](https://evil.example/x.png)",
    "emphasis": "**bold** _it_ ~~no~~ $x$",
    "entity": "&#64;octocat &commat;octocat",
}


def report(client, run, status=200, **query) -> str:
    answer = client.get(f"/runs/{run.github_run_id}/verdict.md", query)
    assert answer.status_code == status
    return str(answer.content.decode())


def without_code(text: str) -> str:
    """Return what is not within a code span: there nothing has a meaning."""
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def test_it_tells_state_numbers_coverage_differences_and_links_in_order(client):
    official(0, image="img:1")
    head = unofficial(
        3,
        scale=0.9,
        image="img:2",
        curve=CURVE[1:],
        planned_count=4,
        acceptance_source="synthetic_declared",
        acceptance_length=3.39,
        run_fields={"conclusion": "cancelled", "title": "Faster kernels"},
    )
    EvalResultFactory(run=head.run, config_key=head.config_key)
    text = report(client, head.run)
    parts = [
        "### Frontierboard: regression, partial\\: 3 of 4 points",
        f"/runs/{head.run.github_run_id}) `Faster kernels`: cancelled, 3 of 4 points",
        "Evals: intact, 1 of 1 passed.",
        (
            "| config key | verdict | area like for like | worst point | coverage |"
            " baseline |"
        ),
        f"| `{KEY}` `8k/1k` | regression, partial\\: 3 of 4 points, image differs",
        "acceptance synthetic |",
        "3 pairs | 11.1 % behind at TP2 c",
        "3 of 4 points, 1 lost | ",
        "2026-07-01, 3 days older |",
        "- worse beyond the noise: TP2 c16, c64, c256",
        "- points lost: TP2 c4",
        "- image: `img:1` to `img:2`",
        "Acceptance length: ",
        "[overlay](",
    ]
    places = [text.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_what_is_not_comparable_is_nowhere_called_like_for_like(client):
    official(0)
    text = report(client, unofficial(1, scale=1.3, checkpoint="org-b/Other").run)
    assert "| area at matched points |" in text
    assert "4 pairs, not like for like | nowhere behind, closest at TP2 c" in text
    assert "1 day older |" in text


def test_planned_points_are_lost_and_others_are_no_longer_planned(client):
    official(0)
    plan = [["TP2", concurrency] for concurrency, _, _ in CURVE[1:]]
    head = unofficial(1, curve=CURVE[2:], planned=plan, planned_count=len(plan))
    text = report(client, head.run)
    assert "2 of 3 points, 1 lost, 1 no longer planned |" in text
    assert "- points lost: TP2 c16\n- points no longer planned: TP2 c4\n" in text
    (verdict,) = client.get(f"/api/v1/runs/{head.run.github_run_id}/verdict").json()[
        "verdicts"
    ]
    assert verdict["coverage"]["lost"] == [["TP2", [4, 16]]]
    assert verdict["coverage"]["unplanned"] == [["TP2", [4]]]
    (grid,) = verdict["differences"]
    assert (grid["dropped"], grid["added"]) == ([["TP2", [4]]], [])


def test_the_heading_counts_what_the_other_keys_got(client):
    official(0)
    official(0, key="another-key")
    head = unofficial(1, scale=1.3)
    unofficial(1, key="another-key", run=head.run)
    heading = report(client, head.run).split("\n")[0].replace("\\", "")
    said = "### Frontierboard: improvement (other keys: 1 within noise)"
    assert heading == said


def test_it_is_served_as_markdown(client):
    answer = client.get(f"/runs/{unofficial(1).run.github_run_id}/verdict.md")
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("text", list(MARKUP.values()), ids=list(MARKUP))
def test_hostile_texts_do_nothing(client, text):
    odd = text[:200]
    base = official(0, image=text, checkpoint=f"a {odd}"[:200])
    head = unofficial(
        3,
        scale=0.5,
        images=[text],
        harness=text[:90],
        checkpoint=f"b {odd}"[:200],
        key=KEY,
        run_fields={"title": text, "branch": text, "conclusion": odd[:30]},
    )
    base.run.title = text
    base.run.save()
    label = DeploymentFactory(tp=2)
    label.label = odd[:100]
    label.save()
    NoticeFactory(kind="break", text=text, at=START.replace(day=3))
    said = report(client, head.run)
    assert not BIDI & set(said)
    assert "\r" not in said
    bare = without_code(said)
    shown = bare.replace("\\", "")
    ours = re.sub(r"\]\(http://[^)]*/(runs|inference)[^)]*\)", "", bare)
    assert not re.search(r"(?<!\\)\]\(", ours)
    assert "https://" not in ours
    assert not re.search(r"(?<!\\)[<>]", bare)
    assert not re.search(r"[@]\w|#\d|\bGH-\d", shown)
    assert not re.search(r"(?<!\\)&(#|\w)", bare)
    lines = said.split("\n")
    assert [line for line in lines if line.startswith("#")] == lines[:1]
    rows = [line for line in lines if line.startswith("|")]
    bars = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert len(rows) == 3
    assert bars == {7}


def test_a_base_and_attempts_can_be_named(client):
    base, head = unofficial(0), unofficial(1, scale=1.2)
    text = report(client, head.run, base=base.run.github_run_id, attempt=1)
    assert text.startswith("### Frontierboard: improvement")
    assert ", attempt 1 `" in text


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"base": "abc"}, 400, "base: "),
        ({"attempt": "0"}, 400, "attempt: "),
        ({"base": "4711"}, 404, "Run 4711 is not stored here."),
        ({"attempt": "9"}, 404, "has no attempt 9."),
    ],
)
def test_what_cannot_be_answered_is_said_in_plain_text(client, query, status, said):
    answer = client.get(f"/runs/{unofficial(1).run.github_run_id}/verdict.md", query)
    assert answer.status_code == status
    assert answer["Content-Type"].startswith("text/plain")
    assert said in answer.content.decode()


def test_a_run_is_not_held_against_itself(client):
    run = unofficial(1).run
    assert "is the same run" in report(client, run, 400, base=run.github_run_id)


def test_an_unknown_run_is_404(client):
    assert client.get("/runs/4711/verdict.md").status_code == 404


def test_a_run_without_points_says_so(client):
    text = report(client, RunFactory())
    assert text.startswith("### Frontierboard: nothing to judge\\: no usable point")
    assert "| config key" not in text
