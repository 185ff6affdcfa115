"""Which config files apply to a run, and which runs a new version of one concerns."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.query import QuerySet

from dashboard.models import ConfigFile, ConfigRecipe, ConfigSnapshot, Run
from ingest.config_keys import ConfigError, Expansion, Snapshot
from ingest.snapshots import RUNNERS, expanded, is_master, recipes_of

SHORT_COMMIT = 7  # digits; fewer prove nothing
NOTHING = hashlib.sha256(b"").hexdigest()

Versions = QuerySet[ConfigSnapshot]


class Chosen(NamedTuple):
    """One config file: how it was chosen, its commit, its sha256.

    Where recipes chose a master, ``runners`` is the sha256 of the runners file beside
    which it holds them.
    """

    method: str
    sha: str
    digest: str
    runners: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """The config files that apply to a run, by name.

    Methods are ``exact``, ``fingerprint``, ``before`` and ``after``.
    """

    files: dict[str, Chosen]

    @property
    def snapshot(self) -> Snapshot | None:
        """The matrix of the chosen files, AMD's before NVIDIA's as in a run."""
        runners = self.files.get(RUNNERS)
        beside = runners.digest if runners else NOTHING
        pairs = tuple(
            (self.files[name].digest, self.files[name].runners or beside)
            for name in sorted(self.files)
            if is_master(name)
        )
        return _snapshot(pairs) if pairs else None

    def as_json(self) -> dict[str, list[str]]:
        """Return the choice as the run's row keeps it."""
        return {n: [part for part in file if part] for n, file in self.files.items()}

    def method_for(self, key: str) -> str:
        """Return how the file that defines a key was chosen, or an empty text."""
        for file in self.files.values():
            if key in _keys_of(file.digest):
                return file.method
        return ""


@lru_cache(maxsize=16)
def _snapshot(pairs: tuple[tuple[str, str], ...]) -> Snapshot:
    expansions = [_stored_expansion(*pair) for pair in pairs]
    return Snapshot([entry for e in expansions for entry in e.entries])


@lru_cache(maxsize=64)
def _stored_expansion(master: str, runners: str) -> Expansion:
    return expanded(_text(master), None if runners == NOTHING else _text(runners))


@lru_cache(maxsize=256)
def _keys_of(digest: str) -> frozenset[str]:
    """Return the keys a stored file defines; contents never change under a digest."""
    try:
        return frozenset(_stored_expansion(digest, NOTHING).definitions)
    except ConfigError:
        return frozenset()


def _text(digest: str) -> str:
    return ConfigFile.objects.get(sha256=digest).text


def choose(run: Run, recipes: Iterable[str]) -> Choice:
    """Choose, per config file, the version that applies to a run.

    The exact commit; else a version whose matrix holds recipes that the run's rows
    name; else the newest at or before the run; else the earliest after it. A
    repository's own files, else those of official ones.
    """
    versions = _versions_for(run)
    shared = _matrices_with({recipe for recipe in recipes if recipe})
    names = versions.order_by("name").values_list("name", flat=True).distinct()
    return Choice(
        {name: _choose(versions.filter(name=name), run, shared) for name in names}
    )


def _versions_for(run: Run) -> Versions:
    own = ConfigSnapshot.objects.filter(repository_id=run.repository_id)
    if own.exists():
        return own
    return ConfigSnapshot.objects.filter(repository__is_official=True)


def _matrices_with(recipes: set[str]) -> dict[int, int]:
    """Count, by matrix id, the wanted recipes; given in full or by 16 digits."""
    if not recipes:
        return {}
    full, short = Q(fingerprint__in=recipes), Q(digits__in=recipes)
    counted = (
        ConfigRecipe.objects.filter(full | short)
        .values("matrix_id")
        .annotate(
            full=Count("fingerprint", filter=full),
            short=Count("digits", filter=short, distinct=True),
        )
    )
    return {row["matrix_id"]: row["full"] + row["short"] for row in counted}


