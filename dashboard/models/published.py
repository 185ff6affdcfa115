"""What the official dashboard published of days rather than of runs."""

from django.db import models


class PublishedRow(models.Model):
    """One row as published, canonical JSON text; ``times`` that it stands in its day.

    Rows of one day may be equal: several runs of a day fare alike.
    """

    class Kind(models.TextChoices):
        AVAILABILITY = "availability", "availability"
        RELIABILITY = "reliability", "reliability"
        CONFIG = "config", "config of a day"

    kind = models.CharField(max_length=20, choices=Kind.choices)
    date = models.DateField()
    sha256 = models.CharField(max_length=64)
    body = models.TextField()
    times = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            # Also finds the rows of a kind and day.
            models.UniqueConstraint(
                fields=["kind", "date", "sha256"], name="published_row_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["availability", "reliability", "config"]),
                name="published_row_kind_known",
            ),
            models.CheckConstraint(
                condition=models.Q(times__gt=0), name="published_row_is_there"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.date}"
