"""Config keys: master YAML to matrix entries, and rows and jobs to config keys."""

from ingest.config_keys.documents import ConfigError, load_list
from ingest.config_keys.entries import MatrixEntry
from ingest.config_keys.expansion import (
    KEY_GRAMMAR,
    ConfigDefinitionData,
    Expansion,
    expand_master,
)
from ingest.config_keys.fingerprints import fingerprint
from ingest.config_keys.mapping import Mapping, RowMapper, map_row, unmapped_key
from ingest.config_keys.plans import job_identity
from ingest.config_keys.snapshot import Snapshot
from ingest.config_keys.wildcards import expand_wildcards

__all__ = [
    "KEY_GRAMMAR",
    "ConfigDefinitionData",
    "ConfigError",
    "Expansion",
    "Mapping",
    "MatrixEntry",
    "RowMapper",
    "Snapshot",
    "expand_master",
    "expand_wildcards",
    "fingerprint",
    "job_identity",
    "load_list",
    "map_row",
    "unmapped_key",
]
