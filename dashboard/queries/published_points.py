"""Official points as JSON text in the official shapes, many of them at once.

What belongs to a sweep or to a deployment is written once, not once per point; of a
point the database gives its counts and its metrics as text. Sweeps say which of them
can hold the newest point of a place, so that older ones are not read.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import orjson
from django.db.models import Case, Exists, Func, OuterRef, Q, TextField, When
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.db.models.query import QuerySet

from dashboard.analysis.frames import HOT_METRICS
from dashboard.models import ConfigKey, Correction, Deployment, Point, Run, Sweep
from dashboard.queries.published_shapes import HISTORY_METRICS, official_at
from dashboard.vocabulary import provenance
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.scenarios import AGENTIC, lengths_of
from dashboard.vocabulary.stored_metrics import STORED_METRICS, place_of

# So many sweeps are read at a time: a few thousand points.
AT_ONCE = 40
# Where places are missing from the newest sweeps: after so many looks, all are read.
LOOKS = 4
# A function of PostgreSQL takes at most 100.
ARGUMENTS = 64
_SWEEP_FIELDS = (
    *("pk", "config_key__hardware", "config_key__framework", "config_key__model"),
    *("config_key__precision", "scenario", "at", "run__github_run_id", "run__url"),
    "grid_text",
)
Identity = tuple[str, ...]
# The text of a published point by its id.
Texts = Callable[[Sequence[int]], Mapping[int, str]]


def _listed(name: str) -> str:
    """Return the SQL of a metric of the array; null where it is missing."""
    return f"dashboard_point.metrics[{place_of(name) + 1}]"


def _told(name: str) -> str:
    """Return the SQL of one of the history's metrics, of a column where it is one."""
    return f"dashboard_point.{name}" if name in HOT_METRICS else _listed(name)


def _object(values: Mapping[str, str], *more: str) -> str:
    """Return the SQL of metrics, each by its own SQL, as the text of a JSON object.

    The database writes it, which takes less than to read an array and to write here.
    """
    told = [f"'\"{name}\":' || {value}" for name, value in values.items()]
    parts = [
        f"NULLIF(concat_ws(',', {', '.join(told[start : start + ARGUMENTS])}), '')"
        for start in range(0, len(told), ARGUMENTS)
    ]
    return f"'{{' || concat_ws(',', {', '.join([*parts, *more])}) || '}}'"


class _Few(Func):
    """The history's metrics of a point as text; columns are read much faster."""

    template = _object({name: _told(name) for name in HISTORY_METRICS})
    output_field = TextField()


class _All(Func):
    """All metrics of a point as text, those beside the array too."""

    template = _object(
        {name: _listed(name) for name in STORED_METRICS},
        "NULLIF(btrim(dashboard_point.more_metrics::text, '{}'), '')",
    )
    output_field = TextField()


@dataclass(frozen=True)
class OfficialSweep:
    """An official sweep, and what its points say of it."""

    pk: int
    hardware: str
    framework: str
    model: str
    precision: str
    scenario: str
    at: datetime
    run_id: int
    run_url: str
    grid: str

    @cached_property
    def identity(self) -> Identity:
        """Return whose newest points its points may be: keys may share one."""
        framework = canonical_framework(self.framework)
        parts = (self.model, self.hardware, self.precision, self.scenario)
        return (framework, *parts)

    @property
    def age(self) -> tuple[datetime, int]:
        """Return what orders sweeps, the newest last."""
        return self.at, self.run_id

    @cached_property
    def day(self) -> str:
        """Return the day under which its points count."""
        return self.at.astimezone(UTC).date().isoformat()

    @cached_property
    def places(self) -> frozenset[tuple[str, int]]:
        """Return (deployment label, concurrency) of what counts of it."""
        return _places(self.grid)


@lru_cache(maxsize=4096)
def _places(grid: str) -> frozenset[tuple[str, int]]:
    """Return the places of a grid; sweeps of a key mostly measure the same ones."""
    return frozenset((label, c) for label, found in orjson.loads(grid) for c in found)


class OfficialPoint(NamedTuple):
    """A point of one sweep, with its metrics as text."""

    pk: int
    sweep_id: int
    deployment_id: int
    concurrency: int
    attempt: int
    gpus: int | None
    prefill_gpus: int | None
    decode_gpus: int | None
    image: str
    provenance: str | None
    metrics: str


