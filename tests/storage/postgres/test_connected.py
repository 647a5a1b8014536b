"""What is particular to the graph in PostgreSQL: a schema of before it, long names, numbers that two ids share."""

from __future__ import annotations

import random
from contextlib import closing

import psycopg
import pytest

from scrubjay.models.graph import STORED_EDGE_KINDS, Edge
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutConcept, PutDocument, PutEdges, PutMemory, PutProject, PutSource
from scrubjay.storage.postgres import schema
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.rows import SIGN, id_from_hash, node_hash, node_hashes
from store_contract.samples import (
    put_sample_document,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_document,
    sample_id,
    sample_memory,
    sample_place,
    sample_source,
    write_changes,
)

MINE = "user:ann"
A, B = sample_id("a"), sample_id("b")
EDGE = Edge(A, "links", B, MINE)
OTHER_TIER = sample_id("a", "lesson")
ROW_OF_SCHEMA_1 = """
INSERT INTO scrubjay.memory (
    tenant, generation, key, hash, tier, status, owner, project, session, turn, origin, title, heading_path,
    content_hash, recorded_at, updated_at, pinned, confidence, strength, tags, content, language, at, length,
    terms, tfs
) VALUES (
    1, 1, 'user:ann', %s, 'observation', 'active', 'ann', 'woods', 's', %s, 'owner', 'A title', '{}', 'x', %s, 9,
    false, 1, 1, '{}', 'jay', 'en', 7, 1, '{}', '{}'
)
"""


