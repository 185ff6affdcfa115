"""A run as GitHub has it, as the bundle that the pipeline takes; knows no table."""

from ingest.fetching.bundle import Wanted, fetched
from ingest.fetching.listing import ListedRun, list_run

__all__ = ["ListedRun", "Wanted", "fetched", "list_run"]
