"""Doubts about a stored eval result: their codes, and what they mean."""

from typing import NamedTuple


class EvalFlag(NamedTuple):
    """A doubt about an eval; it changes no score."""

    code: str
    title: str
    meaning: str


EVAL_FLAGS = {
    flag.code: flag
    for flag in (
        EvalFlag(
            "eval_rerun",
            "measured again",
            "The artifact holds an older result of the same eval, which is listed "
            "among its repeats.",
        ),
        EvalFlag(
            "ambiguous_rerun",
            "newest result is a guess",
            "Several results of one eval have no time, or the same one, in their "
            "files' names. The last of them counts, all are listed.",
        ),
        EvalFlag(
            "no_file_time",
            "no time in the file's name",
            "When the eval ran is not told by the name of its results file.",
        ),
        EvalFlag(
            "no_questions",
            "no questions counted",
            "The number of questions is absent or zero, so nothing was measured.",
        ),
        EvalFlag(
            "missing_score",
            "the deciding score is absent",
            "The score that the task is judged by was not measured; another one does "
            "not stand in for it.",
        ),
        EvalFlag(
            "nan_token",
            "a score was not a number",
            "The file held NaN or Infinity where a score belongs, which counts as "
            "missing.",
        ),
        EvalFlag(
            "unknown_filter",
            "a filter that is not read",
            "The file has a score of a filter that is neither strict nor flexible.",
        ),
    )
}


def eval_flag_title(code: str) -> str:
    """Return what a flag says, or its code where it is not known."""
    flag = EVAL_FLAGS.get(code)
    return flag.title if flag else code.replace("_", " ")
