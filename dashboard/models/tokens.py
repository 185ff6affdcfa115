"""Tokens with which bundles are uploaded; only their hashes are kept."""

import hashlib
import hmac
import secrets

from django.db import models
from django.db.models.functions import Now

from dashboard.models.runs import Repository

START = "fb"
PREFIX_BYTES = 6
SECRET_BYTES = 32


class ApiToken(models.Model):
    """A token for one repository. It is shown once, when it is made."""

    name = models.CharField(max_length=100, help_text="who or what uses it")
    prefix = models.CharField(max_length=16, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    repository = models.ForeignKey(
        Repository, on_delete=models.CASCADE, related_name="tokens"
    )
    can_triage = models.BooleanField(
        default=False, help_text="may also change regressions of its repository"
    )
    created_by = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.CharField(max_length=150, blank=True, default="")

    class Meta:
        verbose_name = "upload token"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(digest__regex=r"^[0-9a-f]{64}$"),
                name="api_token_digest_is_a_hash",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"

    def renew(self) -> str:
        """Give the token a new secret and return it; the caller saves."""
        self.prefix = secrets.token_hex(PREFIX_BYTES)
        secret = secrets.token_urlsafe(SECRET_BYTES)
        plain = f"{START}_{self.prefix}_{secret}"
        self.digest = _digest(plain)
        return plain

    @classmethod
    def matching(cls, plain: str) -> "ApiToken | None":
        """Return the token of a secret, a revoked one too; None where there is none."""
        parts = plain.split("_", 2)
        if len(parts) != 3 or parts[0] != START:  # noqa: PLR2004  start, prefix, secret
            return None
        found = ApiToken.objects.select_related("repository")
        token = found.filter(prefix=parts[1][:16]).first()
        if token is None or not hmac.compare_digest(token.digest, _digest(plain)):
            return None
        return token


def _digest(plain: str) -> str:
    """Hash a secret; it is random and long, so one round without salt is enough."""
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()
