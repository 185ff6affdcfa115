"""What changed: changelog entries, config changes, notices by staff, faulty files."""

from typing import NamedTuple

from django.db import models
from django.db.models.functions import Now

from dashboard.models.configs import ConfigKey
from dashboard.models.runs import Repository, Run
from dashboard.vocabulary.links import pull_link, web_link


class PullRequest(NamedTuple):
    """A pull request; its number is None and its address empty where not known."""

    number: int | None = None
    address: str = ""


class ChangelogEntry(models.Model):
    """One entry of a run's changelog, or of a repository's whole file.

    Several entries of a run are kept apart. An entry of the file has no run, and its
    repository and its place in the file instead.
    """

    class LinkState(models.TextChoices):
        GOOD = "good", "good"
        PLACEHOLDER = "placeholder", "placeholder"
        MISSING = "missing", "missing"
        INVALID = "invalid", "invalid"

    run = models.ForeignKey(
        Run,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="changelog",
    )
    repository = models.ForeignKey(
        Repository,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="changelog",
        help_text="whose whole file it stands in; null for entries of a run",
    )
    base_ref = models.TextField(blank=True, default="")
    head_ref = models.TextField(blank=True, default="")
    index = models.PositiveIntegerField()
    raw_keys = models.JSONField(default=list)
    expanded_keys = models.JSONField(default=list)
    unknown_keys = models.JSONField(default=list)
    retired_keys = models.JSONField(
        db_default=models.Value([], models.JSONField()),
        blank=True,
        help_text="unknown today, but keys once",
    )
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
            models.UniqueConstraint(
                fields=["repository", "index"],
                condition=models.Q(run__isnull=True),
                name="changelog_file_entry_unique",
            ),
            models.CheckConstraint(
                condition=models.Q(run__isnull=False, repository__isnull=True)
                | models.Q(run__isnull=True, repository__isnull=False),
                name="changelog_entry_of_run_or_file",
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

    @property
    def pull_request(self) -> PullRequest:
        """Return the pull request of the entry, by its link or its run.

        A link that is no good one never becomes an address: the run's own pull request
        stands in, if GitHub told it.
        """
        if self.link_state == self.LinkState.GOOD:
            return PullRequest(self.pr_number, web_link(self.pr_link))
        if self.run is None or self.run.pr_number is None:
            return PullRequest()
        number = self.run.pr_number
        return PullRequest(number, pull_link(self.run.url, number))


class ConfigChange(models.Model):
    """One change of a config key in the history of a repository's master configs.

    For times of which no whole master was imported. ``config_key`` is text: keys of
    the past need not be known today.
    """

    class Kind(models.TextChoices):
        ADDED = "added", "added"
        REMOVED = "removed", "removed"
        MODEL = "model", "checkpoint"
        IMAGE = "image", "image"
        RUNNER = "runner", "runner"
        PRECISION = "precision", "precision"
        FRAMEWORK = "framework", "framework"
        PREFIX = "model-prefix", "model prefix"

    repository = models.ForeignKey(
        Repository, on_delete=models.CASCADE, related_name="config_changes"
    )
    config_key = models.CharField(max_length=200)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    sha = models.CharField(max_length=64)
    at = models.DateTimeField()
    before = models.TextField(blank=True, default="")
    after = models.TextField(blank=True, default="")
    is_swap = models.BooleanField(
        default=False, help_text="other weights; false for another spelling of them"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "config_key", "kind", "sha"],
                name="config_change_unique",
            ),
            models.CheckConstraint(
                condition=models.Q(is_swap=False) | models.Q(kind="model"),
                name="config_change_swap_is_of_model",
            ),
        ]
        indexes = [
            # /changes lists them newest first; /keys/<key> those of one key.
            models.Index(fields=["-at"], name="config_change_newest"),
            models.Index(fields=["config_key", "-at"], name="config_change_of_key"),
        ]

    def __str__(self) -> str:
        return f"{self.config_key}: {self.kind} at {self.sha[:8]}"


class Notice(models.Model):
    """What staff say of keys: a note, a marker in their history, or a break of it.

    Every scope that is given must agree; none at all is about everything. A marker or
    a break stands at ``at``.
    """

    class Kind(models.TextChoices):
        NOTE = "note", "note"
        MARKER = "marker", "marker in the history"
        BREAK = "break", "break: nothing is compared across it"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    text = models.TextField()
    config_key = models.ForeignKey(
        ConfigKey, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    framework = models.CharField(max_length=60, blank=True, default="")
    model = models.CharField(max_length=60, blank=True, default="")
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.CASCADE, related_name="notices"
    )
    at = models.DateTimeField(help_text="from when it holds")
    expires_at = models.DateTimeField(null=True, blank=True)
    author = models.TextField()
    made_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(text=""), name="notice_says"),
            models.CheckConstraint(
                condition=~models.Q(author=""), name="notice_has_author"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["note", "marker", "break"]),
                name="notice_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:60]

    @property
    def is_in_history(self) -> bool:
        """Tell whether histories are derived with it: a marker or a break."""
        return self.kind != self.Kind.NOTE

    @property
    def scope(self) -> dict[str, str]:
        """Return what it is about, as names and values; empty is everything."""
        named = {
            "config_key": self.config_key.key if self.config_key else "",
            "framework": self.framework,
            "model": self.model,
            "run": str(self.run.github_run_id) if self.run else "",
        }
        return {name: value for name, value in named.items() if value}

    def is_about(self, key: ConfigKey) -> bool:
        """Tell whether every scope that is given agrees with a key."""
        scopes = (
            (self.config_key_id, key.pk),
            (self.framework, key.framework),
            (self.model, key.model),
        )
        return all(not asked or asked == found for asked, found in scopes)


class FileDefect(models.Model):
    """What is wrong with a config file or a changelog that was to be imported.

    The file may not have been stored at all, so repository and file are names.
    """

    repository = models.CharField(max_length=201)
    name = models.CharField(max_length=100, help_text="file name")
    sha = models.CharField(max_length=64, blank=True, default="")
    text = models.CharField(max_length=500)
    seen_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "name", "sha", "text"],
                name="file_defect_unique",
            ),
            models.CheckConstraint(
                condition=~models.Q(text=""), name="file_defect_says"
            ),
        ]
        indexes = [
            # /changes lists them newest first.
            models.Index(fields=["-seen_at"], name="file_defect_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"