def official_sweeps(models: Sequence[str], narrowed: Q) -> list[OfficialSweep]:
    """Return sweeps of official runs that nobody holds, oldest first.

    ``narrowed`` may name ``at``, the time under which a run counts.
    """
    holds = Correction.objects.filter(
        Q(config_key__isnull=True) | Q(config_key=OuterRef("config_key")),
        Q(scenario="") | Q(scenario=OuterRef("scenario")),
        run=OuterRef("run"),
        action=Correction.Action.HOLD,
        undone_at__isnull=True,
    )
    stored = Sweep.objects.annotate(
        at=official_at("run"), grid_text=Cast("grid", TextField())
    )
    found = stored.filter(
        ~Exists(holds),
        narrowed,
        run__publication=Run.Publication.OFFICIAL,
        config_key__model__in=models,
    )
    rows = found.order_by().values_list(*_SWEEP_FIELDS)
    return sorted((OfficialSweep(*row) for row in rows), key=lambda sweep: sweep.age)


def history_texts(sweeps: Sequence[OfficialSweep], published: Texts) -> Iterator[str]:
    """Yield the text of every point, oldest run first, while they are read."""
    writer = Writer(sweeps, has_image=False)
    for piece in _whole_runs(sweeps):
        place = {sweep.pk: sweep.age for sweep in piece}
        found = _points(place, metrics=_history_metrics())
        # Within a run by their ids, whatever the sweep.
        found.sort(key=lambda point: (*place[point.sweep_id], point.pk))
        yield from writer.texts(found, published)


def _whole_runs(sweeps: Sequence[OfficialSweep]) -> Iterator[list[OfficialSweep]]:
    """Yield the sweeps in pieces that part no run."""
    piece: list[OfficialSweep] = []
    for _, found in groupby(sweeps, key=lambda sweep: sweep.age):
        piece += found
        if len(piece) >= AT_ONCE:
            yield piece
            piece = []
    if piece:
        yield piece


def newest_texts(
    sweeps: Sequence[OfficialSweep], published: Texts, *, without: frozenset[int]
) -> Iterator[str]:
    """Yield the text of the newest point of each identity and place.

    ``without`` are ids of points that are nobody's newest.
    """
    newest = Newest(sweeps, without)
    writer = Writer(sweeps, has_image=True)
    yield from writer.texts(newest.points(), published)


class Newest:
    """Finds the newest points of places without reading what is older."""

    def __init__(
        self, sweeps: Iterable[OfficialSweep], without: frozenset[int]
    ) -> None:
        """Take sweeps, oldest first, and ids of points that do not count."""
        self._sweeps = {sweep.pk: sweep for sweep in sweeps}
        self._without = without
        self._unread: dict[Identity, list[OfficialSweep]] = {}
        for sweep in self._sweeps.values():
            self._unread.setdefault(sweep.identity, []).append(sweep)
        self._found: dict[tuple[object, ...], tuple[Any, OfficialPoint]] = {}
        self._covered: dict[Identity, set[tuple[str, int]]] = {}
        labels = list(Deployment.objects.values_list("pk", "label"))
        self._labels = dict(labels)
        # A label that several topologies have says not which of them was measured.
        named = Counter(label for _, label in labels)
        self._unclear = {label for label, times in named.items() if times > 1}

    def points(self) -> list[OfficialPoint]:
        """Return the newest point of each place.

        1. The newest sweeps of each identity. 2. Older ones that measured a place that
        was not found so far, a few times over. 3. All others of that kind at once.
        """
        for look in range(LOOKS + 1):
            wanted = [
                sweep.pk
                for identity in self._unread
                for sweep in self._next(identity, everything=look == LOOKS)
            ]
            if not wanted:
                break
            for point in _points(wanted, metrics=_All()):
                self._take(point)
        return [point for _, point in self._found.values()]

    def _next(self, identity: Identity, *, everything: bool) -> list[OfficialSweep]:
        """Take the newest unread sweeps of an identity that may hold something new."""
        unread = self._unread[identity]
        found: list[OfficialSweep] = []
        while unread:
            if found and unread[-1].age != found[-1].age and not everything:
                break
            sweep = unread.pop()
            if self._may_add(sweep, identity):
                found.append(sweep)
        return found

    def _may_add(self, sweep: OfficialSweep, identity: Identity) -> bool:
        # An empty grid is one that is not known.
        if not sweep.places:
            return True
        missing = sweep.places - self._covered.get(identity, set())
        return bool(missing)

    def _take(self, point: OfficialPoint) -> None:
        if point.pk in self._without:
            return
        sweep = self._sweeps[point.sweep_id]
        place = (sweep.identity, point.deployment_id, point.concurrency)
        age = (*sweep.age, point.attempt, point.pk)
        known = self._found.get(place)
        if known is None or age > known[0]:
            self._found[place] = (age, point)
        # One that came meanwhile has no label here, and covers nothing.
        label = self._labels.get(point.deployment_id)
        if label is not None and label not in self._unclear:
            covered = self._covered.setdefault(sweep.identity, set())
            covered.add((label, point.concurrency))


