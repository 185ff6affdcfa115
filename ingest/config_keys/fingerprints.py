"""Recipe fingerprints: what makes two generated matrix entries the same recipe."""

import hashlib
import json
from collections.abc import Mapping

# What differs between jobs of one recipe, or is added after the hash was taken.
NOT_HASHED = frozenset(
    {
        "conc",
        "exp-name",
        "recipe-fingerprint",
        "priority",
        "queue-token",
        "skip-queue-pr",
    }
)


def fingerprint(entry: Mapping[str, object]) -> str:
    """Return the SHA-256 (64 hex digits) of an entry without its concurrency.

    The producer hashes compact ASCII JSON with sorted keys, so the order of the
    fields does not matter, while image, model, runner, topology and settings do.
    """
    hashed = {name: value for name, value in entry.items() if name not in NOT_HASHED}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
