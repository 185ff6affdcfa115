"""The cache epoch: one row, bumped whenever shown data changes."""

from django.db import models


class Generation(models.Model):
    """A single counter; its number is part of every cache key."""

    number = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(id=1), name="generation_is_one_row"
            )
        ]

    def __str__(self) -> str:
        return str(self.number)

    @classmethod
    def bump(cls) -> None:
        """Begin a new generation; takes effect when the transaction commits."""
        row = cls.objects.filter(pk=1)
        next_number = models.F("number") + 1
        if row.update(number=next_number):
            return
        # Of two that are the first at once, one finds the row of the other.
        _, is_made = cls.objects.get_or_create(pk=1, defaults={"number": 1})
        if not is_made:
            row.update(number=next_number)
