"""Which config keys a repository's masters define today, or at a commit."""

from collections.abc import Iterator

from django.db.models.query import QuerySet

from dashboard.models import ConfigSnapshot, Repository, Run
from ingest.config_keys import ConfigError
from ingest.derive import is_of_default_branch
from ingest.snapshots import expanded

MASTERS = "-master.yaml"


def keys_of_masters(repository: Repository, sha: str = "") -> list[str]:
    """Return the keys of the newest masters, or of those at a commit, in file order.

    A repository's own masters, else those of official ones. What only a pull request
    says is not said yet. Raises ConfigError where the commit is not imported; without
    any masters there are no keys.
    """
    versions = _versions(repository)
    if sha:
        chosen = list(versions.filter(sha__startswith=sha))
        if not chosen:
            raise ConfigError(f"no master config of commit {sha[:12]} is imported")
    else:
        chosen = list(_newest(versions))
    return list(dict.fromkeys(key for version in chosen for key in _keys(version)))


def _versions(repository: Repository) -> QuerySet[ConfigSnapshot]:
    masters = ConfigSnapshot.objects.filter(
        name__endswith=MASTERS, matrix__isnull=False
    )
    own = masters.filter(repository=repository)
    found = own if own.exists() else masters.filter(repository__is_official=True)
    return found.select_related("matrix__master", "matrix__runners").order_by("name")


def _newest(versions: QuerySet[ConfigSnapshot]) -> Iterator[ConfigSnapshot]:
    """Yield the newest version of each file that stands on a default branch."""
    seen = list(
        versions.order_by("name", "-at", "-sha").values_list("pk", "name", "sha")
    )
    beside = _shas_beside({sha for _, _, sha in seen})
    chosen: dict[str, int] = {}
    for pk, name, sha in seen:
        if sha not in beside:
            chosen.setdefault(name, pk)
    yield from versions.filter(pk__in=chosen.values())


def _shas_beside(shas: set[str]) -> set[str]:
    """Return the commits of which only runs beside the default branch are known."""
    runs = Run.objects.select_related("repository").filter(sha__in=shas)
    mainline: dict[str, bool] = {}
    for run in runs:
        mainline[run.sha] = mainline.get(run.sha, False) or is_of_default_branch(run)
    return {sha for sha, is_mainline in mainline.items() if not is_mainline}


def _keys(version: ConfigSnapshot) -> list[str]:
    matrix = version.matrix
    if matrix is None:
        return []
    runners = matrix.runners.text if matrix.runners else None
    return list(expanded(matrix.master.text, runners).definitions)
