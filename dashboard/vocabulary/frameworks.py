"""Serving frameworks: their labels, and names that mean the same framework."""

ALIASES = {
    "sglang-disagg": "mori-sglang",
    "atom-disagg": "mooncake-atom",
    "trtllm": "trt",
    "dynamo-trtllm": "dynamo-trt",
}

# Names that say by themselves that prefill and decode run apart.
DISAGGREGATED = frozenset({"sglang-disagg", "atom-disagg"})

LABELS = {
    "atom": "ATOM",
    "dynamo-sglang": "Dynamo SGLang",
    "dynamo-trt": "Dynamo TRTLLM",
    "dynamo-vllm": "Dynamo vLLM",
    "llmd-vllm": "llm-d vLLM",
    "mooncake-atom": "Mooncake ATOMesh",
    "mori-sglang": "MoRI SGLang",
    "sglang": "SGLang",
    "tilert": "TileRT",
    "trt": "TRTLLM",
    "vllm": "vLLM",
}


def canonical_framework(name: str) -> str:
    """Return the one name of a framework, lower case; an unknown one as it is."""
    lower = name.lower()
    return ALIASES.get(lower, lower)


def framework_label(name: str) -> str:
    """Return the label of a framework or alias; an unknown one is shown as it is."""
    return LABELS.get(canonical_framework(name), name)


def same_framework(name: str) -> frozenset[str]:
    """Return every name that means the same framework as ``name``, lower case."""
    canonical = canonical_framework(name)
    aliases = {alias for alias, target in ALIASES.items() if target == canonical}
    return frozenset({canonical, *aliases})