def _choose(versions: Versions, run: Run, shared: Mapping[int, int]) -> Chosen:
    if exact := _newest(versions.filter(sha__in=_spellings(run.sha))):
        return Chosen("exact", exact.sha, exact.file.sha256)
    found = set()
    if shared:
        fitting = versions.filter(matrix_id__in=shared).order_by()
        found = set(fitting.values_list("matrix_id", flat=True).distinct())
    if found:
        most = max(shared[pk] for pk in found)
        best = [pk for pk in found if shared[pk] == most]
        _, chosen = _nearest(versions.filter(matrix_id__in=best), run)
        beside = chosen.matrix.runners if chosen.matrix else None
        runners = beside.sha256 if beside else NOTHING
        return Chosen("fingerprint", chosen.sha, chosen.file.sha256, runners)
    method, chosen = _nearest(versions, run)
    return Chosen(method, chosen.sha, chosen.file.sha256)


def _spellings(sha: str) -> list[str]:
    """Return the ways to write a commit: in full, or at least 7 digits of it."""
    return [sha, *(sha[:size] for size in range(SHORT_COMMIT, len(sha)))] if sha else []


def _nearest(versions: Versions, run: Run) -> tuple[str, ConfigSnapshot]:
    before = _newest(versions.filter(at__lte=run.created_at))
    if before is not None:
        return "before", before
    return "after", _with_files(versions).order_by("at", "sha")[0]


def _newest(versions: Versions) -> ConfigSnapshot | None:
    return _with_files(versions).order_by("-at", "-sha").first()


def _with_files(versions: Versions) -> Versions:
    names = ("file__text", "matrix__runners__text")
    return versions.select_related("file", "matrix__runners").defer(*names)


class Sight(NamedTuple):
    """A version of a file as it was when stale runs were looked for."""

    pk: int
    at: datetime
    matrix_id: int | None


@dataclass(frozen=True, slots=True)
class Stale:
    """Runs that other config files fit better, and the versions that say so."""

    runs: list[Run]
    sights: list[Sight]


def stale_runs() -> Stale:
    """Return the runs whose choice of files differs from the one stored with them.

    Only runs that a version not yet applied can concern are looked at.
    """
    unapplied = ConfigSnapshot.objects.filter(is_applied=False)
    new = list(unapplied.select_related("repository"))
    touched = {pk for snapshot in new for pk in _touched_by(snapshot)}
    runs = Run.objects.select_related("repository").filter(pk__in=touched)
    stale = [
        run
        for run in runs.order_by("created_at", "pk")
        if choose(run, run.recipes).as_json() != run.snapshot
    ]
    return Stale(stale, [Sight(s.pk, s.at, s.matrix_id) for s in new])


def _touched_by(new: ConfigSnapshot) -> Iterable[int]:
    """Return ids of the runs whose choice a new or changed version can alter.

    Runs of its commit, runs that were mapped with an earlier sight of it, runs that
    name one of its recipes, and runs to which it is the nearest in time. The first
    files of a repository replace the official ones for all its runs. Repositories
    without files of their own take the official ones.
    """
    known = ConfigSnapshot.objects.filter(repository=new.repository)
    mapped_with_it = Q(snapshot__contains={new.name: [new.sha]})
    concerned = Q()
    if known.filter(is_applied=True).exists():
        concerned = (
            mapped_with_it
            | Q(sha__startswith=new.sha)
            | Q(recipes__has_any_keys=recipes_of(new))
            | _is_nearest(new, known.filter(name=new.name).exclude(pk=new.pk))
        )
    with_files = ConfigSnapshot.objects.filter(repository=OuterRef("repository"))
    runs = Run.objects.values_list("pk", flat=True)
    yield from runs.filter(concerned, repository=new.repository)
    if not new.repository.is_official:
        concerned = mapped_with_it  # it was official until now
    yield from runs.filter(~Exists(with_files), concerned)


def _is_nearest(new: ConfigSnapshot, others: Versions) -> Q:
    """Say when runs must have begun for a version to be the nearest one to them."""
    begun = Q()
    if others.filter(Q(at__lt=new.at) | Q(at=new.at, sha__lt=new.sha)).exists():
        begun &= Q(created_at__gte=new.at)
    after = others.filter(Q(at__gt=new.at) | Q(at=new.at, sha__gt=new.sha))
    following = after.order_by("at").values_list("at", flat=True).first()
    if following is not None:
        begun &= Q(created_at__lt=following)
    return begun or Q(pk__isnull=False)


def forget_unapplied(sights: Iterable[Sight]) -> None:
    """Note that every run has seen these versions, unless they changed meanwhile."""
    for sight in sights:
        ConfigSnapshot.objects.filter(
            pk=sight.pk, at=sight.at, matrix_id=sight.matrix_id
        ).update(is_applied=True)
