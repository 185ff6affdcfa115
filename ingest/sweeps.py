"""Points of one run grouped into sweeps, and what is true of each sweep as a whole."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dashboard.models import Run
from dashboard.vocabulary import acceptance
from dashboard.vocabulary.checkpoints import is_published
from dashboard.vocabulary.scenarios import AGENTIC
from ingest.choices import Choice
from ingest.config_keys import MatrixEntry
from ingest.mapping import ExpandedEntry, MappedPoint
from ingest.planning import Place, Plan
from ingest.rows import Identity

# From the surest way to know a key to none at all.
METHODS = ("fingerprint", "attributes", "changelog", "ambiguous", "unmapped", "plan")

BY_POLICY = (
    "agentic throughput with speculative decoding runs with a forced length; "
    "no row says which"
)
NO_CONFIG = "no config at hand says whether a length was forced"
NOT_DECLARED = "fixed lengths are verified for real unless the config says otherwise"


class AcceptanceFacts(NamedTuple):
    """Where an acceptance length comes from, the length if known, and the evidence."""

    source: str = acceptance.NONE
    length: float | None = None
    evidence: str = ""


NOT_SPECULATIVE = AcceptanceFacts()


@dataclass(slots=True)
class SweepDraft:
    """A sweep before it is stored.

    ``identity`` is that of one of its rows or jobs; None where only the matrix
    planned it. ``is_published``: no artifact says any of its points.
    """

    config_key: str
    scenario: str
    identity: Identity | None = None
    checkpoint_id: int | None = None
    images: list[str] = field(default_factory=list)
    fingerprints: list[str] = field(default_factory=list)
    spec_methods: list[str] = field(default_factory=list)
    acceptance: AcceptanceFacts = NOT_SPECULATIVE
    planned: list[Place] | None = None
    method: str = "plan"
    candidates: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    is_published: bool = False

    def values(self, run: Run, config_key_id: int) -> tuple[object, ...]:
        """Return the columns of the sweep table, in its order."""
        return (
            run.pk,
            config_key_id,
            self.scenario,
            self.checkpoint_id,
            self.images[0] if self.images else "",
            self.images,
            self.fingerprints,
            self.identity.precision if self.identity else "",
            self.spec_methods,
            *self.acceptance,
            self.planned,
            None if self.planned is None else len(self.planned),
            0,
            self.method,
            self.candidates,
            self.flags,
            run.created_at,
            "",
        )


def draft_sweeps(
    points: Iterable[MappedPoint], plan: Plan, entries: Sequence[ExpandedEntry] = ()
) -> list[SweepDraft]:
    """Group points by key and scenario; a planned sweep without a point is kept."""
    groups: dict[tuple[str, str], list[MappedPoint]] = {}
    for point in points:
        name = (point.mapping.config_key, point.row.identity.scenario)
        groups.setdefault(name, []).append(point)
    drafts = [
        _draft(*name, found, plan, entries) for name, found in sorted(groups.items())
    ]
    for (key, scenario), places in (plan.sweeps or {}).items():
        if (key, scenario) not in groups:
            identity = plan.identities.get(key)
            drafts.append(SweepDraft(key, scenario, identity, planned=places))
    return drafts


def _draft(
    key: str,
    scenario: str,
    points: Sequence[MappedPoint],
    plan: Plan,
    entries: Sequence[ExpandedEntry],
) -> SweepDraft:
    identities = [p.row.identity for p in points]
    draft = SweepDraft(key, scenario, identities[0])
    draft.is_published = all(p.is_published for p in points)
    draft.images = _by_frequency(i.image for i in identities)
    draft.fingerprints = sorted({i.fingerprint for i in identities} - {""})
    draft.spec_methods = sorted({i.deployment.spec_method for i in identities})
    draft.planned = plan.places(key, scenario)
    draft.method = max((p.mapping.method for p in points), key=METHODS.index)
    draft.candidates = sorted({c for p in points for c in p.mapping.candidates})
    draft.flags = sorted({flag for p in points for flag in p.mapping.flags})
    draft.acceptance = acceptance_facts(points, entries)
    return draft


def _by_frequency(texts: Iterable[str]) -> list[str]:
    counts = Counter(text for text in texts if text)
    return sorted(counts, key=lambda text: (-counts[text], text))


def acceptance_facts(
    points: Iterable[MappedPoint], entries: Iterable[ExpandedEntry] = ()
) -> AcceptanceFacts:
    """Say where the acceptance length of speculative decoding comes from.

    1. A length that the config declares is synthetic. 2. So is one that the run's
    changelog names and that is golden. 3. Agentic throughput always runs with a
    forced length, though no row says so. 4. Other rows verify for real, unless a
    config that is not at hand says otherwise: only those of several nodes can. The
    length is None where unknown or where the points differ.
    """
    speculative = [p for p in points if p.row.identity.deployment.spec_method != "none"]
    if not speculative:
        return NOT_SPECULATIVE
    declared = {_declared(p.mapping.entry) for p in speculative} - {None}
    if declared:
        return _declared_facts(sorted(filter(None, declared)))
    identity = speculative[0].row.identity
    key = speculative[0].mapping.config_key
    claims = _golden_claims(key, identity, entries)
    if claims:
        return _claimed_facts(claims)
    if identity.scenario == AGENTIC:
        return AcceptanceFacts(acceptance.POLICY, None, BY_POLICY)
    if any(p.mapping.entry is None and _has_roles(p) for p in speculative):
        return AcceptanceFacts(acceptance.UNKNOWN, None, NO_CONFIG)
    return AcceptanceFacts(acceptance.REAL, None, NOT_DECLARED)


def _declared(entry: MatrixEntry | None) -> float | None:
    return entry.acceptance_length if entry else None


def _declared_facts(lengths: Sequence[float]) -> AcceptanceFacts:
    texts = " and ".join(f"{length:g}" for length in lengths)
    return AcceptanceFacts(
        acceptance.DECLARED,
        lengths[0] if len(lengths) == 1 else None,
        f"declared in the master config: SYNTHETIC_ACCEPTANCE_LENGTH={texts}",
    )


def _golden_claims(
    config_key: str, identity: Identity, entries: Iterable[ExpandedEntry]
) -> list[float]:
    """Return the golden lengths that the changelog names for a key's scenario."""
    texts = [
        text
        for entry in entries
        if config_key in entry.keys and entry.covers(identity.scenario)
        for text in entry.row.description
    ]
    claims = set().union(*map(acceptance.claimed_lengths, texts))
    return sorted(c for c in claims if acceptance.is_golden(identity.model, c))


