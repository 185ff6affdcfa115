"""What is wrong with files of a repository, kept for people to see."""

from collections.abc import Iterable

from django.db import transaction

from dashboard.models import FileDefect
from ingest.artifacts.texts import clean_text, shortened
from ingest.tables import FILE_DEFECTS
from ingest.upserts import delete_others, upsert

LONGEST_TEXT = 500
LONGEST_NAME = 100
# A file of nothing but faults says it in its first ones.
MOST = 100


@transaction.atomic
def store_file_defects(
    texts: Iterable[str], *, repository: str, name: str, sha: str = ""
) -> None:
    """Keep exactly these defects of a file at a commit; those that went are removed."""
    file = shortened(clean_text(name), LONGEST_NAME)
    lines = [clean_text(" ".join(text.split())) for text in texts]
    told = dict.fromkeys(shortened(line, LONGEST_TEXT) for line in lines if line)
    rows = [(repository, file, sha, text) for text in list(told)[:MOST]]
    kept = upsert(FILE_DEFECTS, rows).ids.values() if rows else ()
    delete_others(FileDefect, kept, repository=repository, name=file, sha=sha)
