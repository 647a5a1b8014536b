"""The published contract over every store of ours."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from reference_store.store import ReferenceStore
from scrubjay.storage.interface import Store
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.contract import SECRET, StoreCase, StoreContract
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


class PostgresCase(StoreCase):
    """One store for the tests of a class, as a server has one for all tenants: its connections stay open."""

    shared: Store

    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return self.shared

    @pytest.fixture
    def store(self, tmp_path: Path, secret: bytes) -> Store:
        return self.make_store(tmp_path, secret)


class TestPostgres(PostgresCase, StoreContract):
    """As the user that docs/deployment.md makes for it: neither owner nor superuser, behind both fences."""

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _opened(cls, application_url: str) -> Iterator[None]:
        with closing(PostgresStore(application_url, SECRET)) as cls.shared:
            yield


class TestPostgresOwner(PostgresCase, SearchContract, ScopesContract, TenantReaderContract, RebuildsContract):
    """As the owner, the usual private set-up: row-level security does nothing for it, so it hides no fault."""

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _opened(cls, postgres_url: str) -> Iterator[None]:
        with closing(PostgresStore(postgres_url, SECRET)) as cls.shared:
            yield