def _claimed_facts(claims: Sequence[float]) -> AcceptanceFacts:
    texts = " and ".join(f"{length:g}" for length in claims)
    return AcceptanceFacts(
        acceptance.POLICY,
        claims[0] if len(claims) == 1 else None,
        f"the changelog names {texts}, golden for this model: configured, not measured",
    )


def _has_roles(point: MappedPoint) -> bool:
    """Tell whether the config has settings per role, where a length is declared."""
    return point.row.identity.deployment.multinode


def checkpoint_names(
    points: Iterable[MappedPoint], choice: Choice
) -> dict[tuple[str, str], str]:
    """Return the checkpoint's name per (key, scenario).

    The config at the run's own commit, or one that holds the row's recipe, decides.
    A config of another day decides only where the row does not name other weights:
    rows may carry a local path or a served name for the same ones. Of a published row
    neither the commit nor the weights are known.
    """
    names: dict[tuple[str, str], Counter[str]] = {}
    for point in points:
        key = (point.mapping.config_key, point.row.identity.scenario)
        name = _checkpoint_name(point, choice)
        if name:
            names.setdefault(key, Counter())[name] += 1
    return {
        key: max(sorted(counts), key=counts.__getitem__)
        for key, counts in names.items()
    }


def _checkpoint_name(point: MappedPoint, choice: Choice) -> str | None:
    entry, claimed = point.mapping.entry, point.row.identity.checkpoint
    if entry is None or point.is_published:
        return claimed
    is_sure = point.mapping.method == "fingerprint"
    is_sure = is_sure or choice.method_for(entry.config_key) == "exact"
    if is_sure or not claimed or not is_published(claimed):
        return entry.checkpoint
    return (
        claimed
        if claimed.casefold() != entry.checkpoint.casefold()
        else entry.checkpoint
    )
