"""Lives in PostgreSQL: a schema of before them, numbers that two ids share, and who dies lets go."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import psycopg
import pytest

from scrubjay.models.lifecycle import ConsolidationRun, Event, LifecycleChange
from scrubjay.models.records import Scope
from scrubjay.storage.changes import (
    Forget,
    PutDocument,
    PutEvents,
    PutLifecycle,
    PutMemory,
    PutRun,
    PutSource,
)
from scrubjay.storage.postgres import schema
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.rows import node_hash
from store_contract.samples import (
    sample_document,
    sample_id,
    sample_memory,
    sample_place,
    sample_source,
    write_changes,
)

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
from scrubjay.models.records import Scope
from scrubjay.storage.postgres.store import PostgresStore
with PostgresStore(sys.argv[1]).try_exclusive(Scope(sys.argv[2], "ann"), "night") as alone:
    print(alone, flush=True)
    sys.stdin.read()
"""


def test_a_store_of_the_second_schema_opens_and_takes_lives(
    database: str, monkeypatch: pytest.MonkeyPatch, ann: Scope
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:2])
        PostgresStore(database).close()
    with psycopg.connect(database) as db:
        db.execute("INSERT INTO scrubjay.tenant (name, secret) VALUES (%s, 'k')", (ann.tenant,))
        db.execute(ROW_OF_SCHEMA_2, (node_hash(A),))
    told, run = (
        Event(A, "archived", 1, MINE, "run_1"),
        ConsolidationRun("run_1", MINE, "done", "1", 1, None, {"archived": 1}),
    )
    with closing(PostgresStore(database)) as store:
        write_changes(
            store,
            ann,
            PutLifecycle({A: LifecycleChange("archived", pinned=True)}),
            PutEvents((told,)),
            PutRun(run),
        )
        with store.reader(ann) as reader:
            assert (reader.events(), reader.runs()) == ([told], [run])
            assert (reader.get([A])[A].status, reader.get([A])[A].pinned) == ("archived", True)


def test_the_events_of_an_id_do_not_pass_to_another_of_the_same_number(
    store: PostgresStore, ann: Scope
) -> None:
    """Neither by a change that gives the number to a memory of another tier nor by a rebuild."""
    write_changes(
        store, ann, PutSource(sample_source("notes", MINE)), PutMemory(sample_memory("b", MINE, name="b"))
    )
    for number in (1, 2):
        first = sample_memory("a", MINE, name="a", place=sample_place("notes", "x.md", 0))
        write_changes(store, ann, PutDocument(sample_document("notes", "x.md", "1"), (first,)))
        write_changes(
            store, ann, PutEvents((Event(A, "used", 1, MINE), Event(B, "used", number, MINE, other=A)))
        )
        lesson = sample_memory("a", MINE, name="a", tier="lesson", place=sample_place("notes", "x.md", 0))
        if number == 1:
            write_changes(store, ann, PutDocument(sample_document("notes", "x.md", "2"), (lesson,)))
        else:
            with store.rebuild(ann) as rebuild:
                rebuild.write([PutMemory(sample_memory("b", MINE, name="b"))])
                rebuild.write([PutDocument(sample_document("notes", "x.md", "2"), (lesson,))])
        with store.reader(ann) as reader:
            assert [(e.memory, e.other) for e in reader.events()] == [(B, None)] * number


def test_what_was_forgotten_leaves_no_number_in_the_events(
    store: PostgresStore, ann: Scope, postgres_url: str
) -> None:
    write_changes(store, ann, *(PutMemory(sample_memory(name, MINE, name=name)) for name in "ab"))
    write_changes(
        store, ann, PutEvents((Event(A, "used", 1, MINE), Event(B, "superseded", 2, MINE, other=A)))
    )
    write_changes(store, ann, Forget((A,)))
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
        with store.try_exclusive(ann, "night") as alone:
            assert not alone
        held.kill()
        held.wait(30)
    with psycopg.connect(postgres_url, autocommit=True) as db:  # the server notices in its own time
        db.execute("SET lock_timeout = '30s'")
        db.execute("SELECT pg_advisory_lock(hashtextextended(%s, 2))", (f"{ann.tenant}\x1fnight",))
        db.execute("SELECT pg_advisory_unlock_all()")
    with store.try_exclusive(ann, "night") as alone:
        assert alone
