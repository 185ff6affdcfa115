"""Requests for work: who asked for which ingestion, and how far it came."""

from django.db import models
from django.db.models.functions import Now


class IngestRequest(models.Model):
    """One request for work of the ingest side, with its progress."""

    class Kind(models.TextChoices):
        PATH = "path", "a bundle on disk"
        RUN = "run", "a run by its id"
        REPLAY = "replay", "stored records again"
        DERIVE = "derive", "sweeps and states again"

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        PARTLY = "partly", "partly done"
        FAILED = "failed", "failed"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    target = models.TextField(help_text="path or run id as it was asked for")
    github_run_id = models.BigIntegerField(null=True, blank=True)
    requested_by = models.TextField(blank=True, default="")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    step = models.CharField(max_length=40, blank=True, default="")
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True, default="")
    counts = models.JSONField(default=dict, blank=True)
    requested_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            # The home and run pages list the newest requests.
            models.Index(fields=["-requested_at"], name="request_newest"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["queued", "running", "done", "partly", "failed"]
                ),
                name="request_state_known",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target}: {self.state}"
