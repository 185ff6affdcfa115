"""Runs and what they left: attempts, jobs, artifacts, raw records, skips."""

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Lower
from django.urls import reverse

from dashboard.models.stamps import Stamped
from dashboard.models.validators import validate_repository


class Repository(models.Model):
    """A repository whose runs are kept; one flag says whether it is official."""

    full_name = models.CharField(
        max_length=200, unique=True, validators=[validate_repository]
    )
    is_official = models.BooleanField(default=False)
    sweep_workflow = models.CharField(
        max_length=200, default=".github/workflows/run-sweep.yml"
    )
    default_branch = models.CharField(max_length=200, default="main")

    class Meta:
        verbose_name_plural = "repositories"
        constraints = [
            # Letter case never makes another repository.
            models.UniqueConstraint(Lower("full_name"), name="repository_name_unique"),
        ]

    def __str__(self) -> str:
        return self.full_name


class Run(Stamped):
    """One workflow run. ``created_at`` is GitHub's and orders runs in time."""

    class Publication(models.TextChoices):
        OFFICIAL = "official", "official"
        UNOFFICIAL = "unofficial", "unofficial"
        HIDDEN = "hidden", "hidden"

    repository = models.ForeignKey(
        Repository, on_delete=models.PROTECT, related_name="runs"
    )
    github_run_id = models.BigIntegerField()
    workflow_path = models.TextField(blank=True, default="")
    title = models.TextField(blank=True, default="")
    event = models.CharField(max_length=60, blank=True, default="")
    branch = models.TextField(blank=True, default="")
    sha = models.CharField(max_length=64, blank=True, default="")
    pr_number = models.PositiveIntegerField(null=True, blank=True)
    actor = models.TextField(blank=True, default="")
    url = models.TextField(blank=True, default="")
    status = models.CharField(max_length=40, blank=True, default="")
    conclusion = models.CharField(max_length=40, blank=True, default="")
    attempt = models.PositiveIntegerField(default=1, help_text="newest attempt")
    created_at = models.DateTimeField()
    publication = models.CharField(
        max_length=10, choices=Publication.choices, default=Publication.UNOFFICIAL
    )
    published_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    published_at = models.DateTimeField(null=True, blank=True)
    reuse_source_run_id = models.BigIntegerField(
        null=True, blank=True, help_text="the run whose measurements this one publishes"
    )
    jobs_known = models.BooleanField(default=False)
    snapshot = models.JSONField(
        default=dict,
        blank=True,
        help_text="config file name to [method, sha, sha256] used for mapping",
    )
    recipes = models.JSONField(
        default=list, blank=True, help_text="recipe fingerprints that its rows name"
    )
    planned_count = models.PositiveIntegerField(null=True, blank=True)
    received_count = models.PositiveIntegerField(default=0)
    eval_count = models.PositiveIntegerField(default=0)
    eval_planned_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="evals that its jobs name; unknown without"
    )
    eval_plan = models.JSONField(
        null=True,
        blank=True,
        help_text="what was to be evaluated, and how that is known; unknown without",
    )
    skip_count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            # An id belongs to one repository: a second one is refused.
            models.UniqueConstraint(fields=["github_run_id"], name="run_id_unique"),
            models.CheckConstraint(
                condition=models.Q(
                    publication__in=["official", "unofficial", "hidden"]
                ),
                name="run_publication_known",
            ),
            models.CheckConstraint(
                condition=models.Q(published_by__isnull=True)
                | models.Q(published_at__isnull=False),
                name="run_published_by_has_time",
            ),
        ]
        indexes = [
            # The run list, newest first.
            models.Index(fields=["-created_at"], name="run_newest"),
            # A source run looks for the merge run that publishes it.
            models.Index(
                fields=["reuse_source_run_id"],
                condition=models.Q(reuse_source_run_id__isnull=False),
                name="run_reuse_source",
            ),
            # A new config file looks for the runs that measured its recipes, and for
            # those mapped with an earlier sight of it.
            GinIndex(fields=["recipes"], name="run_recipes"),
            GinIndex(
                fields=["snapshot"], opclasses=["jsonb_path_ops"], name="run_snapshot"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.repository_id}/{self.github_run_id}"

    def get_absolute_url(self) -> str:
        """Return the page of this run."""
        return reverse("run", args=[self.github_run_id])

    @property
    def official_at(self) -> object:
        """Return the date under which the run counts as official."""
        return self.published_at or self.created_at

    @property
    def missing_count(self) -> int | None:
        """Return how many planned points did not come, None without a plan."""
        if self.planned_count is None:
            return None
        return max(self.planned_count - self.received_count, 0)


class RunAttempt(models.Model):
    """One execution of a run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts")
    attempt = models.PositiveIntegerField()
    status = models.CharField(max_length=40, blank=True, default="")
    conclusion = models.CharField(max_length=40, blank=True, default="")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["attempt"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "attempt"], name="run_attempt_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id} attempt {self.attempt}"


class Job(models.Model):
    """One job of a run; its name says which points were planned."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="jobs")
    github_job_id = models.BigIntegerField()
    attempt = models.PositiveIntegerField(default=1)
    name = models.TextField()
    status = models.CharField(max_length=40, blank=True, default="")
    conclusion = models.CharField(max_length=40, blank=True, default="")
    runner_name = models.TextField(blank=True, default="")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "github_job_id"], name="job_unique_in_run"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Artifact(Stamped):
    """One upload of a run. ``members`` lists [name, size, sha256] of its files."""

    class State(models.TextChoices):
        FETCHED = "fetched", "fetched"
        REJECTED = "rejected", "rejected"
        EXPIRED = "expired", "expired"
        LISTED = "listed", "listed, not fetched"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="artifacts")
    github_artifact_id = models.BigIntegerField(null=True, blank=True)
    name = models.TextField()
    kind = models.CharField(max_length=40)
    name_parts = models.JSONField(default=dict, blank=True)
    attempt = models.PositiveIntegerField(default=1)
    size_bytes = models.BigIntegerField(null=True, blank=True)
    uploaded_at = models.DateTimeField(null=True, blank=True)
    expired = models.BooleanField(default=False)
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="when GitHub deletes it, as GitHub says"
    )
    sha256 = models.CharField(max_length=64, blank=True, default="")
    members = models.JSONField(default=list, blank=True)
    state = models.CharField(max_length=10, choices=State.choices)
    reason = models.TextField(blank=True, default="")
    bytes_forgotten_at = models.DateTimeField(
        null=True, blank=True, help_text="when retention deleted its bytes"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "github_artifact_id"],
                condition=models.Q(github_artifact_id__isnull=False),
                name="artifact_id_unique_in_run",
            ),
            models.UniqueConstraint(
                fields=["run", "name", "sha256"],
                condition=models.Q(github_artifact_id__isnull=True),
                name="artifact_bytes_unique_in_run",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["fetched", "rejected", "expired", "listed"]
                ),
                name="artifact_state_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RawRecord(models.Model):
    """A record as it was uploaded: canonical JSON text, never changed."""

    # Found by the unique index, which begins with it.
    artifact = models.ForeignKey(
        Artifact, on_delete=models.CASCADE, related_name="records", db_index=False
    )
    member = models.TextField()
    index = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    body = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["artifact", "member", "index"], name="raw_record_place_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.member}[{self.index}]"


class RunStat(models.Model):
    """Job successes of one cluster or hardware key, as the run counted them."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="stats")
    raw_key = models.TextField()
    hardware = models.CharField(max_length=40, blank=True, default="")
    successes = models.PositiveIntegerField()
    total = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "raw_key"], name="run_stat_key_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.raw_key}: {self.successes} of {self.total}"


class Skip(models.Model):
    """Something that was not taken, and why. Artifact null: the run itself."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="skips")
    artifact = models.ForeignKey(
        Artifact, null=True, blank=True, on_delete=models.CASCADE, related_name="skips"
    )
    member = models.TextField(blank=True, default="")
    index = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=60)
    detail = models.TextField(blank=True, default="")
    is_from_reading = models.BooleanField(
        default=False, help_text="about bytes, not about a stored record"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "artifact", "member", "index", "reason"],
                nulls_distinct=False,
                name="skip_place_and_reason_unique",
            )
        ]

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"
