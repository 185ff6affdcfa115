"""What commands say: a progress bar on a terminal, plain lines elsewhere."""

from collections.abc import Iterator

from django.core.management.base import OutputWrapper

from ingest.pipeline import Report

WIDTH = 24


class ConsoleProgress:
    """Shows progress on a terminal and is silent elsewhere."""

    def __init__(self, name: str, stream: OutputWrapper) -> None:
        """Take the name of the work and where to write."""
        self._name = name
        self._stream = stream
        self._is_terminal = stream.isatty()

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Draw the step."""
        if not self._is_terminal:
            return
        filled = WIDTH * done // total if total else 0
        bar = "#" * filled + "." * (WIDTH - filled)
        count = f" {done} of {total}" if total else ""
        self._write(f"{self._name} [{bar}] {step}{count}")

    def clear(self) -> None:
        """Take the bar away."""
        if self._is_terminal:
            self._write("")

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}", ending="")
        self._stream.flush()


def report_lines(report: Report) -> Iterator[str]:
    """Say what an ingestion did: one line, then one per thing to know."""
    planned = "" if report.planned is None else f" of {report.planned}"
    tally = report.tally
    yield (
        f"run {report.run_id}: {report.points}{planned} points, {report.evals} evals; "
        f"{tally.new} rows new, {tally.changed} changed, {tally.same} same, "
        f"{tally.removed} removed"
    )
    if report.measured_in:
        yield f"  it publishes the measurements of run {report.measured_in}"
    for reason, count in report.skips.items():
        yield f"  skipped {count}: {reason}"
    if report.rejected:
        names = ", ".join(name[:80] for name in report.rejected[:5])
        yield f"  partly ingested, {len(report.rejected)} artifacts rejected: {names}"
    for notice in report.notices[:20]:
        yield f"  notice: {notice}"
    if report.remapped:
        yield f"  mapped again: {', '.join(map(str, report.remapped[:20]))}"
