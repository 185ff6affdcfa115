"""Model families: display names, and which families stand together on pages."""

from typing import NamedTuple


class Model(NamedTuple):
    """One model family; families of one ``group`` are offered as one choice."""

    name: str
    label: str
    group: str


_ALL = (
    Model("dsv4", "DeepSeek-V4-Pro", "DeepSeek-V4-Pro"),
    Model("dsr1", "DeepSeek-R1-0528", "DeepSeek-R1-0528"),
    Model("qwen3.5", "Qwen-3.5-397B-A17B", "Qwen-3.5-397B-A17B"),
    Model("glm5.2", "GLM-5.2", "GLM-5.2"),
    Model("glm5.1", "GLM-5.1", "GLM-5"),
    Model("glm5", "GLM-5", "GLM-5"),
    Model("kimik3", "Kimi-K3", "Kimi-K3"),
    Model("kimik2.7-code", "Kimi-K2.7-Code", "Kimi-K2.5"),
    Model("kimik2.6", "Kimi-K2.6", "Kimi-K2.5"),
    Model("kimik2.5", "Kimi-K2.5", "Kimi-K2.5"),
    Model("minimaxm3", "MiniMax-M3", "MiniMax-M3"),
    Model("minimaxm2.7", "MiniMax-M2.7", "MiniMax-M2.5"),
    Model("minimaxm2.5", "MiniMax-M2.5", "MiniMax-M2.5"),
    Model("gptoss120b", "gpt-oss-120b", "gpt-oss-120b"),
    Model("llama70b", "Llama-3.3-70B-Instruct-FP8", "Llama-3.3-70B-Instruct-FP8"),
    Model("gemma4", "Gemma-4-31B", "Gemma-4-31B"),
    Model(
        "dsv2lite",
        "DeepSeek-Coder-V2-Lite-Instruct",
        "DeepSeek-Coder-V2-Lite-Instruct",
    ),
)

MODELS = {model.name: model for model in _ALL}

# Where the producer's files name a family otherwise.
PREFIXES = {"gptoss120b": "gptoss", "kimik2.7-code": "kimik2.7"}


def model_label(name: str) -> str:
    """Return the display name of a family; an unknown one is shown as it is."""
    known = MODELS.get(name)
    return known.label if known else name


def model_group(name: str) -> str:
    """Return the group of a family; an unknown one stands alone."""
    known = MODELS.get(name)
    return known.group if known else name


def models_of_group(group: str) -> list[str]:
    """Return the families of a group, newest first."""
    return [model.name for model in _ALL if model.group == group]
