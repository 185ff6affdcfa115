"""What retention lets go, what it keeps, and that nothing which follows is lost."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from django.core.files.storage import storages
from django.core.management import call_command
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from dashboard.models import (
    Artifact,
    EvalResult,
    EvalSample,
    Generation,
    RawRecord,
    Run,
    Sweep,
)
from ingest import retention
from ingest.pipeline import replay_run
from ingest.retention import Ages, forget_old
from tests.ingest import golden

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 12, 1, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=400)
UNOFFICIAL = 33598359757  # its evals came with their documents
OFFICIAL = 33300000002


@pytest.fixture
def raw(settings, tmp_path):
    """A raw store of this test."""
    folder = tmp_path / "raw"
    options = settings.STORAGES["raw"]["OPTIONS"] | {"location": folder}
    settings.STORAGES = settings.STORAGES | {
        "raw": settings.STORAGES["raw"] | {"OPTIONS": options}
    }
    return folder


def taken_in(shared_data, run_id) -> Run:
    """Ingest a recorded run, and make it as old as it would be in a year."""
    golden.ingest(shared_data, run_id)
    make_old()
    return Run.objects.get(github_run_id=run_id)


def make_old():
    Artifact.objects.update(stored_at=LONG_AGO)
    EvalResult.objects.update(stored_at=LONG_AGO)


def files(raw):
    return {path.name for path in raw.rglob("*") if path.is_file()}


def told(**options):
    out = BytesIO()

    class Lines:
        def write(self, text):
            out.write(text.encode())

    call_command("forget_old", stdout=Lines(), **options)
    return out.getvalue().decode()


def test_everything_is_kept_for_good_unless_the_settings_say_otherwise(
    raw, shared_data
):
    taken_in(shared_data, UNOFFICIAL)
    before = files(raw)
    assert told(yes=True).startswith("Everything is kept for good.")
    assert forget_old(Ages.of_settings(), NOW, is_rehearsal=False).is_nothing
    assert files(raw) == before != set()


def test_rehearsal_is_the_default_and_deletes_nothing(raw, shared_data):
    taken_in(shared_data, UNOFFICIAL)
    before, state = files(raw), golden.state()
    text = told(raw_days=90, samples_days=90)
    size = sum(path.stat().st_size for path in raw.rglob("*") if path.is_file())
    assert f"{len(before)} files of" in text
    assert f"({size} bytes)" in text
    assert "Nothing was deleted: --yes does it." in text
    assert told(raw_days=90, samples_days=90, dry_run=True) == text
    assert (files(raw), golden.state()) == (before, state)
    assert not Artifact.objects.filter(bytes_forgotten_at__isnull=False).exists()


def test_bytes_go_and_whatever_follows_from_records_stays(raw, shared_data, client):
    run = taken_in(shared_data, UNOFFICIAL)
    records, state = RawRecord.objects.count(), golden.state()
    generation = Generation.objects.get().number

    done = forget_old(Ages(90, 0), NOW, is_rehearsal=False)

    assert done.files > 0
    assert files(raw) == set()
    assert RawRecord.objects.count() == records
    assert golden.state() == state
    assert Generation.objects.get().number == generation + 1
    page = client.get(run.get_absolute_url()).content.decode()
    assert "raw bytes were deleted on 2026-12-01 by retention" in page
    replay_run(run)
    assert golden.state() == state


def test_letting_go_twice_is_letting_go_once(raw, shared_data):
    taken_in(shared_data, UNOFFICIAL)
    forget_old(Ages(90, 90), NOW, is_rehearsal=False)
    rows = list(Artifact.objects.order_by("pk").values())
    generation = Generation.objects.get().number
    again = forget_old(Ages(90, 90), NOW + timedelta(days=1), is_rehearsal=False)
    assert again.is_nothing
    assert list(Artifact.objects.order_by("pk").values()) == rows
    assert Generation.objects.get().number == generation


class KilledError(Exception):
    """A worker that dies at its third file."""


def test_whoever_was_killed_in_between_is_followed_by_one_who_ends_it(
    raw, shared_data, monkeypatch
):
    taken_in(shared_data, UNOFFICIAL)
    monkeypatch.setattr(retention, "UPLOADS_AT_ONCE", 3)
    left = iter(range(4))
    delete = type(storages["raw"]).delete

    def dying(storage, name):
        if next(left, None) is None:
            raise KilledError
        delete(storage, name)

    before = files(raw)
    with monkeypatch.context() as patched:
        patched.setattr(type(storages["raw"]), "delete", dying)
        with pytest.raises(KilledError):
            forget_old(Ages(90, 0), NOW, is_rehearsal=False)
    assert len(files(raw)) == len(before) - 4
    # Whatever says that it has its bytes may lack them; the reverse never happens.
    for artifact in Artifact.objects.filter(bytes_forgotten_at__isnull=False):
        assert not {sha for _, _, sha in artifact.members} & files(raw)
    forget_old(Ages(90, 0), NOW, is_rehearsal=False)
    assert files(raw) == set()
    assert not Artifact.objects.exclude(sha256="").filter(bytes_forgotten_at=None)


def test_bytes_of_a_run_that_holds_the_current_sweep_are_kept_however_old(
    raw, shared_data
):
    run = taken_in(shared_data, OFFICIAL)
    assert run.sweeps.filter(state=Sweep.State.CURRENT).exists()
    before = files(raw)
    done = forget_old(Ages(90, 90), NOW, is_rehearsal=False)
    assert (done.files, done.samples, done.kept_runs) == (0, 0, 1)
    assert files(raw) == before


def test_bytes_that_a_kept_or_younger_upload_shares_stay(raw, shared_data):
    run = taken_in(shared_data, UNOFFICIAL)
    first = run.artifacts.exclude(members=[])[0]
    shared = {sha for _, _, sha in first.members if sha}
    Artifact.objects.create(
        run=run,
        name="again",
        kind="other",
        state="fetched",
        members=first.members,
        sha256=first.sha256,
        stored_at=NOW - timedelta(days=1),
    )
    forget_old(Ages(90, 0), NOW, is_rehearsal=False)
    assert files(raw) == shared


def test_what_was_stored_lately_is_kept_though_its_run_is_old(raw, shared_data):
    taken_in(shared_data, UNOFFICIAL)
    Artifact.objects.update(stored_at=NOW - timedelta(days=89))
    assert forget_old(Ages(90, 0), NOW, is_rehearsal=False).is_nothing


def test_documents_go_and_do_not_come_back_by_replay(raw, shared_data, client):
    run = taken_in(shared_data, UNOFFICIAL)
    count = EvalSample.objects.count()
    assert count
    one = EvalSample.objects.all()[0].eval
    done = forget_old(Ages(0, 90), NOW, is_rehearsal=False)
    assert done.samples == count
    replay_run(run)
    assert not EvalSample.objects.exists()
    page = client.get(reverse("eval_samples", args=[one.pk])).content.decode()
    assert "Retention deleted them on 2026-12-01" in page
    run_page = client.get(run.get_absolute_url()).content.decode()
    assert "samples were deleted on 2026-12-01 by retention" in run_page


def test_bytes_that_come_again_are_said_to_be_there(raw, shared_data):
    taken_in(shared_data, UNOFFICIAL)
    before = files(raw)
    forget_old(Ages(90, 0), NOW, is_rehearsal=False)
    golden.ingest(shared_data, UNOFFICIAL)
    assert files(raw) == before
    assert not Artifact.objects.filter(bytes_forgotten_at__isnull=False).exists()


def test_days_below_zero_are_refused():
    with pytest.raises(Exception, match="counted from 0"):
        told(raw_days=-1)


@pytest.mark.django_db(transaction=True)
def test_nobody_ingests_while_files_are_deleted(raw, shared_data):
    """An ingestion relies on bytes that are there; it has to end first."""
    taken_in(shared_data, UNOFFICIAL)
    import psycopg  # noqa: PLC0415

    from ingest.claims import RAW_LOCK  # noqa: PLC0415
    from tests.worker.crew import test_database_url  # noqa: PLC0415

    before = files(raw)
    with psycopg.connect(test_database_url(), autocommit=True) as ingesting:
        ingesting.execute("SELECT pg_advisory_lock_shared(%s)", [RAW_LOCK])
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        with pytest.raises(Exception, match="lock timeout"):
            forget_old(Ages(90, 0), timezone.now(), is_rehearsal=False)
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
    assert files(raw) == before
