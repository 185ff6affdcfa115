"""Deployments, sweeps and points: the measurements themselves."""

from django.db import models

from dashboard.models.configs import Checkpoint, ConfigKey
from dashboard.models.metrics_field import MetricsField
from dashboard.models.runs import RawRecord, Run
from dashboard.models.stamps import Stamped
from dashboard.vocabulary import acceptance, deployments
from dashboard.vocabulary.stored_metrics import as_doubles

EMPTY = models.Value([], models.JSONField())
# Official sweeps that are held, or current without their whole plan.
OPEN_SWEEPS = models.Q(state="held") | models.Q(
    state="current", received_count__lt=models.F("planned_count")
)


class GridLabels(models.Func):
    """The deployment labels of a grid as the text of a JSON array.

    The migration that added them makes the column of it: another template needs another
    class and a migration of its own.
    """

    template = "(jsonb_path_query_array(%(expressions)s, '$[*][0]'))::text"


class Deployment(models.Model):
    """One exact topology; the columns are those of the vocabulary's tuple."""

    multinode = models.BooleanField()
    disagg = models.BooleanField()
    tp = models.PositiveIntegerField(null=True)
    pp = models.PositiveIntegerField(null=True)
    dcp = models.PositiveIntegerField(null=True)
    pcp = models.PositiveIntegerField(null=True)
    ep = models.PositiveIntegerField(null=True)
    dp_attention = models.BooleanField(null=True)
    prefill_workers = models.PositiveIntegerField(null=True)
    prefill_tp = models.PositiveIntegerField(null=True)
    prefill_pp = models.PositiveIntegerField(null=True)
    prefill_dcp = models.PositiveIntegerField(null=True)
    prefill_pcp = models.PositiveIntegerField(null=True)
    prefill_ep = models.PositiveIntegerField(null=True)
    prefill_dp_attention = models.BooleanField(null=True)
    decode_workers = models.PositiveIntegerField(null=True)
    decode_tp = models.PositiveIntegerField(null=True)
    decode_pp = models.PositiveIntegerField(null=True)
    decode_dcp = models.PositiveIntegerField(null=True)
    decode_pcp = models.PositiveIntegerField(null=True)
    decode_ep = models.PositiveIntegerField(null=True)
    decode_dp_attention = models.BooleanField(null=True)
    prefill_hardware = models.CharField(max_length=40, default="", blank=True)
    decode_hardware = models.CharField(max_length=40, default="", blank=True)
    kv_offloading = models.CharField(max_length=40, default="none")
    kv_offload_backend = models.CharField(max_length=60, default="", blank=True)
    spec_method = models.CharField(max_length=40, default="none")
    label = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=list(deployments.Deployment._fields),
                nulls_distinct=False,
                name="deployment_topology_unique",
            )
        ]

    def __str__(self) -> str:
        return self.label


