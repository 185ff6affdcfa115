"""The text of the one comment on a pull request, made of its runs' reports."""

import hashlib
from collections.abc import Sequence

from dashboard.analysis.verdict_report import folded_report

# GitHub takes 65,536 characters; bytes are never fewer, however it counts.
LONGEST = 65_536
SHOWN_WHOLE = 5


def comment_marker(site: str) -> str:
    """Return the hidden first line by which a site knows its own comment again."""
    digest = hashlib.sha256(site.encode()).hexdigest()[:12]
    return f"<!-- frontierboard:verdict:{digest} -->"


def comment_body(marker: str, reports: Sequence[str], longest: int = LONGEST) -> str:
    """Return marker and reports; these come newest first and stay so.

    The newest five are whole, older ones a line each. Where that is longer than
    ``longest`` bytes, whole ones become lines and then lines are left out, always the
    oldest first, and the text says so.
    """
    whole = min(len(reports), SHOWN_WHOLE)
    choices = [(count, len(reports)) for count in range(whole, -1, -1)]
    choices += [(0, shown) for shown in range(len(reports) - 1, 0, -1)]
    for whole, shown in choices:
        body = _written(marker, reports, whole, shown)
        if len(body.encode()) <= longest:
            return body
    return _written(marker, reports, 0, 0)


def _written(marker: str, reports: Sequence[str], whole: int, shown: int) -> str:
    parts = ["\n\n---\n\n".join(report.strip() for report in reports[:whole])]
    lines = [f"- {folded_report(report)}" for report in reports[whole:shown]]
    if lines:
        parts.append(
            "\n".join(["#### Older runs" if whole else "#### Runs", "", *lines])
        )
    parts.append(_shortened(min(shown, SHOWN_WHOLE) - whole))
    parts.append(_left_out(len(reports) - shown))
    return "\n\n".join([marker, *filter(None, parts)]) + "\n"


def _shortened(count: int) -> str:
    if count <= 0:
        return ""
    return (
        f"{_counted(count)} shortened to a line: a comment holds {LONGEST:,}"
        " characters. The whole is on the pages of the runs."
    )


def _left_out(count: int) -> str:
    return f"{_counted(count)} left out for lack of space." if count else ""


def _counted(count: int) -> str:
    return "1 report is" if count == 1 else f"{count} reports are"
