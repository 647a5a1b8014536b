"""Contract: the suite that every store passes, whoever wrote it.

```python
import pytest
pytest.register_assert_rewrite("scrubjay.testing")  # in conftest.py: failures then show both sides

from scrubjay.testing.store_contract import StoreContract

class TestMyStore(StoreContract):
    def make_store(self, tmp_path, secret):
        return MyStore(tmp_path / "memories", secret)
```

Each test writes to a tenant of its own, so that a server may be shared by all of them. The tests ask only
what `scrubjay.store.base` and `scrubjay.store.changes` say; that equal histories give equal answers in
every store is shown by comparing with `InMemoryStore`, the reference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.testing.store_categories import CategoriesContract
from scrubjay.testing.store_changes import ChangesContract
from scrubjay.testing.store_concepts import ConceptsContract
from scrubjay.testing.store_documents import DocumentsContract
from scrubjay.testing.store_edges import EdgesContract
from scrubjay.testing.store_events import EventsContract
from scrubjay.testing.store_graph import GraphContract
from scrubjay.testing.store_hostile import HostileContract
from scrubjay.testing.store_life import LifeContract
from scrubjay.testing.store_models import ModelsContract
from scrubjay.testing.store_reading import ReadingContract
from scrubjay.testing.store_readings import ReadingsContract
from scrubjay.testing.store_rebuilds import RebuildsContract
from scrubjay.testing.store_runs import RunsContract
from scrubjay.testing.store_scopes import ScopesContract
from scrubjay.testing.store_sessions import SessionsContract
from scrubjay.testing.store_wholes import WholesContract

SECRET = b"the contract's key of 32 bytes.."


class StoreContract(
    ReadingContract,
    ScopesContract,
    ChangesContract,
    DocumentsContract,
    ModelsContract,
    ReadingsContract,
    RebuildsContract,
    GraphContract,
    EdgesContract,
    ConceptsContract,
    CategoriesContract,
    SessionsContract,
    WholesContract,
    LifeContract,
    EventsContract,
    RunsContract,
    HostileContract,
    ABC,
):
    """Subclass it as ``Test…`` and say how to make a store."""

    @abstractmethod
    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        """Return a store that is new for this folder; equal arguments open the same one again.

        Args:
            tmp_path: An empty folder, another one for each test.
            secret: Key of ids and tombstones for its tenants.
        """

    @pytest.fixture
    def secret(self) -> bytes:
        """The key that the store was made with."""
        return SECRET

    @pytest.fixture
    def store(self, tmp_path: Path, secret: bytes) -> Iterator[Store]:
        """An empty store."""
        made = self.make_store(tmp_path, secret)
        yield made
        made.close()

    @pytest.fixture
    def ann(self, tmp_path: Path) -> Scope:
        """A user in the group ``dev``."""
        return Scope(str(tmp_path), "ann", ("dev",))

    @pytest.fixture
    def bob(self, tmp_path: Path) -> Scope:
        """A user of the same tenant, in no group."""
        return Scope(str(tmp_path), "bob")

    @pytest.fixture
    def eve(self, tmp_path: Path) -> Scope:
        """Somebody of the same name and group as Ann, in another tenant."""
        return Scope(f"{tmp_path} of others", "ann", ("dev",))
