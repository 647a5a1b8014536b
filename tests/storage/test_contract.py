"""The published contract over every store of ours."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reference_store.store import ReferenceStore
from scrubjay.storage.interface import Store
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.contract import StoreCase, StoreContract
from store_contract.generations import RebuildsContract, TenantReaderContract
from store_contract.scopes import ScopesContract
from store_contract.search import SearchContract


class TestInMemory(StoreContract):
    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return ReferenceStore(secret)


class TestSQLite(StoreContract):
    @pytest.fixture(autouse=True)
    def _made(self, tmp_path: Path, empty_store: Path) -> None:
        shutil.copy(empty_store, tmp_path / "memories.db")

    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return SQLiteStore(tmp_path / "memories.db", secret)


class TestPostgres(StoreContract):
    """As the user that docs/deployment.md makes for it: neither owner nor superuser, behind both fences."""

    @pytest.fixture(autouse=True)
    def _server(self, application_url: str) -> None:
        self._url = application_url

    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return PostgresStore(self._url, secret)


class TestPostgresOwner(SearchContract, ScopesContract, TenantReaderContract, RebuildsContract, StoreCase):
    """As the owner, the usual private set-up: row-level security does nothing for it, so it hides no fault."""

    @pytest.fixture(autouse=True)
    def _server(self, postgres_url: str) -> None:
        self._url = postgres_url

    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return PostgresStore(self._url, secret)