class Sweep(Stamped):
    """All points one run measured for one key and scenario: the unit of a curve.

    ``state`` is null while the run is not official. ``planned`` lists
    [deployment label, concurrency]; ``planned_count`` is null where no plan is known.
    ``grid`` is what was measured: a list of [deployment label, [concurrencies]].

    ``segment`` counts from 1 within key and scenario, null unless the sweep is or was
    current. ``breaks`` says what began it, ``markers`` what changed inside it, each
    against ``previous``: dicts as :mod:`dashboard.analysis.segments` makes them.
    """

    class State(models.TextChoices):
        CURRENT = "current", "current"
        FORMER = "former", "former"
        HELD = "held", "held"

    class Acceptance(models.TextChoices):
        NOT_APPLICABLE = acceptance.NONE, "no speculative decoding"
        REAL = acceptance.REAL, "measured"
        DECLARED = acceptance.DECLARED, "synthetic, declared in the config"
        POLICY = acceptance.POLICY, "synthetic by policy, unverified"
        UNKNOWN = acceptance.UNKNOWN, "unknown"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="sweeps")
    config_key = models.ForeignKey(
        ConfigKey, on_delete=models.PROTECT, related_name="sweeps"
    )
    scenario = models.CharField(max_length=40)
    checkpoint = models.ForeignKey(
        Checkpoint, null=True, on_delete=models.PROTECT, related_name="sweeps"
    )
    image = models.TextField(blank=True, default="")
    images = models.JSONField(default=list)
    fingerprints = models.JSONField(default=list)
    precision = models.CharField(max_length=20, blank=True, default="")
    spec_methods = models.JSONField(default=list)
    acceptance_source = models.CharField(
        max_length=24, choices=Acceptance.choices, blank=True, default=""
    )
    acceptance_length = models.FloatField(null=True, blank=True)
    planned = models.JSONField(null=True, blank=True)
    planned_count = models.PositiveIntegerField(null=True, blank=True)
    received_count = models.PositiveIntegerField(default=0)
    acceptance_evidence = models.TextField(blank=True, db_default="")
    # What is decided after the row is stored has its default in the database.
    harness = models.TextField(
        blank=True, db_default="", help_text="what measured it, where rows tell"
    )
    pools = models.JSONField(db_default=EMPTY, help_text="runner pools that served it")
    grid = models.JSONField(db_default=EMPTY)
    # Short, so that thousands of sweeps are grouped by it in no time.
    labels = models.GeneratedField(
        expression=GridLabels("grid"),
        output_field=models.TextField(),
        db_persist=True,
    )
    mapping_method = models.CharField(max_length=20)
    mapping_candidates = models.JSONField(default=list)
    mapping_flags = models.JSONField(default=list)
    # Null, not empty: an unofficial sweep has no state at all.
    state = models.CharField(  # noqa: DJ001
        max_length=10, choices=State.choices, null=True, blank=True
    )
    state_reason = models.TextField(blank=True, default="")
    extends = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="extensions",
    )
    previous = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="the sweep that was current before it",
    )
    segment = models.PositiveIntegerField(null=True, blank=True)
    breaks = models.JSONField(db_default=EMPTY, blank=True)
    markers = models.JSONField(db_default=EMPTY, blank=True)
    is_swap = models.BooleanField(
        db_default=False, help_text="a break of the checkpoint"
    )
    measured_at = models.DateTimeField()
    official_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "config_key", "scenario"], name="sweep_unique"
            ),
            models.UniqueConstraint(
                fields=["config_key", "scenario"],
                condition=models.Q(state="current", extends__isnull=True),
                name="sweep_one_current",
            ),
            models.CheckConstraint(
                condition=models.Q(state__isnull=True)
                | models.Q(state__in=["current", "former", "held"]),
                name="sweep_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(state__isnull=True)
                | models.Q(official_at__isnull=False),
                name="sweep_official_has_time",
            ),
            models.CheckConstraint(
                condition=models.Q(is_swap=False) | models.Q(segment__isnull=False),
                name="sweep_swap_has_segment",
            ),
        ]
        indexes = [
            # History and as-of of one key and scenario.
            models.Index(
                fields=["config_key", "scenario", "official_at"],
                name="sweep_history",
            ),
            # /inference: the current sweeps.
            models.Index(
                fields=["config_key", "scenario"],
                condition=models.Q(state="current"),
                name="sweep_current",
            ),
            # / lists the newest, and those that are held or incomplete.
            models.Index(
                fields=["-official_at", "-id"],
                condition=models.Q(state__isnull=False),
                name="sweep_newest",
            ),
            models.Index(
                fields=["-official_at", "-id"],
                condition=OPEN_SWEEPS,
                name="sweep_open",
            ),
            # /changes, / and /api/v1/swaps list all swaps, newest first.
            models.Index(
                fields=["-official_at"],
                condition=models.Q(is_swap=True),
                name="sweep_swaps",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.config_key_id} {self.scenario} of run {self.run_id}"

    @property
    def acceptance_label(self) -> str:
        """Say where the acceptance length comes from, empty where nothing guesses."""
        return acceptance.acceptance_label(*self._acceptance)

    @property
    def is_configured(self) -> bool:
        """Tell whether the acceptance length was set rather than measured."""
        return acceptance.is_configured(*self._acceptance)

    @property
    def _acceptance(self) -> tuple[str, float | None, str]:
        return self.acceptance_source, self.acceptance_length, self.config_key.model


class Point(Stamped):
    """One measurement. Times in s, throughput in tok/s/GPU, interactivity in tok/s.

    ``flags`` lists [code, text]; ``is_out`` is true when one of them keeps the point
    off the frontier. ``is_current`` marks the newest usable attempt. A column is null
    where the value was not measured. ``metrics`` holds those of `STORED_METRICS`,
    those that are columns too.
    """

    # Found by the unique index, which begins with it.
    sweep = models.ForeignKey(
        Sweep, on_delete=models.CASCADE, related_name="points", db_index=False
    )
    # Nothing asks for points of a deployment whatever their sweep.
    deployment = models.ForeignKey(
        Deployment, on_delete=models.PROTECT, related_name="points", db_index=False
    )
    concurrency = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=64, blank=True, default="")
    attempt = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    is_excluded = models.BooleanField(default=False)
    is_out = models.BooleanField(default=False)
    flags = models.JSONField(default=list)
    image = models.TextField(blank=True, default="")
    runner = models.CharField(max_length=100, blank=True, default="")
    gpus = models.PositiveIntegerField(null=True)
    prefill_gpus = models.PositiveIntegerField(null=True)
    decode_gpus = models.PositiveIntegerField(null=True)
    tput_per_gpu = models.FloatField(null=True)
    output_tput_per_gpu = models.FloatField(null=True)
    input_tput_per_gpu = models.FloatField(null=True)
    median_intvty = models.FloatField(null=True)
    p90_intvty = models.FloatField(null=True)
    median_ttft = models.FloatField(null=True)
    p90_ttft = models.FloatField(null=True)
    median_tpot = models.FloatField(null=True)
    median_e2el = models.FloatField(null=True)
    p90_e2el = models.FloatField(null=True)
    metrics = MetricsField(default=dict)
    # Null, not empty: hardly any row has such.
    more_metrics = models.JSONField(
        null=True, blank=True, help_text="those without a place in the array"
    )
    facts = models.JSONField(default=dict)
    raw_record = models.ForeignKey(
        RawRecord, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sweep", "deployment", "concurrency", "fingerprint", "attempt"],
                name="point_unique",
            ),
            models.UniqueConstraint(
                fields=["sweep", "deployment", "concurrency", "fingerprint"],
                condition=models.Q(is_current=True),
                name="point_one_current",
            ),
            models.CheckConstraint(
                condition=models.Q(concurrency__gt=0), name="point_concurrency_positive"
            ),
            models.CheckConstraint(
                condition=~models.Q(is_current=True, is_excluded=True),
                name="point_excluded_not_current",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.deployment_id} c{self.concurrency}"

    @property
    def all_metrics(self) -> dict[str, float]:
        """Return every metric by name, those that the registry does not know too."""
        return {**self.metrics, **as_doubles(self.more_metrics)}
