"""A backup that is taken while others write is a sound store of one moment, and one that fails leaves nothing."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest
from test_store_killed import writing

from scrubjay.errors import StoreDamagedError
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.sqlite import maintenance as copying
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.samples import sample_memory, write_changes
from store_contract.sqlite_check import disagreements


def test_a_backup_taken_while_another_process_writes_is_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        copying, "BACKUP_STEPS", 3
    )  # as many chances for a write to fall between two steps as can be
    path = tmp_path / "memories.db"
    with writing("live", path, 4, 400) as process:
        assert process.stdout is not None
        store = SQLiteStore(path)
        held = []
        for number in range(4):
            told = process.stdout.readline()
            copy = tmp_path / f"copy-{number}.db"
            store.backup(copy)
            assert told
            assert disagreements(copy) == []
            back = SQLiteStore(copy)
            with back.reader(Scope("faults", "ann", ("dev",))) as reader:
                held.append(reader.counts().memories)
            back.close()
        store.close()
    assert len(set(held)) > 1, "nothing was written meanwhile"


def test_a_copy_that_does_not_pass_its_check_is_no_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memories.db"
    store = SQLiteStore(path)
    write_changes(
        store,
        Scope("t", "ann"),
        *(PutMemory(sample_memory(f"note {n} of jays", "user:ann")) for n in range(200)),
    )
    store.close()
    pages = path.stat().st_size // 8192
    with path.open("rb+") as torn:  # a page in the middle of a table, overwritten as by a failing disk
        torn.seek((pages // 2) * 8192)
        torn.write(os.urandom(4096))
    store = SQLiteStore(path)
    with pytest.raises(StoreDamagedError):
        store.backup(tmp_path / "copy.db")
    store.close()


def test_a_backup_never_writes_into_a_file_that_is_there(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "memories.db")
    (tmp_path / "mine.db").write_text("mine", "utf-8")
    with pytest.raises((FileExistsError, apsw.Error)):
        store.backup(tmp_path / "mine.db")
    assert (tmp_path / "mine.db").read_text("utf-8") == "mine"
    store.close()
