"""/metrics: who may read it, what it holds, and that strangers cannot blow it up."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from dashboard import counters, telemetry
from dashboard.models import Generation, IngestRequest, Run
from ingest.requests import Ending, RequestProgress, carry_out
from launcher.paths import key_prefix
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN = "a-token-of-some-length"  # noqa: S105  only of these tests


@pytest.fixture
def scrape(client, settings):
    """Read /metrics with a token; samples by name and labels."""
    settings.FRONTIERBOARD_METRICS_TOKENS = [TOKEN]

    def read():
        answer = client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        found = {}
        for family in text_string_to_metric_families(answer.content.decode()):
            for sample in family.samples:
                found[sample.name, *sample.labels.values()] = sample.value
        return found

    return read


def test_nobody_reads_where_nothing_is_set(client, settings):
    settings.FRONTIERBOARD_METRICS_NETWORKS = []
    settings.FRONTIERBOARD_METRICS_TOKENS = []
    assert client.get("/metrics").status_code == 404


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"]
)
def test_whoever_has_not_the_token_is_refused(client, settings, given):
    settings.FRONTIERBOARD_METRICS_NETWORKS = []
    settings.FRONTIERBOARD_METRICS_TOKENS = [TOKEN]
    answer = client.get("/metrics", headers={"authorization": given})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Bearer realm="metrics"'
    assert b"frontierboard" not in answer.content


def test_either_token_opens_while_one_is_exchanged(client, settings):
    settings.FRONTIERBOARD_METRICS_TOKENS = [TOKEN, "the-next-token-of-all"]
    settings.FRONTIERBOARD_METRICS_NETWORKS = []
    for token in settings.FRONTIERBOARD_METRICS_TOKENS:
        headers = {"authorization": f"bearer {token}"}
        assert client.get("/metrics", headers=headers).status_code == 200


def test_machine_itself_reads_and_what_a_proxy_passed_on_does_not(client):
    assert client.get("/metrics").status_code == 200
    passed = client.get("/metrics", headers={"x-forwarded-for": "127.0.0.1"})
    assert passed.status_code == 403
    assert client.get("/metrics", REMOTE_ADDR="10.1.1.1").status_code == 403
    assert client.get("/metrics", REMOTE_ADDR="::ffff:127.0.0.1").status_code == 200
    assert client.get("/metrics", REMOTE_ADDR="").status_code == 403


def test_requests_skips_runs_and_generation_are_those_of_the_tables(scrape):
    factories.RunFactory(publication=Run.Publication.OFFICIAL, received_count=7)
    run = factories.RunFactory(received_count=5)
    run.skips.create(reason="failed_run")
    run.skips.create(reason="failed_run", member="b")
    run.skips.create(reason="of-a-later-version")
    Generation.bump()
    asked = timezone.now() - timedelta(minutes=5)
    for state in ("queued", "failed"):
        IngestRequest.objects.create(
            kind="path", target="x", state=state, requested_at=asked
        )

    found = scrape()

    assert found["frontierboard_up", "database"] == 1
    assert found["frontierboard_up", "broker"] == 1
    assert found["frontierboard_generation",] == 1
    assert found["frontierboard_runs", "official"] == 1
    assert found["frontierboard_points", "official"] == 7
    assert found["frontierboard_points", "unofficial"] == 5
    assert found["frontierboard_skips", "failed_run"] == 2
    assert found["frontierboard_skips", "other"] == 1
    assert found["frontierboard_ingest_requests", "queued"] == 1
    assert found["frontierboard_ingest_requests", "failed"] == 1
    assert found["frontierboard_ingest_requests", "done"] == 0
    assert 300 <= found["frontierboard_ingest_oldest_waiting_seconds",] < 330


def test_steps_and_requests_are_timed_where_they_are_carried_out(scrape):
    request = IngestRequest.objects.create(kind="path", target="x")

    def work(progress: RequestProgress) -> Ending:
        progress("reading", 0, 2)
        progress("reading", 1, 2)
        progress("storing")
        return Ending(IngestRequest.State.PARTLY)

    carry_out(request.pk, work, passing=(), is_last_try=False)

    found = scrape()
    assert found["frontierboard_ingest_step_seconds_count", "reading"] == 1
    assert found["frontierboard_ingest_step_seconds_count", "storing"] == 1
    assert found["frontierboard_ingest_step_seconds_bucket", "600.0", "reading"] == 1
    assert found["frontierboard_ingest_seconds_count", "path", "partly"] == 1
    assert found["frontierboard_ingest_seconds_sum", "path", "partly"] < 60


def test_durations_fall_into_the_bucket_whose_bound_they_reach():
    for seconds in (0.1, 0.2, 4, 10_000):
        telemetry.note_duration(telemetry.STEP, "reading", seconds)
    seen = telemetry.durations(telemetry.STEP)["reading"]
    assert seen.counts == [1, 1, 0, 1, 0, 0, 0, 0, 1]
    assert seen.total_s == pytest.approx(10_004.3)


def test_queue_workers_schedule_and_budget_are_those_of_the_broker(
    scrape, redis_client
):
    found = scrape()
    assert ("frontierboard_worker_heartbeat_age_seconds",) not in found
    assert ("frontierboard_github_remaining",) not in found
    telemetry.note_sign_of_life("worker@a")
    telemetry.note_sign_of_life("worker@b")
    telemetry.note_schedule()
    telemetry.note_budget(
        {
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": "4321",
            "x-ratelimit-reset": "1790000000",
        }
    )
    telemetry.note_budget({"x-ratelimit-remaining": "1"})
    telemetry.note_budget({"x-ratelimit-resource": "search"})
    redis_client.lpush(key_prefix() + "celery", "{}", "{}")

    found = scrape()
    assert found["frontierboard_workers",] == 2
    assert found["frontierboard_worker_heartbeat_age_seconds",] < 5
    assert found["frontierboard_schedule_age_seconds",] < 5
    assert found["frontierboard_github_limit",] == 5000
    assert found["frontierboard_github_remaining",] == 4321
    assert found["frontierboard_github_reset_timestamp_seconds",] == 1790000000
    assert found["frontierboard_queue_tasks", "waiting"] == 2
    assert found["frontierboard_queue_tasks", "held"] == 0


def test_strangers_make_no_new_series(client, scrape):
    for number in range(8):
        client.get(f"/no-such-page-{number}")
        client.get(f"/keys/no-such-key-{number}")
        client.get(f"/static/none-{number}.js")
        client.get("/help", {f"odd{number}": number})
        client.generic(f"BREW{number}", "/help")
        client.get(f"/api/v1/runs/{number + 10**9}")
        client.get("/help", headers={"x-request-id": str(number)})

    labels = {label for one in counted(scrape()) for label in one}
    assert {"key", "none", "static", "help", "api:run", "other"} <= labels
    assert not any("no-such" in label or "BREW" in label for label in labels)
    assert not any(re.search(r"\d\d", label) for label in labels)


def counted(found):
    """Labels of every series of page timings."""
    return {name[1:] for name in found if name[0] == "frontierboard_page_seconds_count"}


def test_errors_of_the_interface_and_the_cache_are_counted(client, scrape):
    def counts():
        found = scrape()
        return [
            found.get(("frontierboard_api_errors_total", "404"), 0),
            found.get(("frontierboard_cache_reads_total", "other", "hit"), 0),
            found.get(("frontierboard_cache_reads_total", "other", "miss"), 0),
        ]

    before = counts()
    client.get("/api/v1/runs/123")
    from django.core.cache import cache  # noqa: PLC0415

    cache.set("kept", None)
    assert cache.get("kept", "absent") is None
    assert cache.get("absent", "default") == "default"
    assert cache.get_many(["kept", "absent"]) == {"kept": None}
    assert [now - was for now, was in zip(counts(), before, strict=True)] == [1, 2, 2]


def test_site_answers_though_nothing_can_be_told(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    telemetry._client.cache_clear()
    try:
        telemetry.note_sign_of_life("worker@a")
        telemetry.note_duration(telemetry.STEP, "reading", 1)
    finally:
        telemetry._client.cache_clear()


def test_every_counter_has_a_name_of_ours():
    for metric in (counters.PAGES, counters.API_ERRORS, counters.CACHE_READS):
        assert next(iter(metric.describe())).name.startswith("frontierboard_")
