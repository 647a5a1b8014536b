"""What the tests of faults share lies beside them."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from store_contract.postgres_server import SERVER_PACKAGE, PostgresServer, server_programs, start_server

sys.path.insert(0, str(Path(__file__).parent))

MEMORY = Path("/dev/shm")


def within() -> Path | None:
    """Return a folder in memory, None where there is none."""
    return MEMORY if MEMORY.is_dir() else None


@pytest.fixture(scope="module")
def lasting() -> Iterator[PostgresServer]:
    """A server that the tests of a module stop and start, and of which nothing is slower than it must be."""
    with start_server(_places(), within(), fsync="off") as server:
        yield server


@pytest.fixture(scope="module")
def lazy() -> Iterator[PostgresServer]:
    """A server on which what no commit has waited for reaches the disk late, so that a crash does lose it."""
    with start_server(_places(), within(), fsync="off", wal_writer_delay="10s") as server:
        yield server


def _places() -> Path:
    places = server_programs()
    if places is None:
        assert sys.platform != "linux", f"{SERVER_PACKAGE} is not installed: `pip install --group dev`"
        pytest.skip(f"{SERVER_PACKAGE} has no wheel for {sys.platform}")
    return places


@pytest.fixture
def quick() -> Iterator[Path]:
    """A folder in memory, where there is one: a thousand stores are opened there, and none waits for a disk."""
    with tempfile.TemporaryDirectory(prefix="sj-faults-", dir=within()) as folder:
        yield Path(folder)
