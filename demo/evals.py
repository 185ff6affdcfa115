"""Eval scores of the demo and the files in which an eval job leaves them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from demo.noise import generator
from demo.recipes import Recipe, Role

GSM8K = "gsm8k"
GPQA = "gpqa_diamond_cot_n_shot"
QUESTIONS = {GSM8K: 1319, GPQA: 198}
# Share of right answers: strict and flexible for gsm8k, the only filter for GPQA.
ACCURACY = {
    "qwen3.5": (0.9725, 0.9630),
    "dsr1": (0.9565, 0.9470),
    "dsv4": (0.9590, 0.9500),
}
CHECKPOINT_ACCURACY = {
    "northwind/Qwen3.5-397B-A17B-FP4-Attn8": (0.9690, 0.9585),
}
GPQA_ACCURACY = 0.74
FILTERS = {GSM8K: ("strict-match", "flexible-extract"), GPQA: ("extract_abcd",)}


@dataclass(frozen=True, slots=True)
class Score:
    """Right answers by filter, in the order of FILTERS."""

    task: str
    right: tuple[int, ...]

    @property
    def questions(self) -> int:
        """Questions asked."""
        return QUESTIONS[self.task]

    def values(self) -> list[tuple[str, float, float]]:
        """Return (filter, score, standard error) in [0, 1]."""
        return [
            (name, *_with_error(right, self.questions))
            for name, right in zip(FILTERS[self.task], self.right, strict=True)
        ]


def gsm8k_score(recipe: Recipe, concurrency: int, run: str) -> Score:
    """Answer the questions of gsm8k, a few more or fewer right in each run."""
    expected = CHECKPOINT_ACCURACY.get(recipe.checkpoint, ACCURACY[recipe.model])
    drawn = generator(f"{run}|{recipe.key}|{recipe.roles}|{concurrency}")
    shift = round(max(-4.0, min(4.0, drawn.gauss(0, 2.2))))
    right = [round(share * QUESTIONS[GSM8K]) + shift for share in expected]
    return Score(GSM8K, (right[0], right[1] + drawn.randint(-1, 1)))


def gpqa_score(recipe: Recipe, concurrency: int, run: str) -> Score:
    """Answer the questions of GPQA."""
    drawn = generator(f"{run}|{recipe.key}|gpqa|{concurrency}")
    return Score(GPQA, (round(GPQA_ACCURACY * QUESTIONS[GPQA]) + drawn.randint(-3, 3),))


def result_file(recipe: Recipe, scores: Sequence[Score]) -> dict[str, Any]:
    """Write the result document of the eval harness."""
    return {
        "lm_eval_version": "0.4.9.2",
        "model_name": recipe.checkpoint,
        "results": {score.task: _result(score) for score in scores},
        "configs": {
            score.task: {
                "metric_list": [{"metric": "exact_match"}],
                "filter_list": [{"name": name} for name in FILTERS[score.task]],
            }
            for score in scores
        },
        "n-samples": {
            score.task: {"original": score.questions, "effective": score.questions}
            for score in scores
        },
    }


def meta_env(recipe: Recipe, concurrency: int) -> dict[str, Any]:
    """Write the environment file; lengths are texts, and "0" for agentic evals."""
    isl, osl = recipe.lengths or (0, 0)
    sizes = _bool_sizes(recipe.roles[0])
    fields: dict[str, Any] = {
        "is_multinode": recipe.multinode,
        "framework": recipe.framework,
        "precision": recipe.precision,
        "spec_decoding": recipe.spec,
        "recipe_fingerprint": "",
        "conc": concurrency,
        "model": recipe.checkpoint,
        "infmax_model_prefix": recipe.model,
        "hw": recipe.label,
        "isl": str(isl),
        "osl": str(osl),
    }
    return fields | sizes | _role_meta(recipe)


def aggregate_row(
    recipe: Recipe, concurrency: int, score: Score, source: str
) -> dict[str, Any]:
    """Write the row that the collecting job makes of one task of a result file."""
    isl, osl = recipe.lengths or (0, 0)
    prefill, decode = _both(recipe)
    row = {
        "is_multinode": recipe.multinode,
        "model_prefix": recipe.model,
        "model": recipe.checkpoint,
        "hw": recipe.label.upper(),
        "framework": recipe.framework,
        "precision": recipe.precision,
        "spec_decoding": recipe.spec,
        "isl": isl,
        "osl": osl,
        "tp": prefill.tp,
        "ep": prefill.ep,
        "conc": concurrency,
        "dp_attention": _joint(prefill, decode),
        "task": score.task,
        "n_eff": score.questions,
        "source": source,
    }
    for name, role in (("prefill", prefill), ("decode", decode)):
        row[f"{name}_tp"] = role.tp
        row[f"{name}_ep"] = role.ep
        row[f"{name}_num_workers"] = role.workers
        row[f"{name}_dp_attention"] = str(role.dp_attention).lower()
    return row | _aggregate_scores(score)


def _aggregate_scores(score: Score) -> dict[str, Any]:
    """Name scores by filter; the primary one is strict, and null without it."""
    fields: dict[str, Any] = {"score": None, "score_name": None}
    for name, value, error in score.values():
        kind = "em_strict" if "strict" in name else "em_flexible"
        fields |= {kind: value, f"{kind}_se": error}
    if "em_strict" in fields:
        fields |= {"score": fields["em_strict"], "score_name": "em_strict"}
        fields["score_se"] = fields["em_strict_se"]
    return fields


def _result(score: Score) -> dict[str, Any]:
    fields: dict[str, Any] = {"alias": score.task}
    for name, value, error in score.values():
        fields[f"exact_match,{name}"] = value
        fields[f"exact_match_stderr,{name}"] = error
    return fields


def _role_meta(recipe: Recipe) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, role in zip(("prefill", "decode"), _both(recipe), strict=True):
        sizes = _bool_sizes(role) | {"num_workers": role.workers}
        fields |= {f"{name}_{key}": value for key, value in sizes.items()}
    return fields


def _both(recipe: Recipe) -> tuple[Role, Role]:
    """Return prefill and decode; a single node stands for both."""
    return recipe.roles[0], recipe.roles[-1]


def _joint(prefill: Role, decode: Role) -> str:
    values = [str(role.dp_attention).lower() for role in (prefill, decode)]
    if values[0] == values[1]:
        return values[0]
    return f"prefill={values[0]},decode={values[1]}"


def _bool_sizes(role: Role) -> dict[str, Any]:
    return {
        "tp": role.tp,
        "pp": role.pp,
        "dcp_size": role.dcp,
        "pcp_size": role.pcp,
        "ep": role.ep,
        "dp_attention": role.dp_attention,
    }


def _with_error(right: int, questions: int) -> tuple[float, float]:
    share = right / questions
    return share, (share * (1 - share) / (questions - 1)) ** 0.5
