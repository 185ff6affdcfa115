"""Which config files apply to a run, and which runs a new version of one concerns."""

import hashlib
from collections.abc import Iterable, Iterator
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
    names = versions.order_by("name").values_list("name", flat=True).distinct()
    exact = _with_files(versions.filter(sha__in=_spellings(run.sha)))
    files = {
        v.name: Chosen("exact", v.sha, v.file.sha256)
        for v in exact.order_by("at", "sha")
    }
    others = [name for name in names if name not in files]
    best = _matrices_that_fit(versions, others, set(recipes) - {""})
    for name in others:
        files[name] = _choose(versions.filter(name=name), run, best.get(name))
    return Choice(dict(sorted(files.items())))


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


def _matrices_that_fit(
    versions: Versions, names: list[str], recipes: set[str]
) -> dict[str, list[int]]:
    """Return, by file name, the matrices that hold the most of the wanted recipes."""
    shared = _matrices_with(recipes) if names else {}
    if not shared:
        return {}
    held = versions.filter(name__in=names, matrix_id__in=shared).order_by()
    found: dict[str, list[int]] = {}
    for name, pk in held.values_list("name", "matrix_id").distinct():
        if pk is not None:
            found.setdefault(name, []).append(pk)
    most = {name: max(map(shared.__getitem__, pks)) for name, pks in found.items()}
    return {
        name: [pk for pk in pks if shared[pk] == most[name]]
        for name, pks in found.items()
    }


def _choose(versions: Versions, run: Run, fitting: list[int] | None) -> Chosen:
    if not fitting:
        method, chosen = _nearest(versions, run)
        return Chosen(method, chosen.sha, chosen.file.sha256)
    _, chosen = _nearest(versions.filter(matrix_id__in=fitting), run)
    beside = chosen.matrix.runners if chosen.matrix else None
    runners = beside.sha256 if beside else NOTHING
    return Chosen("fingerprint", chosen.sha, chosen.file.sha256, runners)


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


def _touched_by(new: ConfigSnapshot) -> Iterator[int]:
    """Return ids of the runs whose choice a new or changed version can alter.

    Runs of its commit, runs that were mapped with an earlier sight of it, runs that
    name one of its recipes, and runs to which it is the nearest in time. The first
    files of a repository replace the official ones for all its runs. Repositories
    without files of their own take the official ones.
    """
    known = ConfigSnapshot.objects.filter(repository=new.repository)
    with_files = ConfigSnapshot.objects.filter(repository=OuterRef("repository"))
    own = Run.objects.filter(repository=new.repository)
    strangers = Run.objects.filter(~Exists(with_files))
    mapped_with_it = Q(snapshot__contains={new.name: [new.sha]})
    if not new.repository.is_official:
        strangers = strangers.filter(mapped_with_it)  # it was official until now
    for runs in (own, strangers):
        if known.filter(is_applied=True).exists():
            yield from runs.filter(
                mapped_with_it
                | Q(sha__startswith=new.sha)
                | _is_nearest(new, known.filter(name=new.name).exclude(pk=new.pk))
            ).values_list("pk", flat=True)
            yield from _better_served(runs, new)
        else:
            yield from runs.values_list("pk", flat=True)


def _better_served(runs: QuerySet[Run], new: ConfigSnapshot) -> Iterator[int]:
    """Yield ids of runs that name more recipes of a version than of the chosen one.

    Or as many, where the version is not farther in time.
    """
    held = set(recipes_of(new))
    sharing = runs.filter(recipes__has_any_keys=sorted(held))
    recipes_at = lru_cache(maxsize=None)(_recipes_at)
    for run in sharing.only("recipes", "snapshot", "created_at"):
        method, sha, *_ = run.snapshot.get(new.name) or ("", "")
        at, chosen = recipes_at(new.name, sha)
        count = len(held.intersection(run.recipes))
        chosen_count = len(chosen.intersection(run.recipes))
        if method == "exact" or count < chosen_count:
            continue
        if count > chosen_count or _is_no_farther(new.at, at, run.created_at):
            yield run.pk


def _recipes_at(name: str, sha: str) -> tuple[datetime | None, frozenset[str]]:
    """Return the time and the recipes of a file at a commit; none where not one."""
    found = list(ConfigSnapshot.objects.filter(name=name, sha=sha)[:2])
    if len(found) != 1:
        return None, frozenset()
    return found[0].at, frozenset(recipes_of(found[0]))


def _is_no_farther(new: datetime, chosen: datetime | None, begun: datetime) -> bool:
    """Tell whether a version may be preferred: the newest before, else the first."""
    if chosen is None:
        return True
    if new <= begun:
        return chosen > begun or new >= chosen
    return chosen > begun and new <= chosen


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
