"""How far a long piece of work has come, said to whoever asked for it."""

from typing import Protocol


class Progress(Protocol):
    """Receives steps: a word, how many parts are done, and of how many."""

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Take note of a step."""


def silent(step: str, done: int = 0, total: int = 0) -> None:
    """Tell nobody."""
