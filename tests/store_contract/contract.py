"""Contract: the suite that every store passes, whoever wrote it.

```python
import pytest
pytest.register_assert_rewrite("store_contract")  # in conftest.py: failures then show both sides

from store_contract.contract import StoreContract

class TestMyStore(StoreContract):
    def make_store(self, tmp_path, secret):
        return MyStore(tmp_path / "memories", secret)
```

Each test writes to a tenant of its own, so that a server may be shared by all of them. The tests ask only
what `scrubjay.storage.interface` and `scrubjay.storage.changes` say; that equal histories give equal answers in
every store is shown by comparing with `ReferenceStore`, the reference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay.models.records import Scope
from scrubjay.storage.interface import Store
from store_contract.documents import DocumentsContract, SessionsContract
from store_contract.edges import EdgesContract, GraphContract
from store_contract.entities import CategoriesContract, ConceptsContract
from store_contract.generations import RebuildsContract, TenantReaderContract
from store_contract.lifecycle import EventsContract, LifecycleContract, ReadingsContract, RunsContract
from store_contract.memories import ChangesContract, HostileContract
from store_contract.scopes import ScopesContract
from store_contract.search import ModelsContract, SearchContract

SECRET = b"the contract's key of 32 bytes.."


class StoreCase(ABC):
    """How a store is made, and the users of its tests: for a class of a few parts of the contract."""

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


class StoreContract(
    SearchContract,
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
    TenantReaderContract,
    LifecycleContract,
    EventsContract,
    RunsContract,
    HostileContract,
    StoreCase,
):
    """Subclass it as ``Test…`` and say how to make a store."""
