"""The published contract, of a store that is encrypted."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay.store.base import Store
from scrubjay.store.sqlite.cipher import Key
from scrubjay.store.sqlite.store import SQLiteStore
from scrubjay.testing.store_contract import StoreContract


class TestEncrypted(StoreContract):
    @pytest.fixture(autouse=True)
    def _with(self, cipher: Key) -> None:
        self._key = cipher

    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return SQLiteStore(tmp_path / "memories.db", secret, key=self._key)
