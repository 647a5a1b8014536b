"""Lives in SQLite: every reader notices a new status, and who dies lets go of what they held."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import apsw
import pytest

from scrubjay.memory.events import Event
from scrubjay.memory.life import Life
from scrubjay.memory.records import Where
from scrubjay.memory.scope import Scope
from scrubjay.store.changes import Forget, PutEvents, PutLife, PutMemory, PutModel
from scrubjay.store.sqlite.seen import Seen
from scrubjay.store.sqlite.store import SQLiteStore
from scrubjay.store.sqlite.told import Told
from scrubjay.testing.store_check import disagreements
from scrubjay.testing.store_samples import SMALL, embedded, group, memory, sample_id, vector, write

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

ANN = Scope("t", "ann")
MINE = "user:ann"
A, B = sample_id("a"), sample_id("b")
ARCHIVE = """
import sys
from pathlib import Path
from scrubjay.memory.life import Life
from scrubjay.memory.scope import Scope
from scrubjay.store.changes import PutLife
from scrubjay.store.sqlite.store import SQLiteStore
SQLiteStore(Path(sys.argv[1])).write(Scope("t", "ann"), [PutLife({sys.argv[2]: Life("archived")})])
"""
HOLD = """
import sys
from pathlib import Path
from scrubjay.memory.scope import Scope
from scrubjay.store.sqlite.store import SQLiteStore
with SQLiteStore(Path(sys.argv[1])).alone(Scope("t", "ann"), "night") as alone:
    print(alone, flush=True)
    sys.stdin.read()
"""


def found(store: SQLiteStore) -> tuple[list[str], list[str]]:
    """Return the active memories by words and by vectors."""
    with store.reader(ANN) as reader:
        words = reader.words([group("jay")], Where()).top(9)
        near = reader.nearest(SMALL.fingerprint, vector("jay"), Where()).top(9)
    return sorted(hit.id for hit in words), sorted(hit.id for hit in near)


def filled(path: Path) -> SQLiteStore:
    """Return a store of two memories."""
    store = SQLiteStore(path, b"k")
    vectors = {SMALL.fingerprint: embedded("jay")}
    write(store, ANN, PutModel(SMALL))
    write(store, ANN, *(PutMemory(memory(f"jay {n}", MINE, name=n, vectors=vectors)) for n in "ab"))
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
            assert len(reader.words([group("jay")], Where()).top(9)) == 2
            write(other, ANN, PutLife({A: Life("archived")}))
            assert len(reader.words([group("jay")], Where()).top(9)) == 2
            assert reader.get([A])[A].status == "active"
        assert found(store) == ([B], [B])


def test_a_process_that_dies_lets_go_of_what_it_held_alone(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    with closing(filled(path)) as store:
        command = [sys.executable, "-c", HOLD, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held:
            assert held.stdout is not None
            assert held.stdout.readline() == "True\n"
            with store.alone(ANN, "night") as alone:
                assert not alone
            write(store, ANN, PutLife({A: Life(pinned=True)}))
            held.kill()
            held.wait(30)
        with store.alone(ANN, "night") as alone:
            assert alone


def test_what_was_forgotten_leaves_no_number_in_the_events(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    with closing(filled(path)) as store:
        write(store, ANN, PutEvents((Event(A, "used", 1, MINE), Event(B, "superseded", 2, MINE, other=A))))
        write(store, ANN, Forget((A,)))
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
        reader = Told()
        reader.seen = Seen(cast("Database", db), 1, 1, (MINE, "public"))
        reader.events(**asked)
        db.trace_v2(0, None)
        (statement,) = statements
        values = [None] * statement.count("?")
        plan = db.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
    steps = [row[3] for row in plan]
    assert index in steps[0], steps
    assert not any("TEMP B-TREE" in step for step in steps), steps
