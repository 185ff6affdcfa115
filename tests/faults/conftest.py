"""One site for all tests of faults, begun anew for each of them."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.checksum import Contents
from tests.faults.site import Site

# The recorded run that most faults happen to.
RUN = 33300000002


def zipped(folder: Path) -> bytes:
    """Return a bundle as it is uploaded."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            archive.write(path, path.relative_to(folder))
    return packed.getvalue()


@pytest.fixture(scope="session")
def one_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A database and a broker of their own, migrated once."""
    site = Site(tmp_path_factory.mktemp("site"))
    try:
        site.start_postgres()
        site.start_broker()
        site.prepare()
        yield site
    finally:
        site.stop()


@pytest.fixture
def site(one_site: Site) -> Site:
    """An empty site: services run, and whatever else lives still from before."""
    one_site.reset()
    return one_site


@pytest.fixture(scope="session")
def bundle(shared_data: Path) -> Path:
    """The recorded run that most faults happen to."""
    return shared_data / "runs" / str(RUN)


@pytest.fixture(scope="session")
def undisturbed(one_site: Site, bundle: Path) -> Contents:
    """What the tables hold after that run when nothing goes wrong."""
    one_site.reset()
    one_site.take_in(bundle)
    return one_site.contents()
