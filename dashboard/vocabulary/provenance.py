"""Where a row comes from: a run's own artifacts, or what the official site published.

What was published stands in artifacts of its own, one per file. No upload of a run can
have their names: GitHub allows no colon in them.
"""

ARTIFACTS = "artifacts"
PUBLISHED = "published"

PREFIX = f"{PUBLISHED}:"
BENCHMARKS = f"{PREFIX}benchmarks"
# It says less of a point than the newest rows do.
HISTORY = f"{PREFIX}history"
EVALUATIONS = f"{PREFIX}evaluations"
CHANGELOG = f"{PREFIX}changelog"
RUN = f"{PREFIX}run"

# Code of the flag that tells pages and files where a point comes from.
FLAG = PUBLISHED
