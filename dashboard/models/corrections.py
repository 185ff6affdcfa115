"""What people corrected: hide, hold, publish, exclude, with reason and undo."""

from django.db import models
from django.db.models.functions import Now

from dashboard.models.configs import ConfigKey
from dashboard.models.points import Deployment
from dashboard.models.runs import Run

TARGET = [
    "action",
    "run",
    "attempt",
    "config_key",
    "scenario",
    "deployment",
    "concurrency",
]


class Correction(models.Model):
    """One correction of a run, an attempt, a sweep or a point; narrower by field."""

    class Action(models.TextChoices):
        HIDE = "hide", "hide the run"
        HOLD = "hold", "hold the sweep"
        PUBLISH = "publish", "publish the sweep"
        EXCLUDE = "exclude", "exclude points"

    action = models.CharField(max_length=10, choices=Action.choices)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="corrections")
    attempt = models.PositiveIntegerField(null=True, blank=True)
    config_key = models.ForeignKey(
        ConfigKey, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    scenario = models.CharField(max_length=40, blank=True, default="")
    deployment = models.ForeignKey(
        Deployment, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    concurrency = models.PositiveIntegerField(null=True, blank=True)
    author = models.TextField()
    reason = models.TextField()
    made_at = models.DateTimeField(db_default=Now())
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.TextField(blank=True, default="")
    undo_reason = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            # Asking twice for the same correction changes nothing.
            models.UniqueConstraint(
                fields=TARGET,
                condition=models.Q(undone_at__isnull=True),
                nulls_distinct=False,
                name="correction_active_once",
            ),
            models.CheckConstraint(
                condition=~models.Q(reason=""), name="correction_has_reason"
            ),
            models.CheckConstraint(
                condition=~models.Q(author=""), name="correction_has_author"
            ),
            models.CheckConstraint(
                condition=models.Q(action__in=["hide", "hold", "publish", "exclude"]),
                name="correction_action_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.run_id}: {self.reason}"
