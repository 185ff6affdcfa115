"""Two times that every stored row carries, set by the database."""

from django.db import models
from django.db.models.functions import Now


class Stamped(models.Model):
    """When the row was first stored and when its content last changed."""

    stored_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        abstract = True
