"""A verdict as pages tell it: read from the plain values that are kept of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.analysis.verdicts import BETTER, NEEDS_A_LOOK, WORSE, Verdict

# What of a verdict's numbers only its comparison shows; most of them are these.
_UNTOLD = frozenset({"points", "best_at"})


def told_numbers(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of the numbers of ``verdict_json``, with ``needs_look``."""
    doubted = any(p["needs_look"] and p["flagged"] for p in numbers["points"])
    told = {name: value for name, value in numbers.items() if name not in _UNTOLD}
    return {**told, "needs_look": doubted}


def flag_tone(flag: str, *, is_flagged: bool) -> str:
    """Return bad, ok or warn for the flag of a point that judges, else nothing."""
    tones = {WORSE: "bad", BETTER: "ok", NEEDS_A_LOOK: "warn"}
    return tones.get(flag, "") if is_flagged else ""


@dataclass(frozen=True, slots=True)
class ToldVerdict:
    """One key and scenario; ``numbers`` are those of ``told_numbers``."""

    numbers: Mapping[str, Any]

    @property
    def config_key(self) -> str:
        """Return the key."""
        return str(self.numbers["config_key"])

    @property
    def scenario(self) -> str:
        """Return the scenario."""
        return str(self.numbers["scenario"])

    @property
    def verdict(self) -> str:
        """Return the outcome in a word."""
        return str(self.numbers["verdict"])

    @property
    def sentence(self) -> str:
        """Return one sentence that a person can paste."""
        return str(self.numbers["sentence"])

    @property
    def baseline(self) -> Mapping[str, Any] | None:
        """Return what the sweep was held against."""
        found: Mapping[str, Any] | None = self.numbers["baseline"]
        return found

    @property
    def base_token(self) -> str:
        """Return how a link names the baseline, empty where there is none."""
        if self.baseline is None:
            return ""
        attempt = self.baseline["attempt"]
        run_id = str(self.baseline["run_id"])
        return run_id if attempt is None else f"{run_id}/attempts/{attempt}"

    @property
    def is_comparable(self) -> bool:
        """Tell whether the numbers judge: else no colour may."""
        said = self.numbers.get("performance", self.verdict)
        return said not in (Verdict.NOT_COMPARABLE, Verdict.NO_BASELINE)

    @property
    def recovers(self) -> list[int]:
        """Return the runs whose regressions the sweep ended: a return is no gain."""
        found: list[int] = self.numbers.get("recovers", [])
        return found

    @property
    def newer(self) -> int | None:
        """Return the run of the current official sweep, where the baseline is older."""
        found: int | None = self.numbers.get("newer")
        return found

    @property
    def lost(self) -> list[Any]:
        """Return what only the base measured and the head's plan asks for or may."""
        coverage = self.numbers.get("coverage") or {}
        gone = {(label, c) for label, found in self.unplanned for c in found}
        rest = [
            [label, [c for c in concurrencies if (label, c) not in gone]]
            for label, concurrencies in coverage.get("lost", ())
        ]
        return [place for place in rest if place[1]]

    @property
    def unplanned(self) -> list[Any]:
        """Return what only the base measured, since nobody plans it any more."""
        # Judgements stored by an older version do not tell it.
        coverage = self.numbers.get("coverage") or {}
        found: list[Any] = coverage.get("unplanned", [])
        return found

    @property
    def needs_look(self) -> bool:
        """Tell whether some gain is too large to be believed."""
        return bool(self.numbers["needs_look"])