def test_a_store_of_the_first_schema_opens_and_takes_what_connects_its_memories(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        PostgresStore(database).close()
    with psycopg.connect(database) as db:
        db.execute("INSERT INTO scrubjay.tenant (name, secret) VALUES ('woods', 'k')")
        for turn, one in enumerate((A, B)):
            db.execute(ROW_OF_SCHEMA_1, (node_hash(one), turn, 7 + turn))
    scope = Scope("woods", "ann")
    with closing(PostgresStore(database)) as store:
        write_changes(store, scope, PutEdges((EDGE,)), PutMemory(sample_memory("new", MINE)))
        with store.reader(scope) as reader:
            record = reader.get([A])[A]
            assert record.project == "woods"
            assert reader.turns("s", 0, 1) == [record, reader.get([B])[B]]
            assert [(edge.src, edge.dst) for edge in reader.follows([A])] == [(B, A)]
            assert reader.edges([A], STORED_EDGE_KINDS) == [EDGE]
    with psycopg.connect(database) as db:
        ran = db.execute("SELECT id, name FROM scrubjay.migration ORDER BY id").fetchall()
    assert ran == [(number, name) for number, name, _ in schema.MIGRATIONS]


def test_names_may_be_longer_than_a_row_of_an_index(store: PostgresStore, ann: Scope) -> None:
    """A B-tree's row takes 2,704 bytes, and these do not compress."""
    chance = random.Random(1)
    long = "".join(chr(chance.randrange(0x4E00, 0x9FFF)) for _ in range(5_000))
    made = [sample_memory(n, MINE, name=n, session=long, project=long, turn=i) for i, n in enumerate("ab")]
    write_changes(store, ann, *map(PutMemory, made), PutProject(long, long, MINE))
    write_changes(store, ann, PutConcept(sample_concept(long, MINE, aliases=(long,))), PutEdges((EDGE,)))
    with store.reader(ann) as reader:
        assert reader.projects() == {long: long}
        assert reader.concepts([sample_concept_id(long)]) == [sample_concept(long, MINE, aliases=(long,))]
        assert [edge.rule for edge in reader.follows([B])] == ["session"]
        assert reader.last_turn(long) == 1


def test_the_edges_of_an_id_do_not_pass_to_another_of_the_same_number(
    store: PostgresStore, ann: Scope
) -> None:
    """A number is one memory's at a time, but a change may give it to a memory of another tier."""
    write_changes(
        store, ann, PutSource(sample_source("notes", MINE)), PutMemory(sample_memory("b", MINE, name="b"))
    )
    first = PutDocument(
        sample_document("notes", "x.md"),
        (sample_memory("a", MINE, name="a", place=sample_place("notes", "x.md", 0)),),
    )
    lesson = sample_memory("a", MINE, name="a", tier="lesson", place=sample_place("notes", "x.md", 0))
    write_changes(store, ann, first, PutEdges((EDGE, Edge(B, "links", A, MINE))))
    write_changes(store, ann, PutDocument(sample_document("notes", "x.md", "2"), (lesson,)))
    with store.reader(ann) as reader:
        assert list(reader.get([A, OTHER_TIER])) == [OTHER_TIER]
        assert (reader.edges([OTHER_TIER, B], STORED_EDGE_KINDS), reader.degrees("links")) == ([], {})


def test_a_rebuild_does_not_pass_them_on_either(store: PostgresStore, ann: Scope) -> None:
    write_changes(store, ann, *(PutMemory(sample_memory(name, MINE, name=name)) for name in "abc"))
    kept = Edge(B, "links", sample_id("c"), MINE)
    write_changes(store, ann, PutEdges((EDGE, Edge(B, "links", A, MINE), kept)))
    with store.rebuild(ann) as rebuild:
        rebuild.write([PutMemory(sample_memory("a", MINE, name="a", tier="lesson"))])
        rebuild.write([PutMemory(sample_memory(name, MINE, name=name)) for name in "bc"])
    with store.reader(ann) as reader:
        assert reader.edges([OTHER_TIER, A, B], STORED_EDGE_KINDS) == [kept]


def test_nothing_is_left_of_the_edges_of_what_is_gone(
    store: PostgresStore, ann: Scope, postgres_url: str
) -> None:
    """Not even out of sight: the rows themselves are gone."""
    write_changes(
        store,
        ann,
        PutSource(sample_source("notes", MINE)),
        put_sample_document("notes", "a.md", ["one"], MINE),
    )
    one = sample_id("a.md:one")
    write_changes(
        store, ann, PutMemory(sample_memory("b", MINE, name="b")), PutConcept(sample_concept("x", MINE))
    )
    found = (
        Edge(one, "links", B, MINE),
        Edge(B, "links", one, MINE),
        Edge(one, "references", sample_concept_id("x"), MINE),
    )
    write_changes(store, ann, PutEdges(found))
    with psycopg.connect(postgres_url, autocommit=True) as db:
        count = (
            "SELECT count(*) FROM scrubjay.edge e JOIN scrubjay.tenant t ON t.id = e.tenant WHERE t.name = %s"
        )
        assert db.execute(count, (ann.tenant,)).fetchone() == (3,)
        with store.rebuild(ann) as rebuild:
            rebuild.write([PutMemory(one) for one in rebuild.additions()])
        assert db.execute(count, (ann.tenant,)).fetchone() == (0,)


@pytest.mark.parametrize("number", [0, 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_every_id_has_a_number_that_a_bigint_holds(number: int) -> None:
    ids = [f"{prefix}{number:016x}" for prefix in ("obs_", "con_", "cat_")]
    assert node_hashes(ids) == [number - SIGN] * 3
    assert [id_from_hash(of, number - SIGN) for of in ("observation", "concept", "category")] == ids
    assert (
        node_hashes([*ids, "", "obs_12"], "concept"),
        node_hashes([sample_category_id("x", MINE)], "concept"),
    ) == (
        [number - SIGN],
        [],
    )


def test_turns_of_a_transcript_follow_as_turns_alone(store: PostgresStore, ann: Scope) -> None:
    """Though they stand in one document, which is read beside their session."""
    write_changes(store, ann, PutSource(sample_source("log", MINE)))
    said = [
        sample_memory(
            name, MINE, name=name, session="s", turn=turn, place=sample_place("log", "s.jsonl", ordinal)
        )
        for ordinal, (name, turn) in enumerate((("a", 0), ("b", 1), ("c", 1)))
    ]
    write_changes(store, ann, PutDocument(sample_document("log", "s.jsonl"), tuple(said)))
    with store.reader(ann) as reader:
        pairs = {(edge.rule, edge.src, edge.dst) for edge in reader.follows([A, B, sample_id("c")])}
    assert pairs == {("session", B, A), ("session", sample_id("c"), A)}
