"""What a search finds: runs and config keys, in two queries whatever was typed."""

import re
from dataclasses import dataclass, field

from django.db.models import Case, Exists, OuterRef, Q, When
from django.db.models.query import QuerySet

from dashboard.models import ConfigKey, Run, Sweep
from dashboard.vocabulary.inputs import LARGEST_ID

MOST = 20
_RUN_ADDRESS = re.compile(r"/actions/runs/(\d{1,19})")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, grouped by what it was found by."""

    by_id: list[Run] = field(default_factory=list)
    by_pull: list[Run] = field(default_factory=list)
    by_text: list[Run] = field(default_factory=list)
    keys: list[ConfigKey] = field(default_factory=list)
    has_more_runs: bool = False
    has_more_keys: bool = False

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing was found."""
        return not (self.by_id or self.by_pull or self.by_text or self.keys)


def find(text: str) -> Found:
    """Look for a run id or address, a pull request, a commit, a key or title words.

    Every word must be found in the title, or every word in the key. The newest runs
    and the keys with a current sweep come first.
    """
    words = text.split()
    if not words:
        return Found()
    number = number_in(text)
    runs = list(_runs(words, number)[: MOST + 1])
    keys = list(_keys(words)[: MOST + 1])
    by_id = [run for run in runs if run.github_run_id == number]
    by_pull = [r for r in runs if r not in by_id and r.pr_number == number is not None]
    rest = [run for run in runs if run not in by_id and run not in by_pull]
    return Found(
        by_id, by_pull, rest[:MOST], keys[:MOST], len(runs) > MOST, len(keys) > MOST
    )


def number_in(text: str) -> int | None:
    """Return the id in ``7100``, ``#501`` or a run's address, None where there is none.

    Digits only: ``int`` would also take signs, blanks and underscores.
    """
    address = _RUN_ADDRESS.search(text)
    digits = address.group(1) if address else text.strip().removeprefix("#")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > len(
        str(LARGEST_ID)
    ):
        return None
    number = int(digits)
    return number if number <= LARGEST_ID else None


def text_matches(words: list[str], number: int | None) -> Q:
    """Return the condition of runs that a text means: by id, commit, title, branch."""
    found = _every("title", words) | _every("branch", words)
    if number is not None:
        found |= Q(github_run_id=number) | Q(pr_number=number)
    if len(words) == 1 and _COMMIT.fullmatch(words[0].lower()):
        found |= Q(sha__startswith=words[0].lower())
    return found


def _every(column: str, words: list[str]) -> Q:
    condition = Q()
    for word in words:
        condition &= Q(**{f"{column}__icontains": word})
    return condition


def _runs(words: list[str], number: int | None) -> QuerySet[Run]:
    """Return matching runs; the one whose id was typed is never cut off by newer."""
    is_meant = Case(When(github_run_id=number, then=1), default=0)
    found = Run.objects.select_related("repository").filter(text_matches(words, number))
    return found.order_by(is_meant.desc(), "-created_at", "-pk")


def _keys(words: list[str]) -> QuerySet[ConfigKey]:
    current = Sweep.objects.filter(config_key=OuterRef("pk"), state=Sweep.State.CURRENT)
    found = ConfigKey.objects.filter(_every("key", words))
    return found.annotate(is_measured=Exists(current)).order_by("-is_measured", "key")
