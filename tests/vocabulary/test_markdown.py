"""Text from outside in Markdown: it reads as it was written, and does nothing."""

import re

import pytest

from dashboard.vocabulary.markdown import code, plain


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain words", "plain words"),
        ("a_b*c", r"a\_b\*c"),
        ("[x](http://e.org)", r"\[x\]\(http\:\/\/e\.org\)"),
        ("<img src=x>", r"\<img src=x\>"),
        ("a | b", r"a \| b"),
        ("`tick`", r"\`tick\`"),
        ("# head", r"\# head"),
        ("line\r\none", "line one"),
        ("\u202eabc", "abc"),
        ("", ""),
    ],
)
def test_punctuation_is_escaped(text, written):
    assert plain(text) == written


@pytest.mark.parametrize("text", ["@octocat", "a@b", "#12", "GH-12", "gh-7", "o/r#3"])
def test_mentions_and_references_are_broken(text):
    shown = plain(text).replace("\\", "")
    assert not re.search(r"[@#]\w|GH-\d", shown, re.IGNORECASE)
    assert shown.replace("\u200b", "") == text


def test_a_long_text_ends():
    assert len(plain("x" * 10_000)) <= 600
    assert len(code("x" * 10_000)) <= 122


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("main", "`main`"),
        ("a`b", "``a`b``"),
        ("``", "` `` `"),
        ("`", "`` ` ``"),
        ("a | b", "`a \\| b`"),
        ("a\nb", "`a b`"),
        ("", ""),
    ],
)
def test_code_is_fenced_by_more_ticks_than_it_holds(text, written):
    assert code(text) == written


@pytest.mark.parametrize("ticks", range(1, 6))
def test_no_run_of_ticks_closes_a_code_span(ticks):
    span = code(f"a{'`' * ticks}b")
    fence = re.match("`+", span)
    assert fence is not None
    inner = span[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", inner)
