"""What changed around a key: changelog, definitions, imported history, notices."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from dashboard.analysis.definition_diff import FieldChange, field_changes
from dashboard.models import (
    ChangelogEntry,
    ConfigChange,
    ConfigDefinition,
    ConfigKey,
    ConfigSight,
    Notice,
    Regression,
    Run,
)
from dashboard.queries.regressions import SHOWN

MOST_CHANGES = 500


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """What a config's entry says otherwise than the version before.

    ``is_mainline`` is false while only a pull request or a fork says so. The first
    version changes nothing and has no fields.
    """

    definition: ConfigDefinition
    fields: list[FieldChange]
    is_mainline: bool

    @property
    def at(self) -> datetime:
        """Return when this version was first seen."""
        return self.definition.first_seen_at


def changelog(key: str) -> list[ChangelogEntry]:
    """Return the entries that name a key: of runs, newest first, then of the file.

    A file grows at its end, so that its last entry is the newest.
    """
    named = (
        Q(expanded_keys__contains=[key])
        | Q(retired_keys__contains=[key])
        | Q(raw_keys__contains=[key])
    )
    related = ChangelogEntry.objects.filter(named).select_related(
        "run__repository", "run__published_by", "repository"
    )
    shown = related.exclude(run__publication=Run.Publication.HIDDEN)
    newest = F("run__created_at").desc(nulls_last=True)
    return list(shown.order_by(newest, "-index")[:MOST_CHANGES])


def definition_changes(key: ConfigKey) -> list[DefinitionChange]:
    """Return each version of a key's entry against the one before, oldest first."""
    mainline = ConfigSight.objects.filter(
        definition=OuterRef("pk"), is_mainline=True, repository__is_official=True
    )
    found = list(
        key.definitions.annotate(is_mainline=Exists(mainline)).order_by(
            "first_seen_at", "pk"
        )
    )
    before = {new.pk: old.entry for old, new in pairwise(found)}
    return [
        DefinitionChange(
            new,
            field_changes(before[new.pk], new.entry) if new.pk in before else [],
            new.is_mainline,
        )
        for new in found
    ]


def imported_changes(key: str) -> list[ConfigChange]:
    """Return what the imported history of the configs says of a key, newest first."""
    found = ConfigChange.objects.filter(config_key=key).select_related("repository")
    return list(found.order_by("-at", "-pk")[:MOST_CHANGES])


def notices(key: ConfigKey, github_run_ids: Iterable[int]) -> list[Notice]:
    """Return what staff say of a key or of its runs now, newest first."""
    found = Notice.objects.filter(
        Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now()),
        Q(config_key__isnull=True) | Q(config_key=key),
        Q(run__isnull=True) | Q(run__github_run_id__in=set(github_run_ids)),
        framework__in=["", key.framework],
        model__in=["", key.model],
    )
    return list(found.select_related("run").order_by("-at", "-pk"))


def is_open(regression: Regression) -> bool:
    """Tell whether somebody still has to look at a regression."""
    return regression.recovered_by_id is None and regression.state in Regression.OPEN


def regressions(key: ConfigKey, scenario: str) -> Sequence[Regression]:
    """Return the regressions of a key and scenario, newest first."""
    found = Regression.objects.filter(
        SHOWN, config_key=key, scenario=scenario, is_active=True
    ).select_related("run", "recovered_by", "first_bad")
    return list(found.order_by("-run__created_at", "kind"))
