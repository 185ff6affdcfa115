"""The noise that was known on a day: a verdict on the past never changes overnight."""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import date

from dashboard.analysis.noise import Noise as NoiseValue
from dashboard.analysis.noise import NoiseTable
from dashboard.models import Noise


def noise_before(days: Iterable[date]) -> dict[date, NoiseTable]:
    """Return the newest noise measured before each day, in two queries.

    A day's measurement holds for what comes later: what is judged anew gets the same
    verdict, whatever was measured since.
    """
    days = set(days)
    if not days:
        return {}
    measured = Noise.objects.filter(as_of__lt=max(days))
    known = sorted(measured.order_by().values_list("as_of", flat=True).distinct())
    newest = {day: _last_before(known, day) for day in days}
    rows: dict[date, list[NoiseValue]] = {}
    stored = Noise.objects.filter(as_of__in={day for day in newest.values() if day})
    for values in stored.values_list("metric", "band", "value", "pairs", "as_of"):
        rows.setdefault(values[-1], []).append(NoiseValue(*values))
    tables = {day: NoiseTable(found) for day, found in rows.items()}
    start = NoiseTable()
    return {
        day: start if as_of is None else tables[as_of] for day, as_of in newest.items()
    }


def _last_before(known: list[date], day: date) -> date | None:
    place = bisect_left(known, day)
    return known[place - 1] if place else None
