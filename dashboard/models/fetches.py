"""What is known of fetching from GitHub: when, from which source run, on whose call."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Now

from dashboard.models.runs import Repository, Run


class Fetch(models.Model):
    """When a run was last fetched, and how far it had come on GitHub by then."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="fetch")
    fetched_at = models.DateTimeField(help_text="when the list of artifacts was read")
    forge_updated_at = models.DateTimeField(
        null=True, blank=True, help_text="GitHub's time of the run's last change"
    )
    is_complete = models.BooleanField(
        default=False, help_text="finished there, and nothing was left out here"
    )
    gaps = models.JSONField(
        default=list, blank=True, help_text="a line per thing that could not be had"
    )

    class Meta:
        verbose_name_plural = "fetches"

    def __str__(self) -> str:
        return f"{self.run_id} at {self.fetched_at:%Y-%m-%d %H:%M}"


class ReuseLink(models.Model):
    """Which run a merge publishes instead of measuring again, and how that is known.

    By ids, not by rows: the link is known before either run is stored, and stays when
    they are made again.
    """

    class Method(models.TextChoices):
        NEWEST = "newest", "newest usable run of the pull request"
        COMMENT = "comment", "named by a comment"
        MANUAL = "manual", "paired by hand"

    repository = models.ForeignKey(
        Repository, on_delete=models.CASCADE, related_name="reuse_links"
    )
    merge_run_id = models.BigIntegerField(
        unique=True, validators=[MinValueValidator(1)]
    )
    source_run_id = models.BigIntegerField(validators=[MinValueValidator(1)])
    pr_number = models.PositiveIntegerField(null=True, blank=True)
    method = models.CharField(max_length=10, choices=Method.choices)
    evidence = models.TextField(blank=True, default="", help_text="comment or reason")
    found_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(merge_run_id=models.F("source_run_id")),
                name="reuse_link_two_runs",
            ),
            models.CheckConstraint(
                condition=models.Q(method__in=["newest", "comment", "manual"]),
                name="reuse_link_method_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.merge_run_id} publishes {self.source_run_id}"


class WebhookDelivery(models.Model):
    """A delivery that was taken, by its id: the same one is never acted on again."""

    delivery_id = models.CharField(max_length=100, unique=True)
    event = models.CharField(max_length=60)
    github_run_id = models.BigIntegerField(null=True, blank=True)
    received_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "webhook deliveries"

    def __str__(self) -> str:
        return f"{self.event} {self.delivery_id}"
