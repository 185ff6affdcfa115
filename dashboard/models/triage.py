"""What comparisons found of official sweeps, and what people made of it."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse

from dashboard.models.configs import ConfigKey
from dashboard.models.points import Sweep
from dashboard.models.runs import Repository, Run
from dashboard.models.stamps import Stamped


class Judgement(Stamped):
    """The verdict on one official sweep against its baseline.

    Derived: made again whenever the sweep, its baseline or their order changes.
    ``numbers`` is the comparison as the API gives it.
    """

    class Verdict(models.TextChoices):
        REGRESSION = "regression", "regression"
        IMPROVEMENT = "improvement", "improvement"
        MIXED = "mixed", "mixed"
        WITHIN_NOISE = "within noise", "within noise"
        INCONCLUSIVE = "inconclusive", "inconclusive"
        NOT_COMPARABLE = "not comparable", "not comparable"
        NO_BASELINE = "no baseline", "no baseline"
        FAILED_EVALS = "failed evals", "failed evals"

    sweep = models.OneToOneField(
        Sweep, on_delete=models.CASCADE, related_name="judgement"
    )
    baseline = models.ForeignKey(
        Sweep, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    verdict = models.CharField(max_length=20, choices=Verdict.choices)
    reason = models.TextField(blank=True, default="")
    sentence = models.TextField(blank=True, default="")
    change = models.FloatField(null=True, help_text="like for like, a fraction")
    numbers = models.JSONField(default=dict)

    class Meta:
        indexes = [
            # /regressions lists improvements apart; / shows the newest.
            models.Index(fields=["verdict"], name="judgement_verdict"),
        ]

    def __str__(self) -> str:
        return f"{self.sweep_id}: {self.verdict}"


class Regression(Stamped):
    """Something that got worse with an official sweep, and its triage.

    Named by run, key, scenario and kind, not by the sweep's row: what people said of
    it outlives sweeps that are derived again. ``is_active`` is false while the data
    does not show it any more, by an exclusion say; the row and its history stay.
    """

    class Kind(models.TextChoices):
        PERFORMANCE = "performance", "performance"
        ACCURACY = "accuracy", "accuracy"
        COVERAGE = "coverage", "coverage"
        ERRORS = "errors", "errors"

    class State(models.TextChoices):
        UNTRIAGED = "untriaged", "untriaged"
        ACKNOWLEDGED = "acknowledged", "acknowledged"
        INVESTIGATING = "investigating", "investigating"
        EXPECTED = "expected", "expected"
        NOISE = "noise", "noise"
        INFRA = "infra", "infra"
        FIXED = "fixed", "fixed"
        WONT_FIX = "won't fix", "won't fix"

    OPEN = (State.UNTRIAGED, State.ACKNOWLEDGED, State.INVESTIGATING)

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="regressions")
    config_key = models.ForeignKey(
        ConfigKey, on_delete=models.PROTECT, related_name="regressions"
    )
    scenario = models.CharField(max_length=40)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    sweep = models.ForeignKey(
        Sweep, null=True, on_delete=models.SET_NULL, related_name="regressions"
    )
    baseline = models.ForeignKey(
        Sweep, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    is_active = models.BooleanField(default=True)
    is_strong = models.BooleanField(default=False)
    change = models.FloatField(null=True, help_text="a fraction, negative is worse")
    summary = models.TextField(blank=True, default="")
    numbers = models.JSONField(default=dict)
    first_bad = models.ForeignKey(
        Run,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="where a change point of the segment lies",
    )
    recovered_by = models.ForeignKey(
        Run, null=True, on_delete=models.SET_NULL, related_name="recoveries"
    )
    recovered_at = models.DateTimeField(null=True)
    # A later sweep is held against the baseline once, not with every run that comes.
    checks = models.JSONField(
        default=list,
        editable=False,
        help_text="ids of later sweeps that did not end it, oldest first",
    )
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.UNTRIAGED
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="regressions",
    )
    announced_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "config_key", "scenario", "kind"],
                name="regression_unique",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    kind__in=["performance", "accuracy", "coverage", "errors"]
                ),
                name="regression_kind_known",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    state__in=[
                        "untriaged",
                        "acknowledged",
                        "investigating",
                        "expected",
                        "noise",
                        "infra",
                        "fixed",
                        "won't fix",
                    ]
                ),
                name="regression_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(recovered_by__isnull=True)
                | models.Q(recovered_at__isnull=False),
                name="regression_recovered_when",
            ),
        ]
        indexes = [
            # /regressions: those of a state; every page: how many are untriaged.
            models.Index(
                fields=["state"],
                condition=models.Q(is_active=True),
                name="regression_of_state",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.config_key_id} in {self.run_id}"

    def get_absolute_url(self) -> str:
        """Return the page where it is triaged."""
        return reverse("regression", args=[self.pk])


class TriageEvent(models.Model):
    """One change that a person, or the system, made to a regression's triage."""

    regression = models.ForeignKey(
        Regression, on_delete=models.CASCADE, related_name="events"
    )
    author = models.TextField()
    at = models.DateTimeField(db_default=Now(), editable=False)
    from_state = models.CharField(max_length=16, blank=True, default="")
    to_state = models.CharField(max_length=16, blank=True, default="")
    owner = models.TextField(blank=True, default="", help_text="as it was set then")
    note = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(author=""), name="triage_event_has_author"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.author}: {self.to_state or self.note[:40]}"


class Noise(models.Model):
    """Pooled run-to-run noise of a metric, as measured on a day. A fraction."""

    metric = models.CharField(max_length=60)
    band = models.CharField(max_length=10, help_text="concurrencies, or all")
    as_of = models.DateField()
    value = models.FloatField()
    pairs = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "noise"
        constraints = [
            models.UniqueConstraint(
                fields=["metric", "band", "as_of"], name="noise_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(value__gte=0), name="noise_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.band}: {self.value:.4f}"


class PullRequestComment(models.Model):
    """The one comment on a pull request that tells the verdicts of its runs."""

    repository = models.ForeignKey(
        Repository, on_delete=models.CASCADE, related_name="comments"
    )
    pr_number = models.PositiveIntegerField()
    comment_id = models.BigIntegerField(null=True, blank=True)
    sections = models.JSONField(
        default=dict, blank=True, help_text="markdown by run id"
    )
    body_sha256 = models.CharField(max_length=64, blank=True, default="")
    is_deleted = models.BooleanField(
        default=False, help_text="a person deleted it: it is not made again"
    )
    updated_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "pr_number"], name="comment_one_per_pr"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.repository_id}#{self.pr_number}"
