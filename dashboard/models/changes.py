"""Changelog entries of runs, as written and as expanded."""

from django.db import models

from dashboard.models.runs import Run


class ChangelogEntry(models.Model):
    """One entry of a run's changelog; several entries of a run are kept apart."""

    class LinkState(models.TextChoices):
        GOOD = "good", "good"
        PLACEHOLDER = "placeholder", "placeholder"
        MISSING = "missing", "missing"
        INVALID = "invalid", "invalid"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="changelog")
    base_ref = models.TextField(blank=True, default="")
    head_ref = models.TextField(blank=True, default="")
    index = models.PositiveIntegerField()
    raw_keys = models.JSONField(default=list)
    expanded_keys = models.JSONField(default=list)
    unknown_keys = models.JSONField(default=list)
    description = models.JSONField(default=list)
    pr_link = models.TextField(blank=True, default="")
    pr_number = models.PositiveIntegerField(null=True, blank=True)
    link_state = models.CharField(max_length=12, choices=LinkState.choices)
    scenario_types = models.JSONField(default=list, blank=True)
    evals_only = models.BooleanField(default=False)
    all_evals = models.BooleanField(default=False)
    append_only = models.BooleanField(default=False)
    defects = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "base_ref", "head_ref", "index"],
                name="changelog_entry_unique",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    link_state__in=["good", "placeholder", "missing", "invalid"]
                ),
                name="changelog_link_state_known",
            ),
        ]

    def __str__(self) -> str:
        return ", ".join(self.raw_keys)
