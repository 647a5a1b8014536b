"""The published contract over every store of ours."""

from __future__ import annotations

from pathlib import Path

from scrubjay.store.base import Store
from scrubjay.store.inmemory.store import InMemoryStore
from scrubjay.store.sqlite.store import SQLiteStore
from scrubjay.testing.store_contract import StoreContract


class TestInMemory(StoreContract):
    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return InMemoryStore(secret)


class TestSQLite(StoreContract):
    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return SQLiteStore(tmp_path / "memories.db", secret)
