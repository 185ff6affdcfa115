"""The broker killed, emptied and away, with tasks waiting and at work."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from launcher import broker
from tests.faults.checksum import Contents, differences
from tests.faults.site import Site, get, kill
from tests.faults.steps import held

# Three runs for the two processes of a worker: one of them has to wait.
RUNS = (33300000002, 33400000005, 33484262630)


@pytest.fixture(scope="session")
def undisturbed_runs(one_site: Site, shared_data: Path) -> Contents:
    one_site.reset()
    one_site.take_in(*(shared_data / "runs" / str(run_id) for run_id in RUNS))
    return one_site.contents()


def ask_for_runs(site: Site, shared_data: Path) -> list[int]:
    asked = []
    for run_id in RUNS:
        asked.append(site.ask_for(shared_data / "runs" / str(run_id)))
        if len(asked) == 1:
            site.wait_until_blocked()
    return asked


def end_all(site: Site, asked: list[int]) -> None:
    for request in asked:
        ended = site.wait_until_ended(request)
        assert (ended.state, ended.error) == ("done", "")


def test_killed_broker_gives_back_what_waits_and_what_is_at_work(
    site: Site, shared_data: Path, undisturbed_runs: Contents
) -> None:
    site.have_workers()
    assert site.broker is not None
    with held(site, "points"):
        asked = ask_for_runs(site, shared_data)
        kill(site.broker)
    site.start_broker()
    # As `make run` does at its start; else they come back after the visibility timeout.
    broker.release_held_jobs(site.data)
    end_all(site, asked)
    assert not differences(undisturbed_runs, site.contents())


def test_tasks_of_an_emptied_broker_are_sent_again(
    site: Site, shared_data: Path, undisturbed_runs: Contents
) -> None:
    site.have_workers()
    with held(site, "points"):
        asked = ask_for_runs(site, shared_data)
        site.empty_broker()
    # A quarter of an hour later beat takes what did not end for lost.
    site.rows(
        "UPDATE dashboard_ingestrequest SET sent_at = sent_at - interval '16 minutes'"
    )
    site.send("ingest.tasks.resend_requests")
    end_all(site, asked)
    assert not differences(undisturbed_runs, site.contents())


def test_pages_answer_without_a_broker(site: Site, bundle: Path) -> None:
    [port] = site.have_webs()
    site.take_in(bundle)
    paths = ("/", "/inference", "/runs", "/regressions", "/api/v1/config-keys")
    before = {path: get(port, path)[0] for path in paths}
    assert set(before.values()) == {200}
    assert site.broker is not None
    kill(site.broker)
    assert {path: get(port, path)[0] for path in paths} == before
    status, told = get(port, "/readyz?parts=broker")
    assert status == 503
    assert "broker" in told
    site.start_broker()
    assert get(port, "/readyz?parts=broker")[0] == 200


def test_what_was_asked_without_a_broker_is_done_once_it_is_back(
    site: Site, bundle: Path, undisturbed: Contents
) -> None:
    [port] = site.have_webs()
    site.have_workers()
    with ExitStack() as later:
        assert site.broker is not None
        kill(site.broker)
        later.callback(site.start_broker)
        request = site.request_stored(bundle)
        status, page = get(port, f"/requests/{request}")
        assert (status, "queued" in page) == (200, True)
    site.rows(
        "UPDATE dashboard_ingestrequest SET sent_at = sent_at - interval '16 minutes'"
    )
    site.send("ingest.tasks.resend_requests")
    assert site.wait_until_ended(request).state == "done"
    assert not differences(undisturbed, site.contents())
