"""The columns of the run list, and what a click on their headers sorts by."""

from typing import NamedTuple


class Column(NamedTuple):
    """A column of the list: what a click on its header sorts by."""

    label: str
    sort: str
    is_numeric: bool
    direction: str

    @property
    def next_sort(self) -> str:
        """Return the other direction, or numbers and times from the largest."""
        if self.direction == "descending":
            return self.sort
        falls_first = self.is_numeric or self.sort == "made"
        falls = self.direction == "ascending" or falls_first
        return f"-{self.sort}" if falls else self.sort


_COLUMNS = (
    # On a phone the first few are seen: what came of the run.
    ("Run", "run", False),
    ("Conclusion", "conclusion", False),
    ("Points", "points", True),
    ("Missing", "missing", True),
    ("Evals", "evals", True),
    ("Title", "title", False),
    ("Publication", "publication", False),
    ("Skips", "skips", True),
    ("Branch", "branch", False),
    ("Made", "made", False),
)


def columns(sort: str) -> list[Column]:
    """Return the columns of the list with the direction they are sorted in."""
    directions = {sort: "descending" if sort.startswith("-") else "ascending"}
    return [
        Column(
            label, name, numeric, directions.get(f"-{name}") or directions.get(name, "")
        )
        for label, name, numeric in _COLUMNS
    ]