class Writer:
    """Writes points; what many of them share is written once and kept."""

    def __init__(self, sweeps: Iterable[OfficialSweep], *, has_image: bool) -> None:
        """Take the sweeps whose points are written."""
        self._sweeps = {sweep.pk: sweep for sweep in sweeps}
        self._deployments = Deployment.objects.in_bulk()
        self._has_image = has_image
        self._configs: dict[tuple[Identity, str, int], str] = {}
        self._heads: dict[tuple[int, int], tuple[str, bool]] = {}
        self._ends: dict[tuple[int, int, str], str] = {}

    def texts(self, points: Sequence[OfficialPoint], published: Texts) -> Iterator[str]:
        """Yield the texts in order of the points; of published ones as they came."""
        ids = [p.pk for p in points if p.provenance == provenance.PUBLISHED]
        came = published(ids) if ids else {}
        for point in points:
            yield came.get(point.pk) or self._text(point)

    def _text(self, point: OfficialPoint) -> str:
        head, has_roles = self._head(point.sweep_id, point.deployment_id)
        prefill, decode = point.gpus, point.gpus
        if has_roles:
            prefill, decode = point.prefill_gpus, point.decode_gpus
        return (
            f'{head},"num_prefill_gpu":{"null" if prefill is None else prefill},'
            f'"num_decode_gpu":{"null" if decode is None else decode},'
            f'"conc":{point.concurrency},{self._end(point)},'
            f'"metrics":{point.metrics}}}'
        )

    def _head(self, sweep_id: int, deployment_id: int) -> tuple[str, bool]:
        """Return the beginning of a row, and whether its GPUs have roles."""
        known = self._heads.get((sweep_id, deployment_id))
        if known is None:
            text = self._config(self._sweeps[sweep_id], deployment_id)
            known = (text, self._deployment(deployment_id).multinode)
            self._heads[sweep_id, deployment_id] = known
        return known

    def _deployment(self, pk: int) -> Deployment:
        known = self._deployments.get(pk)
        if known is None:  # came meanwhile: the history takes its time
            known = self._deployments[pk] = Deployment.objects.get(pk=pk)
        return known

    def _config(self, sweep: OfficialSweep, deployment_id: int) -> str:
        """Return what was measured, with which lengths."""
        key = (sweep.identity, sweep.scenario, deployment_id)
        known = self._configs.get(key)
        if known is None:
            isl, osl = lengths_of(sweep.scenario)
            fields = config(sweep, self._deployment(deployment_id))
            fields |= {"isl": isl, "osl": osl}
            known = self._configs[key] = orjson.dumps(fields).decode()[:-1]
        return known

    def _end(self, point: OfficialPoint) -> str:
        """Return what of a row is its run's and its image's."""
        key = (point.sweep_id, point.attempt, point.image)
        known = self._ends.get(key)
        if known is None:
            sweep = self._sweeps[point.sweep_id]
            fields: dict[str, object] = {
                "workers": None,
                "date": sweep.day,
                "run_url": f"{sweep.run_url}/attempts/{point.attempt}",
            }
            if self._has_image:
                fields["image"] = point.image or None
            known = self._ends[key] = orjson.dumps(fields).decode()[1:-1]
        return known


def config(key: OfficialSweep | ConfigKey, deployment: Deployment) -> dict[str, object]:
    """Return what tells configurations apart; a single node says its sizes twice."""
    fields: dict[str, object] = {
        "hardware": key.hardware,
        "framework": canonical_framework(key.framework),
        "model": key.model,
        "precision": key.precision,
        "spec_method": deployment.spec_method,
        "disagg": deployment.disagg,
        "is_multinode": deployment.multinode,
    }
    for role in ("prefill", "decode"):
        for size, absent in (("tp", 0), ("ep", 0), ("dp_attention", False)):
            sizes = (size, f"{role}_{size}")
            told = (getattr(deployment, name) for name in sizes)
            known = next((value for value in told if value is not None), absent)
            fields[f"{role}_{size}"] = known
        workers = getattr(deployment, f"{role}_workers")
        fields[f"{role}_num_workers"] = 0 if workers is None else workers
    return fields


def _points(sweeps: Iterable[int], *, metrics: Combinable) -> list[OfficialPoint]:
    """Return the points of sweeps that count; a doubt keeps measured ones back."""
    is_published = Q(facts__provenance=provenance.PUBLISHED)
    found: QuerySet[Any] = Point.objects.filter(
        Q(is_out=False) | is_published, is_current=True, sweep_id__in=list(sweeps)
    )
    named = found.annotate(came=KeyTextTransform("provenance", "facts"), text=metrics)
    names = OfficialPoint._fields[:-2]
    rows = named.order_by().values_list(*names, "came", "text")
    return list(map(OfficialPoint._make, rows))


def _history_metrics() -> Combinable:
    """Return the metrics that the history tells: of traces all of them."""
    of_traces = When(sweep__scenario=AGENTIC, then=_All())
    return Case(of_traces, default=_Few(), output_field=TextField())
