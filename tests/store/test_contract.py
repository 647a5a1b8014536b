"""The published contract over every store of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay.store.base import Store
from scrubjay.store.inmemory.store import InMemoryStore
from scrubjay.store.postgres.store import PostgresStore
from scrubjay.store.sqlite.store import SQLiteStore
from scrubjay.testing.store_contract import StoreContract


class TestInMemory(StoreContract):
    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return InMemoryStore(secret)


class TestSQLite(StoreContract):
    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return SQLiteStore(tmp_path / "memories.db", secret)


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, postgres_url: str) -> None:
        self._url = postgres_url

    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return PostgresStore(self._url, secret)


class TestPostgresApplication(StoreContract):
    """As the user that docs/postgres.md makes for it: neither owner nor superuser, behind both fences."""

    @pytest.fixture(autouse=True)
    def _server(self, application_url: str) -> None:
        self._url = application_url

    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return PostgresStore(self._url, secret)
