"""Records about the run itself: changelog, job statistics, reuse."""

from pydantic import Field, PositiveInt

from ingest.schemas.fields import Flag, RecordModel


class ChangelogEntry(RecordModel):
    """One entry; what may be missing or odd is typed as anything and judged later."""

    config_keys: object = Field(default=None, alias="config-keys")
    description: object = None
    pr_link: object = Field(default=None, alias="pr-link")
    scenario_type: object = Field(default=None, alias="scenario-type")
    evals_only: Flag = Field(default=None, alias="evals-only")
    all_evals: Flag = Field(default=None, alias="all-evals")
    append_only: Flag = Field(default=None, alias="append-only")


class Changelog(RecordModel):
    """The entries that triggered a run, and the two commits they lie between."""

    base_ref: str = ""
    head_ref: str = ""
    entries: list[object]


class RunStat(RecordModel):
    """How many jobs of one cluster or hardware succeeded."""

    n_success: int = Field(ge=0)
    total: int = Field(ge=0)


class ReuseSource(RecordModel):
    """Whose measurements a run publishes."""

    source_run_id: PositiveInt
