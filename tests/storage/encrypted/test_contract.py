"""The published contract, of a store that is encrypted: the parts in which its file or its vectors could differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay.storage.interface import Store
from scrubjay.storage.sqlite.connection import EncryptionKey
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.contract import StoreCase
from store_contract.generations import RebuildsContract
from store_contract.memories import ChangesContract, HostileContract
from store_contract.search import ModelsContract, SearchContract


class TestEncrypted(
    SearchContract, ModelsContract, ChangesContract, RebuildsContract, HostileContract, StoreCase
):
    @pytest.fixture(autouse=True)
    def _with(self, cipher: EncryptionKey) -> None:
        self._key = cipher

    def make_store(self, tmp_path: Path, secret: bytes) -> Store:
        return SQLiteStore(tmp_path / "memories.db", secret, key=self._key)
