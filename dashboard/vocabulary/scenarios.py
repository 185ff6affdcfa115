"""Scenarios: how input and output lengths, or a replay of traces, are written."""

AGENTIC = "agentic-traces"
UNKNOWN = "unknown"

LENGTHS = {(8192, 1024): "8k/1k", (1024, 1024): "1k/1k", (1024, 8192): "1k/8k"}
_ORDER = ("8k/1k", "1k/1k", "1k/8k")


def scenario_text(isl: int, osl: int) -> str:
    """Return ``8k/1k``, ``1k/1k`` or ``1k/8k``, else ``<isl>_<osl>`` in tokens."""
    return LENGTHS.get((isl, osl), f"{isl}_{osl}")


def lengths_of(scenario: str) -> tuple[int | None, int | None]:
    """Return input and output lengths in tokens; None where a scenario has none."""
    for lengths, text in LENGTHS.items():
        if text == scenario:
            return lengths
    isl, _, osl = scenario.partition("_")
    is_known = isl.isdecimal() and osl.isdecimal()
    return (int(isl), int(osl)) if is_known else (None, None)


def scenario_label(scenario: str) -> str:
    """Return how a scenario is written on a page."""
    if scenario == AGENTIC:
        return "Agentic traces"
    if scenario == UNKNOWN:
        return "Unknown lengths"
    return scenario.replace("_", "/")


def scenario_order(scenario: str) -> tuple[int, str]:
    """Return a sort key: the usual lengths, then traces, then the rest by name."""
    known = (*_ORDER, AGENTIC)
    return (known.index(scenario) if scenario in known else len(known), scenario)
