"""PostgreSQL killed, and restarted, under a worker at every step and under readers."""

import os
import signal
from pathlib import Path

import pytest

from tests.faults.checksum import Contents, differences
from tests.faults.site import Site, kill
from tests.faults.steps import STEPS, held, steps


def restart_killed(site: Site) -> None:
    """SIGKILL, as the kernel does out of memory: nothing is written down first."""
    assert site.postgres is not None
    kill(site.postgres)
    site.start_postgres()


def restart_at_once(site: Site) -> None:
    """A fast restart in the middle of transactions, as an upgrade does."""
    assert site.postgres is not None
    site.postgres.process.send_signal(signal.SIGINT)
    site.postgres.process.wait()
    site.start_postgres()


def kill_session(site: Site) -> None:
    """One session killed: the server throws all others out and recovers."""
    query = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' LIMIT 1"
    [(pid,)] = site.rows(query)
    os.kill(int(str(pid)), signal.SIGKILL)


WAYS = (restart_killed, restart_at_once, kill_session)


@pytest.mark.parametrize(
    "step", steps("keeping artifacts", "points", "before the commit")
)
def test_run_is_whole_after_its_database_went_away(
    site: Site, bundle: Path, undisturbed: Contents, step: str
) -> None:
    way = WAYS[list(STEPS).index(step) % len(WAYS)]
    site.have_workers()
    with held(site, step):
        request = site.ask_for(bundle)
        site.wait_until_blocked()
        way(site)
    ended = site.wait_until_ended(request)
    assert (ended.state, ended.error) == ("done", "")
    assert not differences(undisturbed, site.contents())
