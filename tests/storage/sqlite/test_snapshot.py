"""Snapshots: rows are read once until somebody writes, and never shown to another scope or after a change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import NO_FILTER, RecordFilter, Scope
from scrubjay.storage import snapshot as common
from scrubjay.storage.changes import Forget, PutEdges, PutLifecycle, PutMemory, PutModel
from scrubjay.storage.snapshot import RowCache
from scrubjay.storage.sqlite import reader
from scrubjay.storage.sqlite.reader import MAX_SCOPES, SnapshotCache
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.text.tokenizer import TermGroup
from store_contract.samples import SMALL_MODEL, sample_id, sample_memory, write_changes

ANN, BOB = Scope("t", "ann"), Scope("t", "bob")
A, B = sample_id("a"), sample_id("b")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(path, b"k")) as opened:
        for turn, name in enumerate("ab"):
            write_changes(
                opened,
                ANN,
                PutMemory(
                    sample_memory(f"jay {name}", "user:ann", name=name, session="s", turn=turn, role="user")
                ),
            )
        yield opened


def read(
    store: SQLiteStore, scope: Scope = ANN
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], int]:
    with store.reader(scope) as reader:
        ids = [A, B]
        return reader.get(ids), reader.ranking_metadata(ids), reader.adjacent(ids), len(reader.models())


def statements(store: SQLiteStore) -> list[str]:
    """Return a list that the statements of this thread's reading come into."""
    told: list[str] = []
    connection = cast(apsw.Connection, store._db())
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: told.append(str(event["sql"])))
    return told


def test_what_was_read_is_not_read_again_until_something_is_written(store: SQLiteStore, path: Path) -> None:
    first = read(store)
    told = statements(store)
    assert read(store) == first
    assert not [statement for statement in told if "FROM" in statement]
    with closing(SQLiteStore(path)) as other:
        write_changes(other, ANN, PutLifecycle({A: LifecycleChange(pinned=True)}))
    assert read(store)[1][A].pinned
    assert [statement for statement in told if "FROM memory" in statement]


def test_what_passes_a_filter_is_found_once_until_something_is_written(store: SQLiteStore) -> None:
    def latest() -> list[str]:
        with store.reader(ANN) as reader:
            return [record.id for record in reader.latest(RecordFilter(sessions=("s",)), 9)]

    told = statements(store)
    assert sorted(latest()) == sorted(latest()) == sorted([A, B])
    assert len([statement for statement in told if "session IN" in statement]) == 1
    write_changes(
        store, ANN, PutMemory(sample_memory("jay c", "user:ann", name="c", session="s", turn=2, role="user"))
    )
    assert sorted(latest()) == sorted([A, B, sample_id("c")])


def test_what_a_word_adds_to_scores_is_found_once_until_something_is_written(store: SQLiteStore) -> None:
    def scores(*words: str) -> list[tuple[str, float]]:
        with store.reader(ANN) as reader:
            scored = reader.words([TermGroup(word, (word,)) for word in words], NO_FILTER)
            return [(hit.id, hit.score) for hit in scored.top(9)]

    told = statements(store)
    first = scores("jay")
    assert sorted(memory for memory, _ in first) == sorted([A, B])
    assert [memory for memory, _ in scores("jay", "b")] == [B, A]  # "b" was not read, "jay" was
    assert scores("jay") == first
    assert len([statement for statement in told if "posting" in statement]) == 2
    write_changes(store, ANN, PutMemory(sample_memory("jay", "user:ann", name="c")))
    assert len(scores("jay")) == 3


@pytest.mark.parametrize("mine", [True, False], ids=["by this store", "by another process's"])
def test_what_is_written_is_seen_by_the_next_reader(store: SQLiteStore, path: Path, mine: bool) -> None:
    held, heads, beside, models = read(store)
    assert (sorted(held), sorted(heads), beside, models) == (
        sorted([A, B]),
        sorted([A, B]),
        {A: (B,), B: (A,)},
        0,
    )
    with closing(SQLiteStore(path)) as other:
        write_changes(store if mine else other, ANN, PutModel(SMALL_MODEL), Forget((A,)))
    held, heads, beside, models = read(store)
    assert (list(held), list(heads), beside, models) == ([B], [B], {}, 1)


def test_a_reader_goes_on_with_what_was_there_when_it_began(store: SQLiteStore, path: Path) -> None:
    read(store)
    with store.reader(ANN) as reader:
        assert not reader.ranking_metadata([A])[A].pinned
        with closing(SQLiteStore(path)) as other:
            write_changes(
                other,
                ANN,
                PutLifecycle({A: LifecycleChange(pinned=True)}),
                PutLifecycle({B: LifecycleChange(pinned=True)}),
            )
        assert not reader.ranking_metadata([B])[B].pinned
    assert read(store)[1][B].pinned


def test_nobody_is_shown_what_another_read(store: SQLiteStore) -> None:
    assert len(read(store)[0]) == 2
    assert read(store, BOB)[:3] == ({}, {}, {})
    assert read(store, Scope("other", "ann"))[:3] == ({}, {}, {})


def test_rows_are_kept_up_to_a_number_and_more_are_read_all_the_same() -> None:
    rows: RowCache[int, int] = RowCache(4)
    asked: list[list[int]] = []

    def double(new: list[int]) -> dict[int, int]:
        asked.append(new)
        return {one: 2 * one for one in new if one >= 0}

    assert rows.get([1, 2, -1, 2], double) == {1: 2, 2: 4}
    assert rows.get([2, -1, 1], double) == {2: 4, 1: 2}
    assert asked == [[1, 2, -1]]
    assert rows.get([3, 1, 4], double) == {
        3: 6,
        1: 2,
        4: 8,
    }  # too many: half stays, and what is asked for now
    assert len(rows) == 4
    assert rows.get([-1, 1, 3, 4], double) == {1: 2, 3: 6, 4: 8}
    assert asked[2:] == []
    assert rows.get(range(9), double) == {one: 2 * one for one in range(9)}
    assert len(rows) == 0


