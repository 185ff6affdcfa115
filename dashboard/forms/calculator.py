"""The filters of the calculator: those of the inference page, and what is counted."""

from typing import cast

from django.http import QueryDict

from dashboard.forms.fields import OneName
from dashboard.forms.inference import LONGEST_QUOTE, InferenceForm, Stored
from dashboard.forms.options import Option
from dashboard.forms.unofficial import is_parameter
from dashboard.vocabulary.metrics import AXES, METRICS, TOKENS_PER_USER
from dashboard.vocabulary.prices import TIERS
from dashboard.vocabulary.texts import one_line

TOKENS = ("total", "output", "input")
INTERACTIVITIES = tuple(n for n in AXES if METRICS[n].unit == TOKENS_PER_USER)
RATES = {
    "total": "tput_per_gpu",
    "output": "output_tput_per_cluster_gpu",
    "input": "input_tput_per_cluster_gpu",
}


class CalculatorForm(InferenceForm):
    """Which keys at which target: ``tokens`` are counted, ``tier`` pays for GPUs.

    Runs of a link take no part: the calculator reads the official record.
    """

    tokens = OneName(required=False)
    tier = OneName(required=False)

    def __init__(self, query: QueryDict, stored: Stored) -> None:
        official = query.copy()
        for name in filter(is_parameter, query):
            del official[name]
        super().__init__(official, stored)
        self.ignored += [
            one_line(f"{name}={query[name]}", LONGEST_QUOTE)
            for name in filter(is_parameter, query)
        ]
        self._allow("tokens", TOKENS)
        self._allow("tier", TIERS)
        self._allow("x", INTERACTIVITIES)

    @property
    def counted(self) -> str:
        """Return which tokens are counted."""
        return cast("str", self.cleaned_data["tokens"] or TOKENS[0])

    @property
    def payer(self) -> str:
        """Return whose prices count."""
        return cast("str", self.cleaned_data["tier"] or next(iter(TIERS)))

    @property
    def metrics(self) -> list[str]:
        """Return what is read: throughput, cost, provisioned and measured energy."""
        return [
            RATES[self.counted],
            f"cost_{self.counted}_{self.payer}",
            f"provisioned_joules_per_{self.counted}_token",
            f"joules_per_{self.counted}_token",
        ]

    def choices(self) -> dict[str, list[Option]]:
        """Return the choices of tokens and tiers."""
        return {
            "tokens": [Option(n, n, n == self.counted) for n in TOKENS],
            "tiers": [Option(n, label, n == self.payer) for n, label in TIERS.items()],
        }
