"""From the members of a run's artifacts to records, and from records to rows.

First ingestion, raw bytes before any parsing::

    bundle = open_bundle(path, limits)                  # ingest.artifacts.bundles
    conversion = RunConversion()
    for meta in reading_order(artifact_metas(bundle)):  # kinds that hold records
        source = bundle.artifacts[meta.position]
        contents = source.contents(limits)              # ArtifactError: reject, go on
        for member in contents.members:                 # store bytes, then go on
            ... member.chunks() / member.sha256() ...   # MemberError: refuse it
        reading = Reading(meta, contents, limits)
        for row in conversion.rows(meta, reading.records()):
            ...
        reading.skips      # SkipRows of reading: refused members, bad JSON
        reading.rejected   # (reason, detail) where nothing of it could be read
    conversion.notices()   # lines about the run's records, such as unknown fields

`Reading.records` is lazy and may be wrapped by a generator that stores each `Record`
(member, index, value, canonical text, sha256) as it passes.

Replay, from stored records alone::

    conversion = RunConversion()
    for meta in reading_order(metas):                   # ArtifactMeta per artifact
        records = (stored_record(member, index, text, sha256) for ...)
        rows = conversion.rows(meta, records)           # in (member, index) order

One `RunConversion` serves one run and must see its artifacts in `reading_order`: an
aggregate repeats what the artifacts of single points say, and of two aggregates,
changelogs or run statistics the newest counts. A record that is only a repetition
gives no row at all.
"""

from ingest.conversion.reading import (
    Reading,
    artifact_metas,
    is_own_record,
    reading_order,
)
from ingest.conversion.records import LONG_AGO, ArtifactMeta, Record, stored_record
from ingest.conversion.runs import RunConversion

__all__ = [
    "LONG_AGO",
    "ArtifactMeta",
    "Reading",
    "Record",
    "RunConversion",
    "artifact_metas",
    "is_own_record",
    "reading_order",
    "stored_record",
]
