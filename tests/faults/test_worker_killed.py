"""A worker killed at every step, as the kernel does out of memory, and taken over."""

from pathlib import Path

import pytest

from tests.faults.checksum import Contents, differences
from tests.faults.site import Site, kill
from tests.faults.steps import held, steps


# Steps of writing are those of tests/worker/test_kill.py.
@pytest.mark.parametrize(
    "step",
    steps("reading", "config files", "mapping others again"),
)
def test_run_is_whole_after_its_worker_died(
    site: Site, bundle: Path, undisturbed: Contents, step: str
) -> None:
    site.have_workers()
    with held(site, step):
        request = site.ask_for(bundle)
        site.wait_until_blocked()
        site.kill_at_work()
    site.resend_dead()
    ended = site.wait_until_ended(request)
    assert (ended.state, ended.error) == ("done", "")
    assert not differences(undisturbed, site.contents())


def test_second_worker_takes_over_what_the_first_leaves(
    site: Site, bundle: Path, undisturbed: Contents
) -> None:
    site.have_workers(2)
    with held(site, "points"):
        request = site.ask_for(bundle, copies=3)
        site.wait_until_blocked()
        kill(site.workers[0])
    site.resend_dead()
    ended = site.wait_until_ended(request)
    assert (ended.state, ended.error) == ("done", "")
    assert not differences(undisturbed, site.contents())
