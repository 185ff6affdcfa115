"""Corrections that name a config key, when a late config file moves the rows."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import ProtectedError

from dashboard.corrections import exclude_points, hold_sweep, undo
from dashboard.models import ConfigKey, Correction, Point
from ingest.pipeline import derive_run, import_config_files
from tests.ingest import golden
from tests.pipeline.bundles import KEY, REPOSITORY, STARTED, busy_row, master, results
from tests.pipeline.conftest import Desk, the_run, the_sweep

BY: dict[str, Any] = {"author": "maintainer", "reason": "a broken node"}


def bring_config(desk: Desk) -> None:
    at = STARTED - timedelta(days=1)
    files = {"amd-master.yaml": master()}
    import_config_files(files, repository=REPOSITORY, sha="b" * 40, at=at)


def unmapped(desk: Desk) -> ConfigKey:
    """Take a run in whose key no config defines yet."""
    desk.ingest(None, results(busy_row(4), busy_row(8)))
    key = the_sweep().config_key
    assert key.is_synthetic
    return key


def test_an_exclusion_follows_its_rows_to_the_key_they_move_to(desk: Desk) -> None:
    key = unmapped(desk)
    made = exclude_points(run=the_run(), config_key=key, concurrency=8, **BY)
    derive_run(the_run())
    bring_config(desk)
    made.refresh_from_db()
    assert made.config_key is not None
    assert (made.config_key.key, made.reason) == (KEY, "a broken node")
    excluded = Point.objects.get(concurrency=8)
    assert (excluded.is_excluded, excluded.is_current) == (True, False)
    assert not ConfigKey.objects.filter(pk=key.pk).exists()


def test_a_hold_follows_its_sweep(desk: Desk) -> None:
    unmapped(desk)
    hold_sweep(sweep=the_sweep(), **BY)
    derive_run(the_run())
    bring_config(desk)
    assert (the_sweep().config_key.key, the_sweep().state) == (KEY, "held")
    assert the_sweep().state_reason == "held by a person"


def test_a_correction_that_was_undone_is_kept_with_its_key(desk: Desk) -> None:
    key = unmapped(desk)
    made = exclude_points(run=the_run(), config_key=key, **BY)
    undo(correction=made, author="reviewer", reason="it was fine")
    bring_config(desk)
    assert Correction.objects.get().undone_by == "reviewer"
    assert the_sweep().received_count == 2


def test_rows_that_went_to_two_keys_leave_their_correction_behind(desk: Desk) -> None:
    rows = [busy_row(4), busy_row(8, image="img/other:1")]
    desk.ingest(None, results(*rows))
    key = the_sweep().config_key
    made = exclude_points(run=the_run(), config_key=key, **BY)
    derive_run(the_run())
    at = STARTED - timedelta(days=1)
    files = {
        "amd-master.yaml": master(),
        "nvidia-master.yaml": master("other-key", image="img/other:1"),
    }
    import_config_files(files, repository=REPOSITORY, sha="b" * 40, at=at)
    made.refresh_from_db()
    assert made.config_key == key
    assert the_run().sweeps.count() == 2
    assert the_run().received_count == 2


def test_a_key_that_a_correction_names_cannot_be_deleted(desk: Desk) -> None:
    key = unmapped(desk)
    exclude_points(run=the_run(), config_key=key, **BY)
    Point.objects.all().delete()
    the_run().sweeps.all().delete()
    with pytest.raises(ProtectedError):
        key.delete()


def test_an_excluded_run_is_the_same_whenever_its_config_comes(desk: Desk) -> None:
    key = unmapped(desk)
    exclude_points(run=the_run(), config_key=key, concurrency=4, **BY)
    derive_run(the_run())
    bring_config(desk)
    state = golden.state()
    desk.ingest(None, results(busy_row(4), busy_row(8)))
    assert golden.state() == state
