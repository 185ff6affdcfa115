"""What the texts and lists that people type into rows have to look like."""

from django.core.exceptions import ValidationError

from dashboard.vocabulary.links import OWNER_AND_NAME


def validate_aliases(value: object) -> None:
    """Refuse what is not a list of texts that each say something."""
    if not isinstance(value, list) or not all(
        isinstance(alias, str) and alias.strip() for alias in value
    ):
        raise ValidationError('Give a list of names, as in ["org/Model", "Model"].')


def validate_repository(value: str) -> None:
    """Refuse what is not owner/name as the forge writes it."""
    if not OWNER_AND_NAME.fullmatch(value):
        raise ValidationError("Give owner/name, as the repository is called there.")
