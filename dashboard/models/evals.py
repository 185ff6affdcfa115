"""Eval results: what a deployment scored on a task."""

from django.db import models

from dashboard.models.configs import ConfigKey
from dashboard.models.points import Deployment
from dashboard.models.runs import RawRecord, Run
from dashboard.models.stamps import Stamped


class EvalResult(Stamped):
    """One score; fractions in [0, 1]. ``concurrency`` is null where unknown."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="evals")
    config_key = models.ForeignKey(
        ConfigKey, on_delete=models.PROTECT, related_name="evals"
    )
    deployment = models.ForeignKey(
        Deployment, on_delete=models.PROTECT, related_name="evals"
    )
    scenario = models.CharField(max_length=40)
    concurrency = models.PositiveIntegerField(null=True)
    task = models.CharField(max_length=100)
    attempt = models.PositiveIntegerField(default=1)
    strict = models.FloatField(null=True)
    strict_se = models.FloatField(null=True)
    flexible = models.FloatField(null=True)
    flexible_se = models.FloatField(null=True)
    score = models.FloatField(null=True)
    n = models.PositiveIntegerField(null=True)
    lm_eval_version = models.CharField(max_length=40, blank=True, default="")
    measured_at = models.DateTimeField(null=True)
    result_file = models.TextField(blank=True, default="")
    is_current = models.BooleanField(default=True)
    mapping_method = models.CharField(max_length=20)
    mapping_candidates = models.JSONField(default=list)
    flags = models.JSONField(default=list)
    raw_record = models.ForeignKey(
        RawRecord, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "run",
                    "config_key",
                    "deployment",
                    "scenario",
                    "concurrency",
                    "task",
                    "attempt",
                ],
                nulls_distinct=False,
                name="eval_unique",
            ),
            models.CheckConstraint(
                condition=models.Q(strict__isnull=True)
                | models.Q(strict__gte=0, strict__lte=1),
                name="eval_strict_is_fraction",
            ),
            models.CheckConstraint(
                condition=models.Q(flexible__isnull=True)
                | models.Q(flexible__gte=0, flexible__lte=1),
                name="eval_flexible_is_fraction",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.deployment_id} c{self.concurrency}"
