"""A deterministic story of benchmark runs, written as bundles for `ingest_path`."""

from demo.bundles import write_bundles
from demo.repository import REPOSITORY

__all__ = ["REPOSITORY", "write_bundles"]
