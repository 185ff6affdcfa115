"""What GitHub says of a run, its attempts and its jobs, checked and stored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models.functions import Now

from dashboard.models import Repository, Run
from dashboard.vocabulary.links import OWNER_AND_NAME
from ingest.artifacts.bundles import Bundle, parse_time, started_at
from ingest.store import RunStore, Tally
from ingest.tables import ATTEMPTS, JOBS, RUNS
from ingest.upserts import Table, Values, upsert

MAX_ID = 2**63 - 1
MAX_TEXT = 10_000
COMPLETED = "completed"
# Where rows of attempts and of jobs have their number.
NUMBER = 1
MAX_NAME = 200
MAX_ATTEMPT = 10_000


class IngestError(Exception):
    """A run that cannot be taken; the message is one line for a person."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The checked facts of a run object and of what hangs on it."""

    repository: str
    github_run_id: int
    created_at: datetime
    run: Mapping[str, object]
    attempts: list[dict[str, object]]
    jobs: list[dict[str, object]] | None

    def refuse_other_repository(self) -> None:
        """Raise IngestError where the id is known under another repository."""
        known = Run.objects.filter(github_run_id=self.github_run_id)
        for name in known.values_list("repository__full_name", flat=True):
            if name.casefold() != self.repository.casefold():
                raise IngestError(
                    f"run {self.github_run_id} is already known under {name}; "
                    f"not stored under {self.repository}"
                )

    def store(self, tally: Tally) -> Run:
        """Store the run with its attempts and jobs and return it."""
        repository = known_repository(self.repository)
        self.refuse_other_repository()
        known = Run.objects.filter(github_run_id=self.github_run_id)
        before = known.first()
        if before is None or self._is_as_new_as(before):
            tally.add(RUNS, upsert(RUNS, [self._values(repository)]))
        elif self.jobs is not None and not before.jobs_known:
            known.update(jobs_known=True, updated_at=Now())
            tally.changed += 1
        run = known.select_related("repository").get()
        store = RunStore(run)
        # Attempts and jobs seen earlier stay: a later listing may be shorter.
        attempts = run.attempts.values_list("attempt", "status")
        jobs = run.jobs.values_list("github_job_id", "status")
        for table, rows, stored in (
            (ATTEMPTS, self._attempts(run), attempts),
            (JOBS, self._jobs(run), jobs),
        ):
            newer = _without_steps_back(table, rows, stored)
            store.replace(table, newer, keep_others=True)
        tally.merge(store.tally)
        number = _pr_number(self.run)
        if number is not None and run.pr_number != number:
            run.pr_number = number
            known.update(pr_number=number, updated_at=Now())
            tally.changed += 1
        return run

    @property
    def attempt(self) -> int:
        """The newest attempt that is spoken of."""
        return max(_attempt(a) for a in [dict(self.run), *self.attempts])

    def _is_as_new_as(self, stored: Run) -> bool:
        """Tell whether these facts may replace stored ones, in whatever order.

        An older attempt says nothing new, nor does a run seen while it was at work.
        What only the official dashboard tells of a run has neither event nor status;
        GitHub's own word always takes its place.
        """
        status = _text(self.run, "status")
        is_told = bool(_text(self.run, "event") or status)
        here = (is_told, self.attempt, status == COMPLETED)
        was_told = bool(stored.event or stored.status)
        return here >= (was_told, stored.attempt, stored.status == COMPLETED)

    def _values(self, repository: Repository) -> Values:
        run = self.run
        return (
            repository.pk,
            self.github_run_id,
            _text(run, "path"),
            _text(run, "display_title") or _text(run, "name"),
            _text(run, "event")[:60],
            _text(run, "head_branch"),
            _text(run, "head_sha")[:64],
            _pr_number(run),
            _text(run.get("actor"), "login"),
            _text(run, "html_url"),
            _text(run, "status")[:40],
            _text(run, "conclusion")[:40],
            self.attempt,
            self.created_at,
            self.jobs is not None or self._knew_jobs(),
            Run.Publication.UNOFFICIAL.value,
            {},
            [],
            0,
            0,
            0,
        )

    def _knew_jobs(self) -> bool:
        known = Run.objects.filter(github_run_id=self.github_run_id, jobs_known=True)
        return known.exists()

    def _attempts(self, run: Run) -> list[Values]:
        chosen = {_attempt(item): item for item in self.attempts}
        return [
            (
                run.pk,
                number,
                _text(item, "status")[:40],
                _text(item, "conclusion")[:40],
                started_at(item),
                parse_time(item.get("updated_at")),
            )
            for number, item in chosen.items()
        ]

    def _jobs(self, run: Run) -> list[Values]:
        jobs = {_id(item): item for item in self.jobs or [] if _id(item) is not None}
        return [
            (
                run.pk,
                job_id,
                _attempt(item),
                _text(item, "name"),
                _text(item, "status")[:40],
                _text(item, "conclusion")[:40],
                _text(item, "runner_name"),
                parse_time(item.get("started_at")),
                parse_time(item.get("completed_at")),
            )
            for job_id, item in jobs.items()
        ]


