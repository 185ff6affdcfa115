"""The samples of one eval, document by document, and those that two evals share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Count, Q
from django.db.models.functions import Collate
from django.db.models.query import QuerySet

from dashboard.analysis.eval_changes import Flips, flips
from dashboard.models import EvalSample
from dashboard.vocabulary.floors import Filter

MOST = 200
_TEXTS = ("prompt", "target", "answer", "extracted")
_LARGEST = 2**31 - 1


class FilterResult(NamedTuple):
    """What one filter made of an answer. ``score`` is None where there is none."""

    filter: str
    extracted: str
    score: float | None
    passed: bool


@dataclass(frozen=True, slots=True)
class SampleDocument:
    """One question with its answer, and what each filter made of it."""

    doc_id: int
    prompt: str
    target: str
    answer: str
    results: list[FilterResult] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SamplePage:
    """Documents in order of their ids; ``total`` is None for what was searched.

    Counting what a search finds would read every text; ``has_more`` needs one more.
    """

    documents: list[SampleDocument]
    total: int | None
    has_more: bool


def page(  # what the drawer's address holds
    eval_id: int,
    *,
    failed_only: bool = False,
    search: str = "",
    filter: str = "",  # noqa: A002  # lm-eval's word
    offset: int = 0,
    limit: int = 20,
) -> SamplePage:
    """Return documents of an eval, with all filters' results of each.

    ``failed_only`` leaves those that the filter, or one of them all, did not pass;
    ``search`` those with a text in prompt, target, answer or extract, whatever its
    letter case, and the one of this number.
    """
    found = EvalSample.objects.filter(eval=eval_id)
    if filter:
        found = found.filter(filter=filter)
    if failed_only:
        found = found.filter(passed=False)
    text = search.replace("\0", "").strip()
    matching = _holding(found, text) if text else found
    documents = matching.order_by("doc_id").values_list("doc_id", flat=True).distinct()
    shown = min(max(limit, 1), MOST)
    start = max(offset, 0)
    ids = list(documents[start : start + shown + 1])
    return SamplePage(
        documents_of(eval_id, ids[:shown]),
        None if text else documents.count(),
        len(ids) > shown,
    )


def documents_after(
    eval_id: int, after: int, limit: int, *, failed_only: bool, search: str
) -> tuple[list[SampleDocument], bool]:
    """Return documents with numbers above ``after``, and whether more follow."""
    found = EvalSample.objects.filter(eval=eval_id, doc_id__gt=after)
    if failed_only:
        found = found.filter(passed=False)
    text = search.replace("\0", "").strip()
    matching = _holding(found, text) if text else found
    documents = matching.order_by("doc_id").values_list("doc_id", flat=True).distinct()
    ids = list(documents[: limit + 1])
    return documents_of(eval_id, ids[:limit]), len(ids) > limit


def _holding(found: QuerySet[EvalSample], text: str) -> QuerySet[EvalSample]:
    """Return the lines that hold a text; letter case is that of ASCII letters.

    The collation without a language folds ten times faster than that of the database,
    and a sample has 20 kB.
    """
    plain = {f"plain_{name}": Collate(name, "C") for name in _TEXTS}
    wanted = Q()
    for name in plain:
        wanted |= Q(**{f"{name}__icontains": text})
    if text.isascii() and text.isdecimal() and int(text) <= _LARGEST:
        wanted |= Q(doc_id=int(text))
    return found.alias(**plain).filter(wanted)


def documents_of(eval_id: int, ids: Sequence[int]) -> list[SampleDocument]:
    """Return some documents of an eval by their numbers; unknown ones are left out."""
    rows = EvalSample.objects.filter(eval=eval_id, doc_id__in=ids)
    documents: dict[int, SampleDocument] = {}
    # Strict before flexible, as scores are written everywhere.
    for row in rows.order_by("doc_id", "-filter"):
        document = documents.setdefault(
            row.doc_id,
            SampleDocument(row.doc_id, row.prompt, row.target, row.answer),
        )
        result = FilterResult(row.filter, row.extracted, row.score, row.passed)
        document.results.append(result)
    return list(documents.values())


def filters_of(eval_id: int) -> list[str]:
    """Return the filters that read the answers of an eval, strict before flexible."""
    found = EvalSample.objects.filter(eval=eval_id).values_list("filter", flat=True)
    return list(found.distinct().order_by("-filter"))


def counts(eval_ids: Sequence[int]) -> dict[int, int]:
    """Return how many documents are stored of each eval, in one query."""
    found = EvalSample.objects.filter(eval__in=eval_ids)
    totals = found.values_list("eval").annotate(n=Count("doc_id", distinct=True))
    return dict(totals)


def flipped(before: int, after: int, score: Filter) -> Flips | None:
    """Return which documents two evals answered otherwise, by one kind of score.

    None where they share no document. Lines without a score are no answers.
    """
    return flips(_answers(before, score), _answers(after, score))


def _answers(eval_id: int, score: Filter) -> list[tuple[int, bool]]:
    found = EvalSample.objects.filter(eval=eval_id, score__isnull=False)
    return list(_of_score(found, score).values_list("doc_id", "passed"))


def _of_score(found: QuerySet[EvalSample], score: Filter) -> QuerySet[EvalSample]:
    """Return the lines whose filter gives a kind of score, as ingestion reads it."""
    flexible = Q(filter__icontains="flex") | Q(filter__icontains="extract")
    return found.filter(flexible) if score == "flexible" else found.exclude(flexible)
