"""Database and broker as families of metrics; what cannot be known is left out."""

import platform
import shutil
from collections.abc import Iterator

from django.conf import settings
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from dashboard import telemetry
from dashboard.probing import (
    SECONDS,
    NoAnswerError,
    answer_within,
    ask_impatiently,
)
from dashboard.queries.operations import (
    Requests,
    Stored,
    request_counts,
    stored_counts,
)
from dashboard.telemetry import BOUNDS_S, Durations
from dashboard.vocabulary.version import VERSION

PREFIX = "frontierboard_"


class SiteCollector(Collector):
    """Asks database and broker once per scrape, for seconds at most."""

    def collect(self) -> Iterator[Metric]:
        """Yield families; `up` says which part told nothing."""
        yield _labelled(
            "build_info",
            "The software that answers.",
            ("version", "python"),
            {(VERSION, platform.python_version()): 1},
        )
        yield from _of_folder()
        is_up: dict[tuple[str, ...], float] = {}
        for part, ask in (("database", _of_database), ("broker", _of_broker)):
            try:
                families = answer_within(SECONDS, ask)
            except NoAnswerError:
                families = []
            is_up[(part,)] = float(bool(families))
            yield from families
        yield _labelled("up", "1 where the part answered.", ("part",), is_up)


def _of_folder() -> Iterator[Metric]:
    try:
        free = shutil.disk_usage(settings.DATA).free
    except OSError:
        return
    yield _single("data_free_bytes", "Free space of the data folder.", free)


def _of_database() -> list[Metric]:
    ask_impatiently()
    return [*_of_requests(request_counts()), *_of_stored(stored_counts())]


def _of_requests(requests: Requests) -> Iterator[Metric]:
    yield _by(
        "ingest_requests", "Requests for work, by state.", "state", requests.by_state
    )
    waits = 0.0
    if requests.waiting_since is not None:
        waits = (timezone.now() - requests.waiting_since).total_seconds()
    text = "How long the oldest waiting request waits; 0: none waits."
    yield _single("ingest_oldest_waiting_seconds", text, max(waits, 0.0))


def _of_stored(stored: Stored) -> Iterator[Metric]:
    text = "Changes of the data so far, by which caches know them."
    yield _single("generation", text, stored.generation)
    yield _by("runs", "Stored runs, by what they count as.", "publication", stored.runs)
    text = "Points that stored runs received, by what the runs count as."
    yield _by("points", text, "publication", stored.points)
    text = "What is listed as not taken, by reason."
    yield _by("skips", text, "reason", stored.skips)


def _of_broker() -> list[Metric]:
    text = "Tasks: waiting for a worker, or held by one."
    found = [_by("queue_tasks", text, "state", telemetry.queue_depths())]
    ages = telemetry.ages_of_workers()
    heard = sum(age <= telemetry.HEARD_S for age in ages)
    found.append(_single("workers", "Workers heard of in the last 30 s.", heard))
    if ages:
        text = "How long no worker was heard of."
        found.append(_single("worker_heartbeat_age_seconds", text, ages[0]))
    if (age := telemetry.age_of_schedule()) is not None:
        text = "How long ago beat's newest task arrived at a worker."
        found.append(_single("schedule_age_seconds", text, age))
    found += _of_github(telemetry.budget())
    text = "Time of one step of an ingestion."
    steps = telemetry.durations(telemetry.STEP)
    found.append(_histogram("ingest_step_seconds", text, ("step",), steps))
    text = "Time from the beginning of a request to its end."
    whole = telemetry.durations(telemetry.REQUEST)
    found.append(_histogram("ingest_seconds", text, ("kind", "state"), whole))
    return found


def _of_github(budget: dict[str, int]) -> Iterator[Metric]:
    texts = {
        "limit": ("github_limit", "Requests that GitHub takes in an hour."),
        "remaining": ("github_remaining", "Requests left until the reset."),
        "reset": ("github_reset_timestamp_seconds", "When the count begins anew."),
    }
    for part, value in budget.items():
        yield _single(*texts[part], value)


def _single(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(PREFIX + name, text, value)


def _by(name: str, text: str, label: str, values: dict[str, int]) -> Metric:
    return _labelled(name, text, (label,), {(k,): v for k, v in values.items()})


def _labelled(
    name: str,
    text: str,
    labels: tuple[str, ...],
    values: dict[tuple[str, ...], float],
) -> Metric:
    family = GaugeMetricFamily(PREFIX + name, text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _histogram(
    name: str, text: str, labels: tuple[str, ...], found: dict[str, Durations]
) -> Metric:
    """Return a histogram; several labels stand in one name, parted by a colon."""
    family = HistogramMetricFamily(PREFIX + name, text, labels=labels)
    bounds = [*(str(bound) for bound in BOUNDS_S), "+Inf"]
    for label, seen in sorted(found.items()):
        so_far, buckets = 0, []
        for bound, count in zip(bounds, seen.counts, strict=True):
            so_far += count
            buckets.append((bound, float(so_far)))
        family.add_metric(label.split(":"), buckets, seen.total_s)
    return family
