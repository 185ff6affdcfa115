"""Eval results: what a deployment scored on a task, and what it has to score."""

from django.db import models
from django.db.models.functions import Now

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
    repeats = models.JSONField(
        db_default=models.Value([], models.JSONField()),
        help_text="older results of the same eval: [time or null, strict, flexible]",
    )
    samples_source = models.CharField(
        max_length=90,
        db_default="",
        blank=True,
        help_text="SHA-256 of the file its samples were read from, and what cut them",
    )
    samples_forgotten_at = models.DateTimeField(
        null=True, blank=True, help_text="when retention deleted its documents"
    )
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


class EvalFloor(models.Model):
    """The least score of a task from a day on; of one model, or of all without own.

    An empty task stands for every task without a floor. ``filters`` are the scores
    that have to reach it, an empty list those that the task usually judges by.
    """

    model = models.CharField(max_length=60, blank=True, default="")
    task = models.CharField(max_length=100, blank=True, default="")
    minimum = models.FloatField(help_text="a fraction")
    filters = models.JSONField(default=list, blank=True)
    valid_from = models.DateField()
    source = models.TextField(help_text="who says so: a file at a commit, or a reason")
    author = models.TextField()
    made_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["model", "task", "valid_from"], name="eval_floor_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(minimum__gte=0, minimum__lte=1),
                name="eval_floor_is_fraction",
            ),
            models.CheckConstraint(
                condition=~models.Q(source="") & ~models.Q(author=""),
                name="eval_floor_says_why",
            ),
        ]

    def __str__(self) -> str:
        return (
            f"{self.model or 'every model'} {self.task or 'any task'}: {self.minimum:g}"
        )


class EvalSample(models.Model):
    """One document of an eval as one filter read its answer.

    ``prompt``, ``target`` and ``answer`` are plain text without NUL; PostgreSQL
    compresses them. ``score`` is what lm-eval gave, passed from one half on.
    """

    eval = models.ForeignKey(
        EvalResult, on_delete=models.CASCADE, related_name="samples"
    )
    doc_id = models.PositiveIntegerField()
    filter = models.CharField(max_length=60)
    score = models.FloatField(null=True)
    passed = models.BooleanField()
    prompt = models.TextField(blank=True, default="")
    target = models.TextField(blank=True, default="")
    answer = models.TextField(blank=True, default="")
    extracted = models.TextField(
        blank=True, default="", help_text="what the filter made of the answer"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["eval", "doc_id", "filter"], name="eval_sample_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.eval_id} document {self.doc_id} {self.filter}"
