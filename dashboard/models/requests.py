"""Requests for work: who asked for which ingestion, and how far it came."""

from django.db import models
from django.db.models.functions import Lower, Now
from django.urls import reverse


class IngestRequest(models.Model):
    """One request for work of the ingest side, with its progress."""

    class Kind(models.TextChoices):
        PATH = "path", "a bundle on disk"
        RUN = "run", "a run by its id"
        UPLOAD = "upload", "an uploaded bundle"
        REPLAY = "replay", "stored records again"
        DERIVE = "derive", "sweeps and states again"
        TRACE = "trace", "the requests of a point"

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        PARTLY = "partly", "partly done"
        FAILED = "failed", "failed"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    target = models.TextField(help_text="path or run id as it was asked for")
    repository = models.CharField(max_length=201, blank=True, default="")
    github_run_id = models.BigIntegerField(null=True, blank=True)
    requested_by = models.TextField(blank=True, default="")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    step = models.CharField(max_length=40, blank=True, default="")
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True, default="")
    counts = models.JSONField(default=dict, blank=True)
    tries = models.PositiveSmallIntegerField(
        default=0, help_text="how often a worker began it"
    )
    requested_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(
        db_default=Now(), help_text="when its task was last given to the broker"
    )
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            # The home and run pages list the newest requests.
            models.Index(fields=["-requested_at"], name="request_newest"),
            # The newest request of a run says whether it is fetched again.
            models.Index(
                fields=["github_run_id", "-requested_at"], name="request_of_run"
            ),
        ]
        constraints = [
            # However many people ask for a run, one worker fetches it.
            models.UniqueConstraint(
                Lower("repository"),
                "github_run_id",
                condition=models.Q(kind="run", state__in=["queued", "running"]),
                name="request_one_active_per_run",
            ),
            # So it is with the requests of a point, which takes as long.
            models.UniqueConstraint(
                fields=["target"],
                condition=models.Q(kind="trace", state__in=["queued", "running"]),
                name="request_one_active_per_trace",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["queued", "running", "done", "partly", "failed"]
                ),
                name="request_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target}: {self.state}"

    def get_absolute_url(self) -> str:
        """Return the page that follows this request."""
        return reverse("ingest_request", args=[self.pk])

    @property
    def is_active(self) -> bool:
        """Tell whether the work is still to be done or going on."""
        return self.state in {self.State.QUEUED, self.State.RUNNING}
