"""What a request of a replayed trace was; none of these: it counts as measured."""

from enum import IntFlag


class RequestKind(IntFlag):
    """Kinds that a request may be of at the same time."""

    WARM_UP = 1
    CANCELLED = 2
    FAILED = 4


def kind_of(flags: int) -> str:
    """Return the word for a request: what weighs most of what it is."""
    if flags & RequestKind.WARM_UP:
        return "warm-up"
    if flags & RequestKind.CANCELLED:
        return "cancelled"
    return "failed" if flags & RequestKind.FAILED else "measured"
