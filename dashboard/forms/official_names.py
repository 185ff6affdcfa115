"""The official dashboard's parameters: their names and values in this site's words.

A value that means nothing here becomes nothing, and the page says so.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from django.http import QueryDict

from dashboard.forms.official_metrics import (
    is_x_mode,
    metric_of,
    statistic_of,
    x_metric_of,
)
from dashboard.forms.unofficial import is_parameter
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.metrics import default_axes
from dashboard.vocabulary.models import MODELS, model_group
from dashboard.vocabulary.scenarios import AGENTIC

# What the names of the official dashboard begin with.
STARTS = ("g_", "i_", "e_")
LISTS = frozenset(
    {
        "precision",
        "hardware",
        "vendor",
        "framework",
        "spec",
        "deployment",
        "key",
        "hide",
    }
)
SWITCHES = frozenset({"optimal", "logx", "logy", "ghost", "gate"})
# Not a parameter of ours: it goes into the metric of x.
PERCENTILE = "i_pctl"
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off"})
_GROUPS = {
    spelling.lower(): model.group
    for model in MODELS.values()
    for spelling in (model.name, model.label, model.group)
}
Asked = list[tuple[str, str]]


def _scenario(value: str) -> str:
    lower = value.lower().replace("-", "").replace("_", "").replace(" ", "")
    if lower.startswith("agent"):
        return AGENTIC
    lengths = re.fullmatch(r"(\d+k)/?(\d+k)", lower)
    return f"{lengths[1]}/{lengths[2]}" if lengths else value


def _model(value: str) -> str:
    return _GROUPS.get(value.lower(), model_group(value))


def _lower(value: str) -> str:
    return "" if value.lower() in {"all", "any", "both"} else value.lower()


def _vendor(value: str) -> str:
    return {"nvidia": "NVIDIA", "amd": "AMD"}.get(_lower(value), _lower(value))


def _framework(value: str) -> str:
    return canonical_framework(_lower(value))


def _spec(value: str) -> str:
    return "none" if value.lower() in _NO else _lower(value)


def _switch(value: str) -> str:
    lower = value.lower()
    if lower in _YES:
        return "1"
    return "0" if lower in _NO else value


def _disaggregated(value: str) -> Asked:
    lower = re.sub(r"[^a-z0-9]", "", value.lower())
    if lower in _YES or lower.startswith("disagg"):
        return [("deployment", "disaggregated")]
    if lower in _NO or lower.startswith(("agg", "nondisagg", "single")):
        return [("deployment", "single"), ("deployment", "multinode")]
    return []


def _log(value: str) -> Asked:
    lower = value.lower()
    axes = "y" if lower in _YES else lower if lower in {"x", "y", "xy"} else ""
    return [(f"log{axis}", "1") for axis in axes] or _as("logy", _known_no, lower)


def _known_no(value: str) -> str:
    return "0" if value in _NO else ""


def _as(target: str, meaning: Callable[[str], str], value: str) -> Asked:
    found = meaning(value)
    return [(target, found)] if found else []


_VALUES: dict[str, Callable[[str], str]] = {
    "model": _model,
    "scenario": _scenario,
    "precision": _lower,
    "hardware": _lower,
    "vendor": _vendor,
    "framework": _framework,
    "spec": _spec,
    "deployment": _lower,
    "offload": _lower,
    **dict.fromkeys(SWITCHES, _switch),
}
_SYNONYMS = {"to": "date", "as_of": "date"}
_OFFICIAL: dict[str, Callable[[str], Asked]] = {
    "g_model": partial(_as, "model", _model),
    "g_rundate": partial(_as, "date", str),
    "g_runid": partial(_as, "asof_run", str),
    "i_seq": partial(_as, "scenario", _scenario),
    "i_prec": partial(_as, "precision", _lower),
    "i_metric": partial(_as, "y", metric_of),
    "i_xmode": partial(_as, "x", x_metric_of),
    "i_pctl": partial(_as, PERCENTILE, statistic_of),
    "i_vendor": partial(_as, "vendor", _vendor),
    "i_fw": partial(_as, "framework", _framework),
    "i_disagg": _disaggregated,
    "i_spec": partial(_as, "spec", _spec),
    "i_optimal": partial(_as, "optimal", _switch),
    "i_log": _log,
}


def _unknown(_value: str) -> Asked:
    return []


# Values of the official dashboard that say "no filter": understood, and nothing to do.
_EVERYTHING = frozenset({"", "all", "any", "both"})


class Translation:
    """A query in this site's words.

    ``asked`` holds the parameters, ``names`` under which name each was given, and
    ``ignored`` what was not understood, as ``name=value``.
    """

    def __init__(self, query: QueryDict) -> None:
        """Read ``query``; a parameter under its own name wins over the official one."""
        self.asked = QueryDict(mutable=True)
        self.names: dict[str, str] = {}
        self.said = {name.lower() for name in query}
        self.ignored: list[str] = []
        official = [n for n in query if n.lower().startswith(STARTS)]
        for name in query:
            if name not in official and not is_parameter(name):
                self._take_own(name, query.getlist(name))
        for name in official:
            self._take_official(name, query.getlist(name))
        self._choose_statistic(query)

    def _take_own(self, name: str, given: Sequence[Any]) -> None:
        target = _SYNONYMS.get(name.lower(), name.lower())
        meaning = _VALUES.get(target, str)
        said = _split(given, is_list=target in LISTS)
        if target in self.asked:
            # Of two names of one parameter the first counts, of two values the last.
            self.ignored += [f"{name}={value}" for value in said]
            return
        if target not in LISTS:
            self.ignored += [f"{name}={v}" for v in said[:-1] if v != said[-1]]
            said = said[-1:]
        values = [meaning(value) for value in said]
        self._set(name, target, [value for value in values if value])

    def _take_official(self, name: str, given: Sequence[Any]) -> None:
        meaning = _OFFICIAL.get(name.lower(), _unknown)
        taken: dict[str, list[str]] = {}
        for value in _split(given, is_list=True):
            found = meaning(value)
            is_known = name.lower() in _OFFICIAL and value.lower() in _EVERYTHING
            if not found and not is_known:
                self.ignored.append(f"{name}={value}")
            for target, text in found:
                taken.setdefault(target, []).append(text)
        for target, values in taken.items():
            if target not in self.asked:
                self._set(name, target, values)

    def _choose_statistic(self, query: QueryDict) -> None:
        """Let the percentile asked for, or that of traces, stand at the axis of x.

        Of fixed lengths the median is shown whatever percentile is asked for.
        """
        given = self.asked.pop(PERCENTILE, [])
        named = self.names.pop(PERCENTILE, "")
        if self.asked.get("scenario") != AGENTIC:
            self.ignored += [f"{named}={value}" for value in given]
            return
        source = self.names.get("x", "")
        is_open = "x" not in self.asked or is_x_mode(query.get(source, ""))
        if is_open and (given or source):
            usual = default_axes(agentic=True)[0]
            statistic = given[-1] if given else usual.partition("_")[0]
            quantity = (self.asked.get("x") or usual).partition("_")[2]
            self._set(source or named, "x", [f"{statistic}_{quantity}"])

    def _set(self, name: str, target: str, values: list[str]) -> None:
        if values:
            self.asked.setlist(target, values)
            self.names[target] = name


def _split(given: Iterable[Any], *, is_list: bool) -> list[str]:
    texts = [str(value) for value in given]
    if is_list:
        texts = [part for text in texts for part in text.split(",")]
    return [text.strip() for text in texts if text.strip()]
