"""Benchmark jobs of a run, each once, whatever number of attempts it took."""

from django.db import models

from dashboard.analysis.job_outcomes import OUTCOMES
from dashboard.models.runs import Run


class BenchmarkJob(models.Model):
    """One benchmark job by its name: what it was to measure, where, and how it ended.

    Derived from the run's ``Job`` rows, of which a job that was tried again has
    several. ``config_key`` is text, blank where the name fits no key; ``cluster`` is
    the label that the job asked for, else the pool of the machine it ran on.
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="benchmark_jobs", db_index=False
    )
    name = models.TextField()
    is_eval = models.BooleanField()
    config_key = models.TextField(blank=True)
    scenario = models.CharField(max_length=40, blank=True)
    hardware = models.CharField(max_length=40, blank=True)
    cluster = models.TextField(blank=True)
    outcome = models.CharField(
        max_length=10, choices=[(name, name) for name in OUTCOMES]
    )
    attempt = models.PositiveIntegerField(help_text="in which it ended so")
    failed_attempts = models.PositiveIntegerField()
    is_after_retry = models.BooleanField(
        help_text="succeeded after an attempt that failed or was cancelled"
    )

    class Meta:
        constraints = [
            # The index also finds the jobs of a run.
            models.UniqueConstraint(
                fields=["run", "name"], name="benchmark_job_name_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(outcome__in=list(OUTCOMES)),
                name="benchmark_job_outcome_known",
            ),
            models.CheckConstraint(
                condition=models.Q(is_after_retry=False)
                | models.Q(outcome="succeeded"),
                name="benchmark_job_retry_succeeded",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}"