def run_facts(bundle: Bundle) -> RunFacts:
    """Check what a bundle says of its run; raises IngestError."""
    run = bundle.run
    run_id = _id(run)
    if run_id is None or not 0 < run_id <= MAX_ID:
        raise IngestError(f"run.json: {run.get('id')!r} is no run id")
    repository = _text(run.get("repository"), "full_name")
    if not repository:
        raise IngestError("run.json: repository.full_name is missing")
    if not OWNER_AND_NAME.fullmatch(repository):
        raise IngestError(f"run.json: {repository[:80]!r} is no owner/name")
    created_at = parse_time(run.get("created_at"))
    if created_at is None:
        raise IngestError("run.json: created_at is no time")
    return RunFacts(
        repository, run_id, created_at, run, list(bundle.attempts), bundle.jobs
    )


def _without_steps_back(
    table: Table, rows: Iterable[Values], stored: Iterable[tuple[int, str]]
) -> list[Values]:
    """Leave out rows that know less than what is stored: finished stays finished.

    ``stored`` are (number, status) pairs of attempts or of jobs.
    """
    finished = {number for number, status in stored if status == COMPLETED}
    at = table.columns.index("status")
    return [r for r in rows if r[NUMBER] not in finished or r[at] == COMPLETED]


def known_repository(name: str) -> Repository:
    """Return the repository of a name; the configured one is made official."""
    found = Repository.objects.filter(full_name__iexact=name).first()
    if found is not None:
        return found
    official = name.casefold() == settings.FRONTIERBOARD_REPOSITORY.casefold()
    return Repository.objects.create(full_name=name, is_official=official)


def _text(mapping: object, name: str) -> str:
    """Return a text field, empty where it is absent; NUL cannot be stored."""
    value = mapping.get(name) if isinstance(mapping, Mapping) else None
    if not isinstance(value, str):
        return ""
    clean = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return clean.encode("utf-8", "replace").decode()[:MAX_TEXT]


def _id(item: Mapping[str, object]) -> int | None:
    value = item.get("id")
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if abs(value) <= MAX_ID else None


def _attempt(item: Mapping[str, object]) -> int:
    value = item.get("run_attempt", 1)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 < value < MAX_ATTEMPT else 1  # type: ignore[operator,return-value]


def _pr_number(run: Mapping[str, object]) -> int | None:
    requests = run.get("pull_requests")
    items: Iterable[object] = requests if isinstance(requests, list) else []
    for item in items:
        number = item.get("number") if isinstance(item, Mapping) else None
        if not isinstance(number, int) or isinstance(number, bool):
            continue
        if 0 < number < 2**31:
            return number
    return None
