"""What of a query still applies once its reader chose another model."""

from collections.abc import Iterable, Mapping

from django.http import HttpRequest, QueryDict

from dashboard.analysis.curves import SweepFacts, curves
from dashboard.forms.inference import InferenceForm
from dashboard.queries import inference as queries
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.hardware import vendor_of
from dashboard.vocabulary.metrics import default_axes
from dashboard.vocabulary.models import model_group
from dashboard.vocabulary.scenarios import AGENTIC


def forget_former_model(request: HttpRequest) -> list[str]:
    """Take out of the query what its new model lacks; return that as ``name value``.

    Filters keep the values that some sweep of model and scenario has; a metric stays
    if it was measured there, the cursor as long as its metric does.
    """
    query = request.GET.copy()
    form = InferenceForm(query, queries)
    if not form.is_valid():
        return []
    model = form.selection.model
    sweeps = [sweep for sweep in form.known if model_group(sweep.model) == model]
    former = query.get("scenario", "")
    dropped = _without(query, "scenario", {sweep.scenario for sweep in sweeps})
    dropped += _without(query, "key", ()) + _without(query, "hide", ())
    query.pop("zoom", None)
    narrowed = InferenceForm(query, queries)
    scenario = narrowed.selection.scenario if narrowed.is_valid() else former
    here = [sweep for sweep in sweeps if sweep.scenario == scenario]
    for name, known in _known(here).items():
        dropped += _without(query, name, known)
    dropped += _axes(query, here, former, scenario)
    request.GET = query  # type: ignore[assignment]
    request.META["QUERY_STRING"] = query.urlencode()
    return dropped


def _without(query: QueryDict, name: str, known: Iterable[str]) -> list[str]:
    """Take the values that are not known out of a query, and return them."""
    given, allowed = query.getlist(name), set(known)
    kept = [value for value in given if value in allowed]
    query.setlist(name, kept)
    if not kept:
        query.pop(name, None)
    return [f"{name} {value}" for value in given if value and value not in allowed]


def _known(here: Iterable[SweepFacts]) -> Mapping[str, set[str]]:
    sweeps = list(here)
    return {
        "vendor": {vendor_of(sweep.hardware) for sweep in sweeps},
        "hardware": {sweep.hardware for sweep in sweeps},
        "framework": {canonical_framework(sweep.framework) for sweep in sweeps},
        "precision": {sweep.precision for sweep in sweeps},
        "spec": {method for sweep in sweeps for method in sweep.spec_methods},
    }


def _axes(
    query: QueryDict, here: Iterable[SweepFacts], former: str, scenario: str
) -> list[str]:
    """Take out metrics that were not measured; the usual ones follow the scenario."""
    measured = queries.measured_metrics(curves(here))
    usual = default_axes(agentic=former == AGENTIC)
    new = default_axes(agentic=scenario == AGENTIC)
    dropped = []
    for name, before, now in zip(("x", "y"), usual, new, strict=True):
        given = query.get(name, now)
        if given == before:
            query.pop(name, None)
        elif given != now:
            dropped += _without(query, name, measured)
        if name == "x" and query.get("x", now) != given:
            dropped += _without(query, "at", ())
    return dropped
