"""The graph in SQLite's tables: its size, that no statement walks through a table, what is left of it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from scrubjay.models.graph import STORED_EDGE_KINDS, Edge
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.storage.changes import (
    Change,
    DropCategory,
    DropConcept,
    DropEdges,
    Forget,
    PutCategory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutMemory,
    PutSource,
)
from scrubjay.storage.sqlite.postings import Vocabulary
from scrubjay.storage.sqlite.rows import find_tenant
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.storage.sqlite.writer import SQLiteWriter
from scrubjay.text.tokenizer import Terms
from store_contract.samples import (
    put_sample_document,
    sample_category,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_id,
    sample_memory,
    sample_source,
    write_changes,
)
from store_contract.sqlite_check import disagreements

ANN = Scope("t", "ann", ("dev",))
MINE = "user:ann"
MOST_BYTES = 72
"""Bytes an edge may take with its index, in a small store; half-filled pages weigh less in a large one."""
WALKS = re.compile(
    r"SCAN (?!CONSTANT|sqlite_sequence|json_each)"
    r"|SEARCH (e|edge|node|m|n|memory|tag|concept) USING [A-Z ]*(KEY|INDEX \w+) \(tenant=\?\)"
)
"""Plans that go through a table, or through everything a tenant has."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(tmp_path / "memories.db", b"k")) as store:
        yield store


def woven(store: SQLiteStore, memories: int, seed: int = 1) -> list[str]:
    """Fill a store with memories that refer to six concepts each and are similar to four others."""
    dice = random.Random(seed)
    names = [f"c{number}" for number in range(200)]
    write_changes(store, ANN, *(PutConcept(sample_concept(name, MINE)) for name in names))
    ids: list[str] = []
    for first in range(0, memories, 50):
        fresh = [sample_memory(f"m{n}", MINE, counted=Terms({"m": 1}, 1)) for n in range(first, first + 50)]
        ids += [one.record.id for one in fresh]
        edges = []
        for number, one in enumerate(fresh):
            at = 1_790_000_000_000_000 + first * 50 + number
            edges += [
                Edge(
                    one.record.id,
                    "references",
                    sample_concept_id(name),
                    MINE,
                    dice.randrange(10**6) / 10**6,
                    at,
                    rule="names",
                )
                for name in dice.sample(names, 6)
            ]
            edges += [
                Edge(one.record.id, "similar", other, MINE, dice.randrange(10**6) / 10**6, at, rule="vectors")
                for other in dice.sample(ids, 4)
            ]
        write_changes(store, ANN, *(PutMemory(one) for one in fresh), PutEdges(tuple(edges)))
    return ids


def test_an_edge_takes_few_bytes_with_all_that_leads_to_it(store: SQLiteStore, tmp_path: Path) -> None:
    woven(store, 3_000)
    with closing(apsw.Connection(str(tmp_path / "memories.db"))) as db:
        edges = db.execute("SELECT count(*) FROM edge").get
        size = db.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE name IN "
            "('edge', 'edge_inward', 'sight', 'maker', 'maker_name', 'node', 'sqlite_autoindex_node_1')"
        ).get
    assert edges == 30_000
    assert size / edges <= MOST_BYTES


class Explained:
    """A connection that notes the plan of every statement it runs."""

    def __init__(self, db: Any) -> None:
        self.db = db
        self.plans: dict[str, list[str]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.db, name)

    def execute(self, statement: str, values: Any = ()) -> Any:
        if statement.startswith(("SELECT", "DELETE", "UPDATE", "INSERT")):
            plan = self.db.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
            self.plans[statement] = [row[3] for row in plan]
        return self.db.execute(statement, values)

    def walks(self) -> dict[str, list[str]]:
        # One row of anything is found at once.
        return {
            text: plan
            for text, plan in self.plans.items()
            if any(map(WALKS.search, plan)) and not text.endswith("LIMIT 1")
        }


def test_no_question_walks_through_a_table(store: SQLiteStore) -> None:
    ids = woven(store, 100)[:20]
    write_changes(
        store,
        ANN,
        PutCategory(sample_category("birds", MINE)),
        PutEdges((Edge(ids[0], "belongs", sample_category_id("birds", MINE), MINE),)),
    )
    head = sample_memory("a head", MINE, project="p", session="s", turn=0)
    write_changes(
        store, ANN, PutMemory(head), PutMemory(sample_memory("another", MINE, project="p", agent="a"))
    )
    with store.reader(ANN) as reader:
        notes = Explained(reader._db)
        reader._db = notes
        nodes = [*ids, sample_concept_id("c1"), sample_concept_id("c2"), sample_category_id("birds", MINE)]
        for inward in (False, True):
            assert reader.edges(nodes, STORED_EDGE_KINDS, inward=inward, limit=3)
        assert all(reader.degrees(kind, nodes) for kind in ("references", "similar"))
        assert reader.cooccurrences(sample_concept_id("c1"), 100)[1]
        assert len(reader.concepts([sample_concept_id("c1")])) == 1
        assert len(reader.follows([head.record.id])) == 1
        assert [one.id for one in reader.turns("s", 0, 5)] == [head.record.id]
        assert reader.last_turn("s") == 0
        assert len(reader.page(ids[0], 3)) == 3
        where = RecordFilter(
            projects=("p",), agents=("a",), sessions=("s",), categories=(sample_category_id("birds", MINE),)
        )
        assert reader.words([], where).top(3) == []
        assert len(notes.plans) > 15
        assert notes.walks() == {}


