"""Every store that an older scrubjay made opens, answers and takes new memories."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from scrubjay.models.graph import Edge
from scrubjay.models.ids import tombstone_hashes
from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event, LifecycleChange
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.storage.changes import (
    Forget,
    PutConcept,
    PutEdges,
    PutEvents,
    PutExtractions,
    PutLifecycle,
    PutMemory,
    PutModel,
    PutRun,
    PutSource,
    PutVersions,
)
from scrubjay.storage.sqlite.schema import APPLICATION_ID, MIGRATIONS
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.answers import EVERY_STATUS
from store_contract.samples import (
    SMALL_MODEL,
    VERSIONS,
    put_sample_document,
    sample_concept,
    sample_concept_id,
    sample_id,
    sample_memory,
    sample_source,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)
from store_contract.sqlite_check import disagreements

ANN = Scope("default", "ann", ("dev",))
SECRET = b"a key of thirty-two bytes, fixed."
KEPT = Path(__file__).with_name("stores")
"""Stores named ``schema_<number>.db.gz``, as the function `make` wrote them when that schema was the newest."""


def make(path: Path) -> None:
    """Write the store whose answers `answers_as_made` knows."""
    vectors = {SMALL_MODEL.fingerprint: sample_windows("jay", 2)}
    with closing(SQLiteStore(path, SECRET)) as store:
        write_changes(
            store,
            ANN,
            PutModel(SMALL_MODEL),
            PutVersions(VERSIONS),
            PutSource(sample_source("notes", "group:dev")),
        )
        texts = ["The jay hides acorns in autumn", "and finds them in winter"]
        write_changes(
            store, ANN, put_sample_document("notes", "birds/jay.md", texts, "group:dev", vectors=vectors)
        )
        write_changes(
            store, ANN, put_sample_document("notes", "oak.md", ["An oak bears acorns"], "group:dev")
        )
        write_changes(
            store,
            ANN,
            PutMemory(
                sample_memory("deploys happen on thursday", "user:ann", tier="semantic", tags=("ops",))
            ),
            PutMemory(
                sample_memory("where are the acorns", "user:ann", session="s", turn=0, project="woods")
            ),
            PutMemory(sample_memory("under the oak", "user:ann", session="s", turn=1, role="assistant")),
            PutMemory(sample_memory("the lost acorn", "user:ann")),
        )
        write_changes(store, ANN, Forget((sample_id("the lost acorn user:ann"),)))


def answers_as_made(path: Path) -> None:
    """Assert that a store of `make` answers as it did."""
    with closing(SQLiteStore(path)) as store:
        assert store.secret(ANN) == SECRET
        with store.reader(ANN) as reader:
            assert (reader.versions(), [state.model for state in reader.models()]) == (
                VERSIONS,
                [SMALL_MODEL],
            )
            assert [one.content for one in reader.passages("notes", "birds/jay.md")] == [
                "The jay hides acorns in autumn",
                "and finds them in winter",
            ]
            found = reader.words([term_group("jay"), term_group("thursday")], EVERY_STATUS)
            assert [hit.score for hit in found.top(9)] == [1.590496, 1.331019]
            acorns = reader.words([term_group("acorns")], EVERY_STATUS)
            assert [hit.score for hit in acorns.top(9)] == [0.715668, 0.715668, 0.598913]
            assert len(reader.words([term_group("thursday")], RecordFilter(tags=("ops",))).top(9)) == 1
            near = reader.nearest(SMALL_MODEL.fingerprint, sample_vector("jay"), EVERY_STATUS)
            assert [hit.score for hit in near.top(9)] == [0.998265, 0.998265]
            assert reader.coverage(SMALL_MODEL.fingerprint).waiting == 4
            counts = reader.counts()
            assert (counts.documents, counts.tiers) == (2, {"observation": 5, "semantic": 1})
            asked, answered = (
                sample_id(f"{text} user:ann") for text in ("where are the acorns", "under the oak")
            )
            assert reader.adjacent([asked]) == {asked: (answered,)}
            assert (
                reader.get([asked])[asked]
                == sample_memory(
                    "where are the acorns", "user:ann", session="s", turn=0, project="woods"
                ).record
            )
            assert reader.forgotten_hashes(sorted(tombstone_hashes(SECRET, "the lost acorn", ANN.keys)))
        write_changes(store, ANN, PutMemory(sample_memory("a jay of today", "user:ann")))
        with store.reader(ANN) as reader:
            assert reader.frequencies([term_group("jay")]) == [2]
        refers = Edge(asked, "references", sample_concept_id("oak"), "user:ann")
        write_changes(store, ANN, PutConcept(sample_concept("oak", "user:ann")), PutEdges((refers,)))
        with store.reader(ANN) as reader:
            assert reader.edges([asked], ["references"]) == [refers]
            assert [edge.src for edge in reader.follows([asked])] == [answered]
            assert len(reader.words([term_group("acorns")], RecordFilter(projects=("woods",))).top(9)) == 1
        told = Event(asked, "archived", 1, "user:ann", "run_0123456789", answered, 0, "active")
        run = ConsolidationRun("run_0123456789", "user:ann", "done", "1", 1, 2, {"archived": 1})
        read = PutExtractions((CachedExtraction(asked, "1", b"acorns"),))
        write_changes(
            store,
            ANN,
            PutLifecycle({asked: LifecycleChange("archived")}),
            PutEvents((told,)),
            PutRun(run),
            read,
        )
        with store.reader(ANN) as reader:
            assert (reader.events(), reader.runs()) == ([told], [run])
            assert tuple(reader.extractions([asked]).values()) == read.extractions
            assert reader.counts().statuses["archived"] == 1
            assert reader.words([term_group("acorns")], RecordFilter(projects=("woods",))).top(9) == []
    assert disagreements(path) == []


def test_a_store_of_the_newest_schema_says_so_and_answers(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    make(path)
    with closing(apsw.Connection(str(path))) as db:
        assert db.pragma("application_id") == APPLICATION_ID
        assert db.pragma("user_version") == MIGRATIONS[-1][0]
        assert db.execute("SELECT id, name FROM migration").fetchall() == [
            (n, name) for n, name, _ in MIGRATIONS
        ]
    answers_as_made(path)


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    assert [number for number, _, _ in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_a_store_of_every_older_schema_is_kept() -> None:
    kept, older = {path.name for path in KEPT.iterdir()}, range(1, len(MIGRATIONS))
    assert kept == {f"schema_{number}.db.gz" for number in older}, (
        "before you add a migration, call `make` and gzip the store that it writes into tests/migrations/stores"
    )


@pytest.mark.parametrize("kept", sorted(KEPT.glob("schema_*.db.gz")), ids=lambda path: path.stem)
def test_an_older_store_opens_and_answers(kept: Path, tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    path.write_bytes(gzip.decompress(kept.read_bytes()))
    answers_as_made(path)


def test_summaries_that_an_older_store_kept_leave_no_readable_trace(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    path.write_bytes(gzip.decompress((KEPT / "schema_7.db.gz").read_bytes()))
    assert b"quokkas in short" in path.read_bytes()
    SQLiteStore(path).close()
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"quokkas" not in held
    assert b"wombats" not in held


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scrubjay.errors import StoreError
    from scrubjay.storage.sqlite import schema

    path = tmp_path / "memories.db"
    make(path)
    bad = (MIGRATIONS[-1][0] + 1, "broken", "CREATE TABLE half (x); CREATE TABLE memory (x);")
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", (*MIGRATIONS, bad))
        with pytest.raises(StoreError):
            SQLiteStore(path)
    with closing(apsw.Connection(str(path))) as db:
        assert db.pragma("user_version") == MIGRATIONS[-1][0]
        assert db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'half'").fetchall() == []
    answers_as_made(path)


def test_space_of_abstracts_and_overviews_is_freed_by_the_next_vacuum(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress((KEPT / "schema_7.db.gz").read_bytes()))
    with closing(apsw.Connection(str(path))) as db:
        db.execute("UPDATE memory SET overview = ?", ("The jay hides acorns. " * 10_000,))
        db.execute("INSERT OR REPLACE INTO counter VALUES ('leftovers', 0)")
    before = path.stat().st_size
    with closing(SQLiteStore(path)) as store:
        store.vacuum()
    assert path.stat().st_size < before / 2
