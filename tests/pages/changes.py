"""What the tests of changes share: entries, swaps and config changes as rows."""

# mypy: allow-untyped-calls

from datetime import UTC, datetime, timedelta
from typing import Any

from django.urls import reverse

from dashboard.models import ChangelogEntry, ConfigChange
from tests import factories

KEY = "qwen3.5-fp4-mi355x-sglang"
OTHER = "dsr1-fp8-h200-vllm"
DAY = datetime(2026, 8, 20, 12, tzinfo=UTC)
OLD, NEW = "amd/Model-397B-MXFP4", "amd/Model-397B-MXFP4-V2"
PULL = "https://github.com/example/bench/pull"
# Keys of today and of the past, six lists with their sizes, points and evals of swaps,
# and the freshness of the data.
QUERIES = 17


def text_of(response: Any) -> str:
    """Return what a reader sees, roughly: one blank for each run of white space."""
    return " ".join(response.content.decode().split())


def listed(client: Any, name: str, query: str = "") -> list[Any]:
    """Return the rows of one list of the page."""
    page = client.get(f"{reverse('changes')}?{query}")
    assert page.status_code == 200
    shown = page.context["shown"].get(name)
    return [] if shown is None else [row for row, _ in shown.rows]


def entry_of_file(**given: Any) -> ChangelogEntry:
    given = {"base_ref": "", "head_ref": "", "index": 0, **given}
    repository = given.pop("repository", None) or factories.RepositoryFactory()
    entry: ChangelogEntry = factories.ChangelogEntryFactory(
        run=None, repository=repository, **given
    )
    return entry


def config_change(**given: Any) -> ConfigChange:
    repository = factories.RepositoryFactory()
    defaults = {"config_key": KEY, "kind": "image", "sha": "f4eaa3981", "at": DAY}
    return ConfigChange.objects.create(repository=repository, **{**defaults, **given})


def swapped(**given: Any) -> Any:
    """Make two official sweeps of a key, the later one with other weights."""
    key = factories.ConfigKeyFactory(key=given.pop("key", KEY))
    before = factories.SweepFactory(
        config_key=key,
        official=True,
        state="former",
        segment=1,
        checkpoint=factories.CheckpointFactory(name=OLD),
        official_at=DAY - timedelta(days=1),
    )
    after = factories.SweepFactory(
        config_key=key,
        official=True,
        segment=2,
        is_swap=True,
        previous=before,
        checkpoint=factories.CheckpointFactory(name=NEW),
        official_at=DAY,
        breaks=[{"kind": "checkpoint", "from": OLD, "to": NEW}],
        markers=[
            {"kind": "grid", "dropped": [["TP4", [4, 8]]], "added": [["TP8", [1]]]},
            {"kind": "image", "from": "img:1", "to": "img:2"},
        ],
        **given,
    )
    return before, after
