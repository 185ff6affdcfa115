"""The raw store on a server that speaks S3, over HTTP on this machine."""

import io
from typing import BinaryIO

import boto3
import pytest
from django.core.files.storage import storages
from moto.server import ThreadedMotoServer

from dashboard import environment
from dashboard.models import EvalSample, Run
from dashboard.vocabulary.raw_files import raw_path
from ingest.pipeline import replay_run
from ingest.raw_store import keep, kept_file
from ingest.retention import Ages, forget_old
from tests.ingest import golden
from tests.pipeline.test_retention import NOW, UNOFFICIAL, make_old

pytestmark = pytest.mark.django_db
BUCKET = "frontierboard-tests"
DIGEST = "ab" + "0" * 62


@pytest.fixture(scope="module")
def server():
    """A server of moto on a free port."""
    found = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    found.start()
    _, port = found.get_host_and_port()
    yield f"http://127.0.0.1:{port}"
    found.stop()


@pytest.fixture
def bucket(server, settings, monkeypatch):
    """The settings that .env.example explains, and an empty bucket."""
    told = {
        "BUCKET": BUCKET,
        "ENDPOINT": server,
        "REGION": "us-east-1",
        "ACCESS_KEY": "key",
        "SECRET": "secret",
    }
    for name, value in told.items():
        monkeypatch.setenv(f"FRONTIERBOARD_S3_{name}", value)
    settings.STORAGES = settings.STORAGES | {"raw": environment.raw_storage()}
    s3 = boto3.resource(
        "s3",
        endpoint_url=server,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",  # noqa: S106  of the server above
    )
    found = s3.Bucket(BUCKET)
    found.create()
    yield found
    found.objects.all().delete()
    found.delete()


def opened(digest: str) -> BinaryIO:
    found = kept_file(digest)
    assert found is not None
    return found


def names(bucket):
    return {item.key.rpartition("/")[2] for item in bucket.objects.all()}


def test_bytes_are_kept_once_and_read_again(bucket):
    body = b"raw bytes" * 1000
    assert keep(io.BytesIO(body), DIGEST, len(body)) is True
    assert keep(io.BytesIO(body), DIGEST, len(body)) is False
    assert [item.key for item in bucket.objects.all()] == [f"raw/{raw_path(DIGEST)}"]
    with opened(DIGEST) as stream:
        assert stream.read(9) == b"raw bytes"
        stream.seek(-5, io.SEEK_END)
        assert stream.read() == b"bytes"


def test_bytes_that_were_cut_off_are_written_again(bucket):
    storages["raw"].save(raw_path(DIGEST), io.BytesIO(b"raw"))
    assert keep(io.BytesIO(b"raw bytes"), DIGEST, 9) is True
    with opened(DIGEST) as stream:
        assert stream.read() == b"raw bytes"


def test_large_ones_go_through_a_file(bucket):
    body = bytes(20 << 20)
    keep(io.BytesIO(body), DIGEST, len(body))
    with opened(DIGEST) as stream:
        assert stream.read(4) == bytes(4)
        assert stream.file._rolled is True  # type: ignore[attr-defined]
        assert sum(len(piece) for piece in iter(lambda: stream.read(1 << 20), b"")) == (
            len(body) - 4
        )


def test_what_is_not_there_is_none(bucket):
    assert kept_file(DIGEST) is None


def test_store_that_does_not_answer_fails_as_a_disk_does(settings, monkeypatch):
    monkeypatch.setenv("FRONTIERBOARD_S3_BUCKET", BUCKET)
    monkeypatch.setenv("FRONTIERBOARD_S3_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("FRONTIERBOARD_S3_ACCESS_KEY", "key")
    monkeypatch.setenv("FRONTIERBOARD_S3_SECRET", "not-to-be-told")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    settings.STORAGES = settings.STORAGES | {"raw": environment.raw_storage()}
    with pytest.raises(OSError, match="raw store cannot be used") as raised:
        keep(io.BytesIO(b"raw"), DIGEST, 3)
    assert "not-to-be-told" not in str(raised.value)


def test_run_is_taken_in_replayed_and_forgotten_as_on_a_disk(bucket, shared_data):
    golden.ingest(shared_data, UNOFFICIAL)
    run = Run.objects.get(github_run_id=UNOFFICIAL)
    named = {sha for a in run.artifacts.all() for _, _, sha in a.members if sha}
    assert names(bucket) == named != set()
    state, samples = golden.state(), EvalSample.objects.count()
    assert samples
    replay_run(run)
    assert (golden.state(), EvalSample.objects.count()) == (state, samples)
    make_old()
    done = forget_old(Ages(90, 0), NOW, is_rehearsal=False)
    assert (done.files, names(bucket)) == (len(named), set())
    assert golden.state() == state
