"""The published contract, of a store that is encrypted."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay.storage.interface import Store
from scrubjay.storage.sqlite.connection import EncryptionKey
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.contract import StoreContract


class TestEncrypted(StoreContract):
    @pytest.fixture(autouse=True)
    def _with(self, cipher: EncryptionKey) -> None:
        self._key = cipher

    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return SQLiteStore(tmp_path / "memories.db", secret, key=self._key)
