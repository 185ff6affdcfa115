"""Metrics that are made of others when points are read: of what, how, and what for.

Each is a metric of the registry like any other; nothing of it is stored.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from dashboard.vocabulary.prices import CUSTOM, TIERS

# spread: over all GPUs instead of those of a role. The others are named by what comes
# out: tok/s per MW, USD per million tokens, J per token, Wh per request, share of TDP.
Kind = Literal["spread", "per_mw", "cost", "joules", "watt_hours", "tdp_share"]

PER_MW = "tok/s/MW"
USD_PER_MILLION = "$/M tok"
ENERGY = "J/tok"
TDP_SHARE = "of TDP"


class Derivation(NamedTuple):
    """How a metric is made of the metric ``basis``.

    ``tier`` says whose prices count, ``custom`` only what a reader gave.
    """

    kind: Kind
    basis: str
    tier: str = ""

    @property
    def needs_rate(self) -> bool:
        """Tell whether it takes the price of an hour of a GPU."""
        return self.kind == "cost"

    @property
    def needs_power(self) -> bool:
        """Tell whether it takes the power that a GPU is provisioned."""
        return self.kind in {"per_mw", "joules"}

    @property
    def is_priced(self) -> bool:
        """Tell whether it depends on the editions of prices and power."""
        return self.needs_rate or self.needs_power


class Derived(NamedTuple):
    """A metric of this kind: what the registry says of it, and its derivation."""

    name: str
    label: str
    unit: str
    direction: Literal["higher", "lower"]
    formula: str
    derivation: Derivation


class _Tokens(NamedTuple):
    """Which tokens are counted, and the rate per GPU that does, over all GPUs."""

    word: str
    basis: str
    of: str


_TOKENS = {
    "total": _Tokens("total", "tput_per_gpu", "total throughput per GPU"),
    "output": _Tokens(
        "output", "output_tput_per_cluster_gpu", "output throughput over all GPUs"
    ),
    "input": _Tokens(
        "input", "input_tput_per_cluster_gpu", "input throughput over all GPUs"
    ),
}
_TIER_LABELS = {name: name.capitalize() for name in TIERS}


def _spread() -> Iterator[Derived]:
    for word, role in (("output", "decode"), ("input", "prefill")):
        yield Derived(
            f"{word}_tput_per_cluster_gpu",
            f"{word.capitalize()} throughput over all GPUs",
            "tok/s/GPU",
            "higher",
            f"{word} tokens / wall time / all GPUs, prefill and decode; of a "
            f"disaggregated fixed-length point: the value per {role} GPU * {role} "
            "GPUs / all GPUs",
            Derivation("spread", f"{word}_tput_per_gpu"),
        )


def _per_mw() -> Iterator[Derived]:
    for tokens in _TOKENS.values():
        prefix = "" if tokens.word == "total" else f"{tokens.word}_"
        yield Derived(
            f"{prefix}tput_per_mw",
            f"{tokens.word.capitalize()} throughput per MW",
            PER_MW,
            "higher",
            f"{tokens.of} * 1000 / all-in kW per GPU",
            Derivation("per_mw", tokens.basis),
        )
    yield Derived(
        "tput_per_mw_custom",
        "Custom total throughput per MW",
        PER_MW,
        "higher",
        "total throughput per GPU * 1000 / kW per GPU as given in the address",
        Derivation("per_mw", _TOKENS["total"].basis, CUSTOM),
    )


def _costs() -> Iterator[Derived]:
    for tokens in _TOKENS.values():
        for tier, label in _TIER_LABELS.items():
            yield _cost(tokens, tier, label, f"{TIERS[tier]} $/GPU-h")
    yield _cost(_TOKENS["total"], CUSTOM, "Custom", "$/GPU-h as given in the address")


def _cost(tokens: _Tokens, tier: str, label: str, rate: str) -> Derived:
    return Derived(
        f"cost_{tokens.word}_{tier}",
        f"{label} cost per {tokens.word} token",
        USD_PER_MILLION,
        "lower",
        f"{rate} * 1,000,000 / ({tokens.of} * 3600)",
        Derivation("cost", tokens.basis, tier),
    )


def _energy() -> Iterator[Derived]:
    for tokens in _TOKENS.values():
        yield Derived(
            f"provisioned_joules_per_{tokens.word}_token",
            f"Provisioned energy per {tokens.word} token",
            ENERGY,
            "lower",
            f"all-in kW per GPU * 1000 / {tokens.of}",
            Derivation("joules", tokens.basis),
        )
    yield Derived(
        "watt_hours_per_successful_query",
        "Energy per request in Wh",
        "Wh/request",
        "lower",
        "measured energy of all GPUs / successful requests / 3600",
        Derivation("watt_hours", "joules_per_successful_query"),
    )
    yield Derived(
        "avg_power_tdp_share",
        "Share of TDP",
        TDP_SHARE,
        "lower",
        "measured mean board power of a GPU / the TDP of that GPU",
        Derivation("tdp_share", "avg_power_w"),
    )


ALL = (*_spread(), *_per_mw(), *_costs(), *_energy())
