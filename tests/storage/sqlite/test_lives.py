"""Lives in SQLite: every reader notices a new status, and who dies lets go of what they held."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import apsw
import pytest

from scrubjay.models.lifecycle import Event, LifecycleChange
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.storage.changes import Forget, PutEvents, PutLifecycle, PutMemory, PutModel
from scrubjay.storage.snapshot import Snapshot
from scrubjay.storage.sqlite.graph import SQLiteGraph
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.samples import (
    SMALL_MODEL,
    sample_id,
    sample_memory,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)
from store_contract.sqlite_check import disagreements

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import Database

ANN = Scope("t", "ann")
MINE = "user:ann"
A, B = sample_id("a"), sample_id("b")
ARCHIVE = """
import sys
from pathlib import Path
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutLifecycle
from scrubjay.storage.sqlite.store import SQLiteStore
SQLiteStore(Path(sys.argv[1])).write(Scope("t", "ann"), [PutLifecycle({sys.argv[2]: LifecycleChange("archived")})])
"""
HOLD = """
import sys
from pathlib import Path
from scrubjay.models.records import Scope
from scrubjay.storage.sqlite.store import SQLiteStore
with SQLiteStore(Path(sys.argv[1])).try_exclusive(Scope("t", "ann"), "night") as alone:
    print(alone, flush=True)
    sys.stdin.read()
"""


def found(store: SQLiteStore) -> tuple[list[str], list[str]]:
    """Return the active memories by words and by vectors."""
    with store.reader(ANN) as reader:
        words = reader.words([term_group("jay")], RecordFilter()).top(9)
        near = reader.nearest(SMALL_MODEL.fingerprint, sample_vector("jay"), RecordFilter()).top(9)
    return sorted(hit.id for hit in words), sorted(hit.id for hit in near)


def filled(path: Path) -> SQLiteStore:
    """Return a store of two memories."""
    store = SQLiteStore(path, b"k")
    vectors = {SMALL_MODEL.fingerprint: sample_windows("jay")}
    write_changes(store, ANN, PutModel(SMALL_MODEL))
    write_changes(
        store, ANN, *(PutMemory(sample_memory(f"jay {n}", MINE, name=n, vectors=vectors)) for n in "ab")
    )
    return store


def test_a_status_that_another_process_changed_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    with closing(filled(path)) as store:
        assert found(store) == (sorted([A, B]), sorted([A, B]))
        subprocess.run([sys.executable, "-c", ARCHIVE, str(path), A], check=True, timeout=60)
        assert found(store) == ([B], [B])
    assert disagreements(path) == []


def test_a_reader_keeps_the_status_that_its_view_began_with(tmp_path: Path) -> None:
    with (
        closing(filled(tmp_path / "memories.db")) as store,
        closing(SQLiteStore(tmp_path / "memories.db")) as other,
    ):
        with store.reader(ANN) as reader:
            assert len(reader.words([term_group("jay")], RecordFilter()).top(9)) == 2
            write_changes(other, ANN, PutLifecycle({A: LifecycleChange("archived")}))
            assert len(reader.words([term_group("jay")], RecordFilter()).top(9)) == 2
            assert reader.get([A])[A].status == "active"
        assert found(store) == ([B], [B])


def test_a_process_that_dies_lets_go_of_what_it_held_alone(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    with closing(filled(path)) as store:
        command = [sys.executable, "-c", HOLD, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held:
            assert held.stdout is not None
            assert held.stdout.readline() == "True\n"
            with store.try_exclusive(ANN, "night") as alone:
                assert not alone
            write_changes(store, ANN, PutLifecycle({A: LifecycleChange(pinned=True)}))
            held.kill()
            held.wait(30)
        with store.try_exclusive(ANN, "night") as alone:
            assert alone


def test_what_was_forgotten_leaves_no_number_in_the_events(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    with closing(filled(path)) as store:
        write_changes(
            store, ANN, PutEvents((Event(A, "used", 1, MINE), Event(B, "superseded", 2, MINE, other=A)))
        )
        write_changes(store, ANN, Forget((A,)))
    with closing(apsw.Connection(str(path))) as db:
        assert db.execute("SELECT op, other FROM event").fetchall() == [("superseded", None)]


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        ({}, "event_at (tenant=?)"),
        ({"run": "run_0123456789"}, "event_run (tenant=? AND run=?)"),
        ({"ids": [A]}, "event_memory (tenant=? AND memory=?)"),
    ],
    ids=str,
)
def test_the_newest_events_are_read_without_a_look_at_all(
    tmp_path: Path, asked: dict[str, Any], index: str
) -> None:
    path = tmp_path / "memories.db"
    filled(path).close()
    with closing(apsw.Connection(str(path))) as db:
        statements: list[str] = []
        db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        reader = SQLiteGraph((1, 1, [MINE, "public"]), Snapshot())
        reader._db = cast("Database", db)
        reader.events(**asked)
        db.trace_v2(0, None)
        (statement,) = statements
        values = [None] * statement.count("?")
        plan = db.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
    steps = [row[3] for row in plan]
    assert index in steps[0], steps
    assert not any("TEMP B-TREE" in step for step in steps), steps
