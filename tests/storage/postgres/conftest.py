"""What the tests of the PostgreSQL store share lies here and beside."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from scrubjay.models.records import Scope
from scrubjay.storage.postgres.store import PostgresStore

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def ann(tmp_path: Path) -> Scope:
    """A user of a tenant of this test's own."""
    return Scope(str(tmp_path), "ann")


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    """A store on the shared server."""
    with closing(PostgresStore(postgres_url)) as made:
        yield made