def test_no_change_walks_through_a_table(store: SQLiteStore) -> None:
    ids = woven(store, 100)
    changes: list[Change] = [
        PutCategory(sample_category("birds", MINE)),
        PutEdges((Edge(ids[0], "links", ids[1], MINE),), tuple(ids[:9]), STORED_EDGE_KINDS, inward=True),
        DropEdges(((ids[0], "links", ids[1]), (ids[0], "references", sample_concept_id("c1")))),
        DropConcept(sample_concept_id("c3"), MINE),
        DropCategory(sample_category_id("birds", MINE)),
        PutMemory(sample_memory("m5", "group:dev", name="m5 user:ann")),
        Forget((ids[7],)),
    ]
    with store._write_turn() as db:
        tenant = find_tenant(db, ANN.tenant)
        assert tenant is not None
        notes = Explained(db)
        writer = SQLiteWriter(notes, tenant, ANN, Vocabulary())
        db.execute("BEGIN")
        writer.apply_all(changes)
        db.execute("ROLLBACK")
    assert len(notes.plans) > 30
    assert notes.walks() == {}


def test_what_changes_hands_is_seen_by_who_sees_it_now(store: SQLiteStore, tmp_path: Path) -> None:
    """A memory replaced under another key takes its edges along, on both sides, itself included."""
    names = {name: sample_id(name) for name in "abc"}
    write_changes(store, ANN, *(PutMemory(sample_memory(name, MINE, name=name)) for name in names))
    pairs = ("ab", "ca", "aa", "bc")
    edges = [Edge(names[src], "links", names[dst], MINE) for src, dst in pairs]
    write_changes(store, ANN, PutEdges(tuple(edges)), PutMemory(sample_memory("a again", "public", name="a")))
    with store.reader(ANN) as reader:
        assert sorted(reader.edges(list(names.values()), ["links"]), key=edges.index) == edges
    store.close()
    assert disagreements(tmp_path / "memories.db") == []


def test_a_forgotten_memory_leaves_no_readable_trace(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    gone = sample_memory("numbats in full", MINE, name="gone", title="quokkas", heading_path=("wombats",))
    said = Edge(gone.record.id, "links", sample_id("kept"), MINE, rule="echidna", run="bilbies")
    with closing(SQLiteStore(path, b"k")) as store:
        write_changes(
            store,
            ANN,
            PutMemory(gone),
            PutMemory(sample_memory("kept", MINE, name="kept")),
            PutEdges((said,)),
        )
        write_changes(store, ANN, PutConcept(sample_concept("potoroo", MINE)))
        with store.reader(ANN) as reader:
            assert reader.get([gone.record.id])[gone.record.id] == gone.record
        write_changes(store, ANN, Forget((gone.record.id,)), DropConcept(sample_concept_id("potoroo"), MINE))
        held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for word in (b"quokkas", b"wombats", b"numbats", b"potoroo"):
        assert word not in held
    assert disagreements(path) == []


def test_a_rebuild_keeps_the_edges_of_what_it_keeps(store: SQLiteStore, tmp_path: Path) -> None:
    """They answer until it ends; then those of what it left out are gone."""
    write_changes(
        store,
        ANN,
        PutSource(sample_source("notes", MINE)),
        put_sample_document("notes", "a.md", ["jay", "oak"], MINE),
    )
    jay, oak = sample_id("a.md:jay"), sample_id("a.md:oak")
    added = sample_memory("acorn", MINE, name="acorn")
    belongs = Edge(jay, "belongs", sample_category_id("birds", MINE), MINE)
    links = Edge(added.record.id, "links", jay, MINE)
    edges = (belongs, links, Edge(jay, "links", oak, MINE))
    write_changes(store, ANN, PutMemory(added), PutCategory(sample_category("birds", MINE)), PutEdges(edges))
    with store.rebuild(ANN) as generation:
        for document in generation.documents():
            generation.write([PutDocument(document, tuple(generation.passages(document)[:1]))])
        generation.write([PutMemory(one) for one in generation.additions()])
        with store.reader(ANN) as reader:
            assert len(reader.edges([jay], STORED_EDGE_KINDS)) == 2
    with store.reader(ANN) as reader:
        assert reader.edges([jay, added.record.id], STORED_EDGE_KINDS) == [belongs, links]
    store.close()
    assert disagreements(tmp_path / "memories.db") == []
