"""What the tests of faults share lies beside them."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

MEMORY = Path("/dev/shm")


@pytest.fixture
def quick() -> Iterator[Path]:
    """A folder in memory, where there is one: a thousand stores are opened there, and none waits for a disk."""
    with tempfile.TemporaryDirectory(prefix="sj-faults-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder)
