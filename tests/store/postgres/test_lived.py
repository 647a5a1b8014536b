"""Lives in PostgreSQL: a schema of before them, numbers that two ids share, and who dies lets go."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import psycopg
import pytest

from scrubjay.memory.events import Event
from scrubjay.memory.life import Life
from scrubjay.memory.runs import Run
from scrubjay.memory.scope import Scope
from scrubjay.store.changes import Forget, PutDocument, PutEvents, PutLife, PutMemory, PutRun, PutSource
from scrubjay.store.postgres import migrations
from scrubjay.store.postgres.rows import number_of
from scrubjay.store.postgres.store import PostgresStore
from scrubjay.testing.store_samples import document, memory, place, sample_id, source, write

MINE = "user:ann"
A, B = sample_id("a"), sample_id("b")
ROW_OF_SCHEMA_2 = """
INSERT INTO scrubjay.memory (
    tenant, generation, key, hash, tier, status, owner, origin, title, heading_path, content_hash, recorded_at,
    updated_at, pinned, confidence, strength, tags, content, language, at, length, terms, tfs
) VALUES (
    1, 1, 'user:ann', %s, 'observation', 'active', 'ann', 'owner', 'A title', '{}', 'x', 7, 9, false, 1, 1, '{}',
    'jay', 'en', 7, 1, '{}', '{}'
)
"""
HOLD = """
import sys
from scrubjay.memory.scope import Scope
from scrubjay.store.postgres.store import PostgresStore
with PostgresStore(sys.argv[1]).alone(Scope(sys.argv[2], "ann"), "night") as alone:
    print(alone, flush=True)
    sys.stdin.read()
"""


def test_a_store_of_the_second_schema_opens_and_takes_lives(
    database: str, monkeypatch: pytest.MonkeyPatch, ann: Scope
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:2])
        PostgresStore(database).close()
    with psycopg.connect(database) as db:
        db.execute("INSERT INTO scrubjay.tenant (name, secret) VALUES (%s, 'k')", (ann.tenant,))
        db.execute(ROW_OF_SCHEMA_2, (number_of(A),))
    told, run = (
        Event(A, "archived", 1, MINE, "run_1"),
        Run("run_1", MINE, "done", "1", 1, None, {"archived": 1}),
    )
    with closing(PostgresStore(database)) as store:
        write(store, ann, PutLife({A: Life("archived", pinned=True)}), PutEvents((told,)), PutRun(run))
        with store.reader(ann) as reader:
            assert (reader.events(), reader.runs()) == ([told], [run])
            assert (reader.get([A])[A].status, reader.get([A])[A].pinned) == ("archived", True)


def test_the_events_of_an_id_do_not_pass_to_another_of_the_same_number(
    store: PostgresStore, ann: Scope
) -> None:
    """Neither by a change that gives the number to a memory of another tier nor by a rebuild."""
    write(store, ann, PutSource(source("notes", MINE)), PutMemory(memory("b", MINE, name="b")))
    for number in (1, 2):
        first = memory("a", MINE, name="a", place=place("notes", "x.md", 0))
        write(store, ann, PutDocument(document("notes", "x.md", "1"), (first,)))
        write(store, ann, PutEvents((Event(A, "used", 1, MINE), Event(B, "used", number, MINE, other=A))))
        lesson = memory("a", MINE, name="a", tier="lesson", place=place("notes", "x.md", 0))
        if number == 1:
            write(store, ann, PutDocument(document("notes", "x.md", "2"), (lesson,)))
        else:
            with store.rebuild(ann) as rebuild:
                rebuild.write([PutMemory(memory("b", MINE, name="b"))])
                rebuild.write([PutDocument(document("notes", "x.md", "2"), (lesson,))])
        with store.reader(ann) as reader:
            assert [(e.memory, e.other) for e in reader.events()] == [(B, None)] * number


def test_what_was_forgotten_leaves_no_number_in_the_events(
    store: PostgresStore, ann: Scope, postgres_url: str
) -> None:
    write(store, ann, *(PutMemory(memory(name, MINE, name=name)) for name in "ab"))
    write(store, ann, PutEvents((Event(A, "used", 1, MINE), Event(B, "superseded", 2, MINE, other=A))))
    write(store, ann, Forget((A,)))
    with psycopg.connect(postgres_url) as db:
        found = db.execute(
            "SELECT op, other FROM scrubjay.event e JOIN scrubjay.tenant t ON t.id = e.tenant WHERE t.name = %s",
            (ann.tenant,),
        ).fetchall()
    assert found == [("superseded", None)]


def test_a_process_that_dies_lets_go_of_what_it_held_alone(
    store: PostgresStore, ann: Scope, postgres_url: str
) -> None:
    command = [sys.executable, "-c", HOLD, postgres_url, ann.tenant]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        assert held.stdout.readline() == "True\n"
        with store.alone(ann, "night") as alone:
            assert not alone
        held.kill()
        held.wait(30)
    with psycopg.connect(postgres_url, autocommit=True) as db:  # the server notices in its own time
        db.execute("SET lock_timeout = '30s'")
        db.execute("SELECT pg_advisory_lock(hashtextextended(%s, 2))", (f"{ann.tenant}\x1fnight",))
        db.execute("SELECT pg_advisory_unlock_all()")
    with store.alone(ann, "night") as alone:
        assert alone
