"""Matrix entries of the masters at one revision, found by what a row tells."""

from collections.abc import Iterable

from ingest.config_keys.entries import MatrixEntry
from ingest.rows import Identity

# The producer puts this many digits of a fingerprint into artifact names.
PREFIX_DIGITS = 16

StackKey = tuple[str, str, str, str, bool]


class Snapshot:
    """An indexed set of matrix entries that does not change.

    ``keys`` are the config keys in file order, each once. ``memo`` is for what was
    worked out from the entries: it goes when they go.
    """

    __slots__ = ("_by_fingerprint", "_by_key", "_by_stack", "entries", "keys", "memo")

    def __init__(self, entries: Iterable[MatrixEntry]) -> None:
        self.entries = tuple(entries)
        self._by_fingerprint: dict[str, list[MatrixEntry]] = {}
        self._by_key: dict[str, list[MatrixEntry]] = {}
        self._by_stack: dict[StackKey, list[MatrixEntry]] = {}
        for entry in self.entries:
            self._index(entry)
        self.keys = tuple(self._by_key)
        self.memo: dict[object, object] = {}

    def __len__(self) -> int:
        """Return the number of matrix entries."""
        return len(self.entries)

    def __contains__(self, config_key: object) -> bool:
        """Tell whether a config key has entries."""
        return config_key in self._by_key

    def with_fingerprint(self, fingerprint: str) -> list[MatrixEntry]:
        """Return the entries of a whole fingerprint or of its first 16 digits."""
        return self._by_fingerprint.get(fingerprint.lower(), [])

    def of_key(self, config_key: str) -> list[MatrixEntry]:
        """Return the entries of a config key, in the order of its search space."""
        return self._by_key.get(config_key, [])

    def with_stack(self, identity: Identity) -> Iterable[MatrixEntry]:
        """Return at least the entries with the identity's model, GPU and so on."""
        stack = (
            identity.model,
            identity.precision,
            identity.hardware,
            identity.deployment.spec_method,
            identity.deployment.multinode,
        )
        if all(stack[:3]):
            return self._by_stack.get(stack, [])
        return self.entries

    def _index(self, entry: MatrixEntry) -> None:
        self._by_key.setdefault(entry.config_key, []).append(entry)
        deployment = entry.deployment
        stack = (
            entry.model,
            entry.precision,
            entry.hardware,
            deployment.spec_method,
            deployment.multinode,
        )
        self._by_stack.setdefault(stack, []).append(entry)
        if entry.fingerprint:
            for digits in (entry.fingerprint, entry.fingerprint[:PREFIX_DIGITS]):
                self._by_fingerprint.setdefault(digits, []).append(entry)
