"""What the requests of a replayed trace were, read once from the raw bytes."""

from django.db import models
from django.db.models.functions import Now


class RequestTrace(models.Model):
    """The requests of one file of a raw agentic tree; twice the same bytes is once.

    ``counts`` holds how many lines and requests there were of which kind, and what was
    not taken (``skipped``: reason to count). ``distributions`` holds by quantity what
    :func:`dashboard.analysis.request_distributions.distribution` returns; latencies in
    s, interactivity in tok/s. ``requests`` holds columns of equal length, ordered by
    start, of ``kept`` of the ``counts["requests"]`` requests: times in s since the
    first start.
    """

    artifact_sha256 = models.CharField(max_length=64)
    member = models.TextField()
    sha256 = models.CharField(max_length=64, help_text="of the bytes that were read")
    size_bytes = models.BigIntegerField()
    version = models.PositiveSmallIntegerField(help_text="of the reading")
    counts = models.JSONField()
    distributions = models.JSONField()
    requests = models.JSONField()
    kept = models.PositiveIntegerField(help_text="requests that are stored one by one")
    read_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["artifact_sha256", "member"], name="request_trace_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.member} of {self.artifact_sha256[:12]}"
