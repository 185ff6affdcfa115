"""What the texts that people type into rows have to look like."""

from django.core.exceptions import ValidationError

from dashboard.vocabulary.links import OWNER_AND_NAME


def validate_repository(value: str) -> None:
    """Refuse what is not owner/name as the forge writes it."""
    if not OWNER_AND_NAME.fullmatch(value):
        raise ValidationError("Give owner/name, as the repository is called there.")
