"""Names of checkpoints: what they say, and which of them mean the same weights."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

_QUANTISATION = re.compile(
    r"[-_](?P<words>(?:w-)?(?:(?:mx|nv)?fp[468]|int[48]|bf16|awq|gptq)(?:[-_].*)?)$",
    re.IGNORECASE,
)
# Letter case differs from one published name to the next; pages show one.
_AS_WRITTEN = {"attnfp8": "AttnFP8", "w": "W", "a": "A", "kv": "KV"}
_WORD = re.compile(r"(?:(?:mx|nv)?fp\d+|int\d+|bf\d+|awq|gptq|v\d+)", re.IGNORECASE)

# Last parts of the ids and paths that rows carried where they had no model prefix.
_BASE_NAMES = {
    "dsr1": (
        "deepseek-r1 deepseek-r1-0528 deepseek-r1-fp4 deepseek-r1-0528-fp4 "
        "deepseek-r1-0528-fp4-v2 deepseek-r1-0528-nvfp4-v2 deepseek-r1-0528-mxfp4 "
        "deepseek-r1-0528-mxfp4-v2 deepseek-r1-0528-mxfp4-preview dsr1-0528-fp8 "
        "dsr1-0528-nvfp4-v2 dsr1-fp8"
    ),
    "gptoss120b": "gpt-oss-120b gpt-oss-120b-w-mxfp4-a-fp8",
    "llama70b": (
        "llama-3.3-70b-instruct-fp8 llama-3.3-70b-instruct-fp4 "
        "llama-3.3-70b-instruct-fp8-kv llama-3.3-70b-instruct-mxfp4-preview"
    ),
    "qwen3.5": (
        "qwen3.5-397b-a17b qwen3.5-397b-a17b-fp8 qwen3.5-397b-a17b-mxfp4 "
        "qwen3.5-397b-a17b-mxfp4-attnfp8-v2 qwen3.5-397b-a17b-nvfp4 "
        "qwen3.5-397b-a17b-nvfp4-v2"
    ),
    "kimik2.5": "kimi-k2.5",
    "kimik2.6": "kimi-k2.6 kimi-k2.6-nvfp4",
    "kimik2.7-code": "kimi-k2.7-code kimi-k2.7-code-mxfp4",
    "kimik3": "kimi-k3",
    "minimaxm2.5": "minimax-m2.5",
    "minimaxm3": "minimax-m3 minimax-m3-mxfp4 minimax-m3-nvfp4 minimax-m3-mxfp8",
    "glm5": "glm-5-fp8 glm-5-nvfp4",
    "glm5.1": "glm-5.1-mxfp4 glm-5.1-fp8 glm-5.1-nvfp4",
    "glm5.2": "glm-5.2-fp8 glm-5.2-nvfp4 glm-5.2-mxfp4",
    "dsv4": "deepseek-v4-pro",
    "dsv2lite": "deepseek-coder-v2-lite-instruct-fp8",
}
_FAMILY_OF_BASE = {
    base: family for family, bases in _BASE_NAMES.items() for base in bases.split()
}


class Spelling(NamedTuple):
    """The published name that a local path or a served name means, and why."""

    name: str
    reason: str


def _spellings() -> dict[str, Spelling]:
    r1, r1_fp4 = "deepseek-ai/DeepSeek-R1-0528", "nvidia/DeepSeek-R1-0528-NVFP4-v2"
    served = "served under this name; the config that followed names the published one"
    local = "path on a cluster; the config before or after it names the published one"
    names = {
        "deepseek-r1-fp4": Spelling(r1_fp4, served),
        "/mnt/lustre01/models/deepseek-r1-0528-fp4-v2": Spelling(r1_fp4, local),
        "/mnt/lustre01/models/deepseek-r1-0528": Spelling(r1, local),
    }
    former = "rows of the past carried it for these weights"
    for name, spellings in {
        r1_fp4: "deepseek-r1-0528-fp4-v2 deepseek-r1-0528-nvfp4-v2 dsr1-0528-nvfp4-v2",
        r1: "DeepSeek-R1-0528 dsr1-0528-fp8 dsr1-fp8",
        "deepseek-ai/DeepSeek-R1": "/models/DeepSeek-R1",
        "amd/DeepSeek-R1-0528-MXFP4-Preview": "/models/DeepSeek-R1-0528-MXFP4-Preview",
        "openai/gpt-oss-120b": "/mnt/lustre01/models/gpt-oss-120b",
    }.items():
        names |= {spelling: Spelling(name, former) for spelling in spellings.split()}
    return names


# Built in; what staff say of a spelling goes before it.
SPELLINGS: Mapping[str, Spelling] = MappingProxyType(_spellings())
_KNOWN = {spelling.casefold(): meant.name for spelling, meant in SPELLINGS.items()}


class CheckpointName(NamedTuple):
    """The parts of a name, each empty where the name does not tell.

    ``base`` is the last part as it is written, ``release`` that without its
    ``quantisation``, ``family`` a name of :mod:`dashboard.vocabulary.models`.
    """

    publisher: str
    base: str
    release: str
    quantisation: str
    family: str


def read_name(name: str) -> CheckpointName:
    """Read off a name what it says of the weights."""
    base = base_name(name)
    found = _QUANTISATION.search(base)
    return CheckpointName(
        publisher=name.partition("/")[0] if is_published(name) else "",
        base=base,
        release=base[: found.start()] if found else base,
        quantisation=_quantisation(found["words"]) if found else "",
        family=family_of(name) or "",
    )


def _quantisation(words: str) -> str:
    return "-".join(_word(word) for word in re.split("[-_]", words))


def _word(word: str) -> str:
    if _WORD.fullmatch(word):
        return word.upper()
    return _AS_WRITTEN.get(word.casefold(), word)


def base_name(name: str) -> str:
    """Return a name without its publisher or folders."""
    return name.rstrip("/").rpartition("/")[2]


def family_of(name: str) -> str | None:
    """Return the model family that an id or path names, None where it is not known."""
    return _FAMILY_OF_BASE.get(base_name(name).lower())


def is_published(name: str) -> bool:
    """Tell ``publisher/name`` from a local path and from a served name."""
    return name.count("/") == 1 and not name.startswith(("/", ".", "~"))


def meant_name(name: str) -> str:
    """Return the published name that a built-in spelling means, else the name."""
    return _KNOWN.get(name.casefold(), name)


def spellings_of(name: str) -> set[str]:
    """Return the built-in spellings of a published name."""
    folded = name.casefold()
    return {s for s, meant in SPELLINGS.items() if meant.name.casefold() == folded}


def same_weights(
    before: str, after: str, spellings: Mapping[str, str] = MappingProxyType({})
) -> bool:
    """Tell whether two names mean the same weights.

    ``spellings`` are those of staff: names by case-folded spelling. Published names
    are compared whole: another publisher's are other weights. A local path or served
    name that nobody explained is compared by its last part. Letter case never counts.
    """
    first, second = (_resolved(name, spellings) for name in (before, after))
    if is_published(first) and is_published(second):
        return first.casefold() == second.casefold()
    return base_name(first).casefold() == base_name(second).casefold()


def kind_of_change(
    before: str, after: str, spellings: Mapping[str, str] = MappingProxyType({})
) -> Literal["swap", "spelling"]:
    """Say what another name of a checkpoint is: other weights, or another spelling."""
    return "spelling" if same_weights(before, after, spellings) else "swap"


def what_differs(before: str, after: str) -> list[str]:
    """Name the parts in which two checkpoints differ, as pages write them.

    Empty where they agree. A part that a name lacks is "not named".
    """
    first, second = read_name(before), read_name(after)
    pairs = {
        "publisher": (first.publisher, second.publisher),
        "release": (first.release, second.release),
        "quantisation": (first.quantisation, second.quantisation),
    }
    return [
        f"{part} {a or 'not named'} to {b or 'not named'}"
        for part, (a, b) in pairs.items()
        if a.casefold() != b.casefold()
    ]


def _resolved(name: str, spellings: Mapping[str, str]) -> str:
    return spellings.get(name.casefold()) or meant_name(name)
