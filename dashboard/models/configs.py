"""Config keys, what the master configs said of them and when, checkpoints."""

from django.db import models
from django.db.models.functions import Lower, Now
from django.urls import reverse

from dashboard.models.runs import Repository
from dashboard.models.stamps import Stamped
from dashboard.vocabulary.checkpoints import base_name


class Checkpoint(models.Model):
    """The exact weights served, by their published name where one is known."""

    name = models.CharField(max_length=300)
    reference = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="the weights that its eval scores are to recover",
    )

    class Meta:
        constraints = [
            # Letter case never makes other weights.
            models.UniqueConstraint(Lower("name"), name="checkpoint_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def short_name(self) -> str:
        """Return the name without its publisher or path."""
        return base_name(self.name)


class CheckpointAliasQuerySet(models.QuerySet["CheckpointAlias"]):
    """What staff say of spellings."""

    def names(self) -> dict[str, str]:
        """Return the checkpoint's name by case-folded spelling, for comparisons."""
        pairs = self.values_list("spelling", "checkpoint__name")
        return {spelling.casefold(): name for spelling, name in pairs}


class CheckpointAlias(models.Model):
    """Another spelling of a checkpoint's name: a local path, a served name.

    Goes before a built-in spelling of the vocabulary, and before a checkpoint that
    has the spelling as its own name.
    """

    spelling = models.CharField(max_length=300)
    checkpoint = models.ForeignKey(
        Checkpoint, on_delete=models.CASCADE, related_name="spellings"
    )
    reason = models.TextField(help_text="how it is known that the weights are the same")
    author = models.TextField(editable=False)
    made_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = CheckpointAliasQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "checkpoint aliases"
        constraints = [
            models.UniqueConstraint(Lower("spelling"), name="checkpoint_alias_unique"),
            models.CheckConstraint(
                condition=~models.Q(spelling=""), name="checkpoint_alias_has_spelling"
            ),
            models.CheckConstraint(
                condition=~models.Q(reason=""), name="checkpoint_alias_has_reason"
            ),
            models.CheckConstraint(
                condition=~models.Q(author=""), name="checkpoint_alias_has_author"
            ),
        ]

    def __str__(self) -> str:
        return self.spelling


class ConfigFile(models.Model):
    """The text of a master config, once per content."""

    sha256 = models.CharField(max_length=64, unique=True)
    text = models.TextField()

    def __str__(self) -> str:
        return self.sha256[:12]


class ConfigMatrix(models.Model):
    """What a master config expands to beside a runners file, null without one.

    The runners file says how much memory a recipe may use, and that is hashed into
    the recipe's fingerprint.
    """

    master = models.ForeignKey(ConfigFile, on_delete=models.CASCADE, related_name="+")
    runners = models.ForeignKey(
        ConfigFile, null=True, on_delete=models.CASCADE, related_name="+"
    )

    class Meta:
        verbose_name_plural = "config matrices"
        constraints = [
            models.UniqueConstraint(
                fields=["master", "runners"],
                nulls_distinct=False,
                name="config_matrix_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.master_id} beside {self.runners_id}"


class ConfigRecipe(models.Model):
    """One recipe fingerprint of a matrix, and the digits that artifact names carry."""

    matrix = models.ForeignKey(
        ConfigMatrix, on_delete=models.CASCADE, related_name="recipes"
    )
    fingerprint = models.CharField(max_length=64)
    digits = models.CharField(max_length=16, help_text="its first 16")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["matrix", "fingerprint"], name="config_recipe_unique"
            ),
        ]
        indexes = [
            # A run looks for the matrices that hold its rows' recipes.
            models.Index(fields=["fingerprint"], name="config_recipe_fingerprint"),
            models.Index(fields=["digits"], name="config_recipe_digits"),
        ]

    def __str__(self) -> str:
        return self.digits


class ConfigSnapshot(models.Model):
    """A master config as it stood at a commit."""

    repository = models.ForeignKey(
        Repository, on_delete=models.PROTECT, related_name="snapshots"
    )
    sha = models.CharField(max_length=64)
    name = models.CharField(max_length=100, help_text="file name")
    at = models.DateTimeField(help_text="when the commit was made or first run")
    file = models.ForeignKey(
        ConfigFile, on_delete=models.PROTECT, related_name="snapshots"
    )
    matrix = models.ForeignKey(
        ConfigMatrix,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="snapshots",
        help_text="what it expands to; null for files that define no keys",
    )
    is_applied = models.BooleanField(
        default=False, help_text="runs mapped without it were mapped again"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "sha", "name"], name="snapshot_unique"
            ),
        ]
        indexes = [
            # The version nearest in time to a run.
            models.Index(
                fields=["repository", "name", "at", "sha"], name="snapshot_nearest"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} at {self.sha[:8]}"


class ConfigKey(Stamped):
    """The published name of a configuration. Opaque: never split on ``-``."""

    key = models.CharField(max_length=200, unique=True)
    model = models.CharField(max_length=60, blank=True, default="")
    precision = models.CharField(max_length=20, blank=True, default="")
    hardware = models.CharField(max_length=40, blank=True, default="")
    framework = models.CharField(max_length=60, blank=True, default="")
    scenario_kind = models.CharField(
        max_length=60, blank=True, default="", help_text="fixed-seq-len, agentic-coding"
    )
    is_synthetic = models.BooleanField(
        default=False, help_text="made for rows that map to no published key"
    )
    definition = models.ForeignKey(
        "ConfigDefinition",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )

    class Meta:
        indexes = [
            # /inference filters by model.
            models.Index(fields=["model"], name="config_key_model"),
        ]

    def __str__(self) -> str:
        return self.key

    def get_absolute_url(self) -> str:
        """Return the page of this key."""
        return reverse("key", args=[self.key])


class ConfigDefinition(models.Model):
    """What a key meant: one row per distinct content, with its first and last sight."""

    config_key = models.ForeignKey(
        ConfigKey, on_delete=models.CASCADE, related_name="definitions"
    )
    digest = models.CharField(max_length=64)
    checkpoint = models.ForeignKey(
        Checkpoint, on_delete=models.PROTECT, related_name="definitions"
    )
    image = models.TextField(blank=True, default="")
    runner = models.CharField(max_length=100, blank=True, default="")
    entry = models.JSONField(
        default=dict, help_text="the whole entry, search space included"
    )
    first_seen_sha = models.CharField(max_length=64)
    first_seen_at = models.DateTimeField()
    last_seen_sha = models.CharField(max_length=64)
    last_seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["config_key", "digest"], name="definition_content_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(first_seen_at__lte=models.F("last_seen_at")),
                name="definition_seen_in_order",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.config_key_id} {self.digest[:8]}"


class ConfigSight(models.Model):
    """That a repository has a definition, on its default branch or only beside it.

    Keys follow what official repositories hold on their default branch: a pull
    request or a fork redefines nothing for everybody.
    """

    definition = models.ForeignKey(
        ConfigDefinition, on_delete=models.CASCADE, related_name="sights"
    )
    repository = models.ForeignKey(
        Repository, on_delete=models.CASCADE, related_name="+"
    )
    is_mainline = models.BooleanField()
    last_at = models.DateTimeField(help_text="time of the newest commit that has it")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["definition", "repository", "is_mainline"],
                name="config_sight_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.definition_id} in {self.repository_id}"
