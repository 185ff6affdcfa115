"""Fixtures that all tests share."""

import os
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from factory.django import DjangoModelFactory
from hypothesis import HealthCheck, settings
from redis import Redis

from launcher.paths import key_prefix

CHECKOUT = Path(__file__).resolve().parent.parent

# No test is about time: benchmarks are. A busy machine is no fault of the code.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def _first_prices_outlive_a_flush():
    """Tables that were emptied hold again what a migration put there.

    Django tells of a flush as it tells of a migration.
    """
    # Need Django, which is set up after this file is read.
    from django.apps import apps  # noqa: PLC0415
    from django.db.models.signals import post_migrate  # noqa: PLC0415

    editions = import_module("dashboard.migrations.0020_price_editions")

    def load(**_: object) -> None:
        editions.load_editions(apps, None)

    dashboard = apps.get_app_config("dashboard")
    post_migrate.connect(load, sender=dashboard, weak=False)
    yield
    post_migrate.disconnect(load, sender=dashboard)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with recorded and golden data, or a skip that says it is absent."""
    named = os.environ.get("FRONTIERBOARD_SHARED")
    folder = Path(named) if named else CHECKOUT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"recorded data is absent: {folder} (set FRONTIERBOARD_SHARED)")
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the machine's Chromium, or a skip that says it is absent."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("Chromium is absent: apt-get install chromium")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """With FRONTIERBOARD_REQUIRE_BROWSER=1 a browser test that skips has failed.

    What a test printed must be text that one process can send to another.
    """
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode())
        for name, text in report.sections
    ]
    required = os.environ.get("FRONTIERBOARD_REQUIRE_BROWSER") == "1"
    if report.skipped and required and CHECKOUT / "tests/browser" in item.path.parents:
        report.outcome = "failed"
        report.longrepr = f"a browser test may not skip here: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def redis_client():
    """A client of the Redis that the tests were given, or that was started for them."""
    with Redis.from_url(os.environ["REDIS_URL"]) as client:
        yield client


@pytest.fixture(autouse=True)
def _no_leftover_keys(redis_client):
    """Cache and queues are empty at each test's start, and after the last.

    Only keys of this test run are touched: the Redis may be anybody's.
    """
    _delete_keys(redis_client)
    yield
    _delete_keys(redis_client)


def _delete_keys(client: Redis) -> None:
    if keys := list(client.scan_iter(f"{key_prefix()}*", count=1000)):
        client.delete(*keys)


@pytest.fixture(autouse=True)
def _nothing_is_kept(settings):
    """Pages are made anew: tests change rows without the pipeline, which would tell."""
    settings.FRONTIERBOARD_KEPT_SECONDS = 0


@pytest.fixture(autouse=True)
def _sequences_from_the_start():
    """Factories count from the start in each test, so that the order never matters."""
    # Needs Django, which is set up after this file is read.
    from tests import factories  # noqa: PLC0415

    for value in vars(factories).values():
        if isinstance(value, type) and issubclass(value, DjangoModelFactory):
            value.reset_sequence(0, force=True)
