"""Deliveries twice, in any order, to two workers, while two web servers read."""

import random
from pathlib import Path

import pytest

from tests.faults.checksum import Contents, differences
from tests.faults.site import Site, get
from tests.ingest import golden

VERDICTS = "dashboard_judgement"
PAGES = ("/", "/inference", "/runs", "/regressions")


@pytest.fixture(scope="session")
def undisturbed_history(one_site: Site, shared_data: Path) -> Contents:
    """What the tables hold after all recorded runs, one by one, in their order."""
    one_site.reset()
    one_site.take_in(*(shared_data / "runs" / str(n) for n in golden.RUN_IDS))
    return one_site.contents()


@pytest.mark.parametrize("seed", [7])
def test_all_runs_twice_in_any_order_by_two_workers_make_the_same_tables(
    site: Site, shared_data: Path, undisturbed_history: Contents, seed: int
) -> None:
    ports = site.have_webs(2)
    site.have_workers(2)
    order = [*golden.RUN_IDS] * 2
    random.Random(seed).shuffle(order)
    paths = [shared_data / "runs" / str(run_id) for run_id in order]
    asked = [site.ask_for(path, copies=2) for path in paths]
    seen = [get(port, page)[0] for _ in range(3) for port in ports for page in PAGES]
    for request in asked:
        ended = site.wait_until_ended(request)
        assert ended.state in ("done", "partly"), ended
    assert set(seen) == {200}
    seen_tables = site.contents()
    assert not differences(undisturbed_history, seen_tables)
    pages = [[get(port, page) for page in PAGES] for port in ports]
    assert {status for answers in pages for status, _ in answers} == {200}
