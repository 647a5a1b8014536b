"""A word is looked for in a store's file without dropping the locks of the connections that have it open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.storage.sqlite import maintenance

LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)  # https://www.sqlite.org/src/file/src/os.h
"""


def is_locked(store: Path) -> bool:
    """Return whether another process is kept from what SQLite does with a database that nobody has open."""
    tried = subprocess.run([sys.executable, "-c", LOCK, str(store)], capture_output=True, timeout=60)
    return b"BlockingIOError" in tried.stderr


def test_a_store_that_is_open_stays_locked(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    with Memory.open(store, user="ann", embedders=[HashEmbedder(32)]) as memory:
        memory.add("The heron eats fish.")
        assert is_locked(store)
        assert any(maintenance.file_contains(path, b"heron") for path in (store, tmp_path / "m.db-wal"))
        assert not any(maintenance.file_contains(path, b"owl") for path in (store, tmp_path / "m.db-wal"))
        assert is_locked(store)
    assert not is_locked(store)


def test_a_word_across_two_reads_is_found_and_no_file_has_none(tmp_path: Path) -> None:
    file = tmp_path / "m.db-wal"
    file.write_bytes(b"." * (maintenance.READ_BYTES - 2) + b"heron" + b"." * 10)
    assert maintenance.file_contains(file, b"heron")
    assert not maintenance.file_contains(tmp_path / "none", b"heron")