def test_rows_that_are_weighed_are_kept_up_to_so_much() -> None:
    rows: RowCache[str, str] = RowCache(6, len)
    asked: list[list[str]] = []

    def doubled(new: list[str]) -> dict[str, str]:
        asked.append(new)
        return {one: 2 * one for one in new}

    assert rows.get(["a", "bb"], doubled) == {"a": "aa", "bb": "bbbb"}
    assert rows.size == 6
    assert rows.get(["a", "c"], doubled) == {"a": "aa", "c": "cc"}  # too much: what is asked for now stays
    assert rows.get(["c", "a"], doubled) == {"c": "cc", "a": "aa"}  # "bb" made way
    assert (asked, rows.size) == ([["a", "bb"], ["c"]], 4)
    assert rows.get(["dddd", "a"], doubled) == {"dddd": "dddddddd", "a": "aa"}
    assert (len(rows), rows.size) == (0, 0)


def test_what_was_read_last_stays_when_too_many_make_way() -> None:
    rows: RowCache[int, int] = RowCache(100)
    asked: list[int] = []

    def same(new: list[int]) -> dict[int, int]:
        asked.extend(new)
        return {one: one for one in new}

    for one in range(1000):
        assert rows.get([one], same) == {one: one}
        assert len(rows) <= 100
    before = len(asked)
    rows.get(range(960, 1000), same)
    assert len(asked) == before


def test_rows_that_are_allowed_less_are_read_again() -> None:
    rows: RowCache[int, int] = RowCache(4)
    rows.get([1, 2, 3], lambda new: {one: one for one in new})
    rows.allow(3)
    assert len(rows) == 3
    rows.allow(2)
    assert (len(rows), rows.size) == (0, 0)
    assert rows.get([1, 2, 3], lambda new: {one: one for one in new}) == {1: 1, 2: 2, 3: 3}
    assert len(rows) == 0


def test_several_scopes_share_what_is_kept_of_words(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [TermGroup(f"w{number}", (f"w{number}",)) for number in range(9)]
    monkeypatch.setattr(reader, "MAX_SCORE_BYTES", 5_000)  # nine words that nobody holds take 4,500

    def looked_up(scope: Scope) -> int:
        told = statements(store)
        with store.reader(scope) as reader:
            reader.frequencies(words)
        return len([statement for statement in told if "posting" in statement])

    assert (looked_up(ANN), looked_up(ANN)) == (1, 0)
    assert (looked_up(BOB), looked_up(BOB)) == (1, 1)  # half of it is too little
    assert looked_up(ANN) == 1


def test_edges_are_read_once_until_something_is_written(store: SQLiteStore) -> None:
    link = Edge(A, "links", B, "user:ann")

    def edges(*, inward: bool = False) -> list[Edge]:
        with store.reader(ANN) as reader:
            return reader.edges([A, B], ["links"], inward=inward, limit=3)

    assert edges() == edges(inward=True) == []
    write_changes(store, ANN, PutEdges((link,)))
    told = statements(store)
    assert edges() == edges() == edges(inward=True) == edges(inward=True) == [link]
    # It is seen once whether there is any link. Those that leave are read together, those that lead to a node one by
    # one: all memories may.
    assert len([statement for statement in told if "FROM edge" in statement]) == 4
    write_changes(store, ANN, Forget((B,)))
    assert edges() == []


def test_all_that_is_kept_of_edges_is_bounded_together(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common, "MAX_METADATA", 12)
    write_changes(store, ANN, PutEdges((Edge(A, "links", B, "user:ann"), Edge(B, "links", A, "user:ann"))))
    with store.reader(ANN) as reader:
        for limit in range(1, 60):
            for inward in (True, False):
                assert len(reader.edges([A, B], ["links"], inward=inward, limit=limit)) == 2
                assert 0 < reader._snapshot.edges.size <= 12


def test_edges_that_are_read_together_are_limited_each_by_itself(store: SQLiteStore) -> None:
    made = [
        Edge(A, "links", B, "user:ann"),
        Edge(B, "links", A, "user:ann"),
        Edge(A, "similar", B, "user:ann", 0.9),
    ]
    write_changes(store, ANN, PutEdges(tuple(made)))
    for number in range(5):
        name = f"end {number}"
        write_changes(store, ANN, PutMemory(sample_memory(name, "user:ann", name=name)))
        to = sample_id(name)
        write_changes(
            store,
            ANN,
            PutEdges((Edge(A, "links", to, "user:ann", number / 10), Edge(B, "links", to, "user:ann"))),
        )
    with store.reader(ANN) as reader:
        for limit in (1, 3, None):
            apart = [
                edge for one in (A, B) for edge in reader.edges([one], ["links", "similar"], limit=limit)
            ]
            with closing(SQLiteStore(store._path)) as fresh, fresh.reader(ANN) as other:
                assert other.edges([A, B], ["similar", "links"], limit=limit) == apart
            assert len(apart) == {1: 3, 3: 7, None: 13}[limit]


def test_the_scopes_that_read_last_are_kept(store: SQLiteStore) -> None:
    kept = SnapshotCache()
    db = store._db()
    first = kept.get(db, 0)
    for number in range(MAX_SCOPES):
        assert kept.get(db, 0) is first
        kept.get(db, number)
    kept.get(db, "one more")
    kept.get(db, "and one")
    assert kept.get(db, "and one") is kept.get(db, "and one")
    for number in range(MAX_SCOPES):
        kept.get(db, f"then {number}")
    assert kept.get(db, 0) is not first
