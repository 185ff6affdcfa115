"""What GPUs cost and which power they are provisioned, from a day on."""

from django.db import models
from django.db.models.functions import Now

_POSITIVE = ("hyperscaler", "neocloud", "rental", "power_kw")
_USD = "USD per GPU and hour, "


class HardwarePrice(models.Model):
    """One GPU from ``valid_from`` on, until a newer row of it counts.

    Null is not known. ``placeholders`` names columns whose value only holds a place:
    it is kept as it was published and never used.
    """

    hardware = models.CharField(max_length=40)
    valid_from = models.DateField()
    hyperscaler = models.FloatField(
        null=True, blank=True, help_text=f"{_USD}owned by a hyperscaler"
    )
    neocloud = models.FloatField(
        null=True, blank=True, help_text=f"{_USD}owned by a neocloud"
    )
    rental = models.FloatField(
        null=True, blank=True, help_text=f"{_USD}rented for three years"
    )
    power_kw = models.FloatField(
        null=True, blank=True, help_text="kW per GPU, all in: host, network, cooling"
    )
    placeholders = models.JSONField(default=list, blank=True)
    note = models.TextField(
        blank=True, default="", help_text="shown beside the number, such as: temporary"
    )
    source = models.TextField(help_text="where the numbers are from")
    author = models.TextField()
    made_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hardware", "valid_from"], name="hardware_price_unique"
            ),
            *(
                models.CheckConstraint(
                    condition=models.Q(**{f"{name}__isnull": True})
                    | models.Q(**{f"{name}__gt": 0, f"{name}__lte": 10_000}),
                    name=f"hardware_price_{name}_positive",
                )
                for name in _POSITIVE
            ),
            models.CheckConstraint(
                condition=~models.Q(source="") & ~models.Q(author=""),
                name="hardware_price_says_why",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hardware} from {self.valid_from:%Y-%m-%d}"
