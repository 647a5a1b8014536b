"""Snapshots: what one process has read of a tenant is kept until anybody writes to it, and shown to nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import NO_FILTER, RecordFilter, Scope
from scrubjay.storage.changes import Forget, PutEdges, PutLifecycle, PutMemory, PutModel
from scrubjay.storage.postgres.reader import SnapshotCache
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.postgres.tenant_index import DEFAULT_LIMITS, LargeTenantLimits
from scrubjay.storage.rows import Tenant
from store_contract.answers import all_answers
from store_contract.history import StoreHistory
from store_contract.samples import (
    SMALL_MODEL,
    sample_id,
    sample_memory,
    sample_windows,
    term_group,
    write_changes,
)

MINE = "user:ann"
A, B = sample_id("a"), sample_id("b")


@pytest.fixture
def store(postgres_url: str, ann: Scope) -> Iterator[PostgresStore]:
    with closing(PostgresStore(postgres_url, b"k")) as opened:
        write_changes(opened, ann, PutModel(SMALL_MODEL))
        for turn, name in enumerate("ab"):
            said = sample_memory(f"jay {name}", MINE, name=name, session="s", turn=turn, role="user")
            write_changes(opened, ann, PutMemory(said))
        yield opened


@pytest.fixture
def other(postgres_url: str) -> Iterator[PostgresStore]:
    """The store as another process has it."""
    with closing(PostgresStore(postgres_url)) as opened:
        yield opened


@contextmanager
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield a list that all statements come into."""
    sent: list[str] = []
    execute = psycopg.Cursor.execute

    def tell(self: Any, query: Any, *rest: Any, **options: Any) -> Any:
        sent.append(str(query))
        return execute(self, query, *rest, **options)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Cursor, "execute", tell)
        yield sent


def read(store: PostgresStore, scope: Scope) -> tuple[Any, ...]:
    with store.reader(scope) as reader:
        return (
            reader.get([A, B]),
            reader.ranking_metadata([A, B]),
            reader.adjacent([A, B]),
            reader.edges([A, B], ["links"]),
            reader.degrees("links", [A, B]),
            reader.words([term_group("jay")], NO_FILTER).top(5),
            reader.nearest(
                SMALL_MODEL.fingerprint, sample_windows("jay").data[0].astype("f4"), NO_FILTER
            ).top(5)
            if reader.models()
            else [],
            reader.windows(SMALL_MODEL.fingerprint),
            reader.languages(),
            reader.sources(),
        )


def test_postgres_is_asked_for_the_mark_alone_until_something_is_written(
    store: PostgresStore, other: PostgresStore, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read(store, ann)
    assert [hit.id for hit in first[5]] == sorted([A, B])
    with told(monkeypatch) as sent:
        assert read(store, ann) == first
    assert [one for one in sent if "mark" in one]
    assert not [one for one in sent if "FROM" in one and "FROM tenant" not in one and "migration" not in one]
    write_changes(other, ann, PutLifecycle({A: LifecycleChange(pinned=True)}))
    with told(monkeypatch) as sent:
        assert read(store, ann)[1][A].pinned
    assert [one for one in sent if "FROM memory" in one]


@pytest.mark.parametrize("mine", [True, False], ids=["by this store", "by another process's"])
def test_what_is_written_to_postgres_is_seen_by_the_next_reader(
    store: PostgresStore, other: PostgresStore, ann: Scope, mine: bool
) -> None:
    held, heads, beside, edges, degrees, words, *_ = read(store, ann)
    assert (len(held), len(heads), beside, edges, degrees) == (2, 2, {A: (B,), B: (A,)}, [], {})
    writer = store if mine else other
    link = Edge(A, "links", B, MINE)
    write_changes(writer, ann, PutEdges((link,)), PutMemory(sample_memory("jay c", MINE, name="c")))
    _, _, _, edges, degrees, words, *_ = read(store, ann)
    assert (edges, degrees, len(words)) == ([link], {B: 1}, 3)
    write_changes(writer, ann, Forget((A,)))
    held, heads, beside, edges, degrees, words, *_ = read(store, ann)
    assert (list(held), list(heads), beside, edges, degrees, len(words)) == ([B], [B], {}, [], {}, 2)


def test_a_rebuild_in_postgres_is_seen_by_the_next_reader(
    store: PostgresStore, other: PostgresStore, ann: Scope
) -> None:
    assert len(read(store, ann)[0]) == 2
    with other.rebuild(ann) as rebuild:
        rebuild.write([PutMemory(sample_memory("jay b", MINE, name="b"))])
    assert list(read(store, ann)[0]) == [B]


def test_a_reader_of_postgres_goes_on_with_what_was_there_when_it_began(
    store: PostgresStore, other: PostgresStore, ann: Scope
) -> None:
    with store.reader(ann) as reader:
        assert not reader.ranking_metadata([A])[A].pinned
        write_changes(
            other, ann, PutLifecycle({A: LifecycleChange(pinned=True), B: LifecycleChange(pinned=True)})
        )
        assert read(store, ann)[1][A].pinned
        assert not reader.ranking_metadata([A, B])[B].pinned
    assert read(store, ann)[1][B].pinned


def test_nobody_is_shown_what_another_read_from_postgres(store: PostgresStore, ann: Scope) -> None:
    assert len(read(store, ann)[0]) == 2
    for stranger in (Scope(ann.tenant, "bob"), Scope(f"{ann.tenant} other", "ann")):
        assert read(store, stranger)[:6] == ({}, {}, {}, [], {}, [])


def test_a_write_to_postgres_leaves_another_tenants_snapshot(
    store: PostgresStore, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(store, ann)
    write_changes(store, Scope(f"{ann.tenant} other", "ann"), PutMemory(sample_memory("jay", MINE)))
    with told(monkeypatch) as sent:
        read(store, ann)
    assert not [one for one in sent if "FROM memory" in one]


def test_answers_of_postgres_are_the_same_with_all_postings_read_at_once_and_with_some(
    tmp_path: Path, postgres_url: str
) -> None:
    history = StoreHistory(11, str(tmp_path))
    questions = [history.question() for _ in range(25)]
    found = []
    with closing(PostgresStore(postgres_url, b"history")) as store:
        for scope, changes in history.steps(60):
            store.write(scope, changes)
    for most in (DEFAULT_LIMITS, LargeTenantLimits(0)):
        with closing(PostgresStore(postgres_url, large=most)) as store:
            found.append([all_answers(store, scope, questions, ("jai",)) for scope in history.users])
    assert found[0] == found[1]


def test_a_filter_of_postgres_by_columns_passes_what_the_rows_say(store: PostgresStore, ann: Scope) -> None:
    write_changes(store, ann, PutMemory(sample_memory("jay l", MINE, name="l", tier="lesson")))
    write_changes(store, ann, PutLifecycle({A: LifecycleChange("archived")}))
    lesson = sample_id("l", "lesson")
    with store.reader(ann) as reader:

        def passing(where: RecordFilter) -> list[str]:
            return [hit.id for hit in reader.words([term_group("jay")], where).top(5)]

        assert passing(RecordFilter(statuses=("archived",))) == [A]
        assert passing(RecordFilter(statuses=("archived", "active"), tiers=("lesson",))) == [lesson]
        assert passing(RecordFilter(tiers=("no such tier",))) == []
        assert passing(RecordFilter(statuses=("no such status",))) == []


def test_scopes_that_read_last_are_kept_within_so_many_bytes() -> None:
    kept = SnapshotCache(most_bytes=1000)

    def of(name: str, mark: int = 1) -> Any:
        return kept.get(Tenant(1, b"", 1, mark), name, ("public",))

    first = of("a")
    assert of("a") is first
    assert first.cached("rows", lambda: 7, lambda _: 600) == 7
    second = of("b")
    assert of("a") is first
    second.cached("rows", lambda: 8, lambda _: 600)
    assert of("c") is not second  # too much by now: the one that was read longest ago goes
    assert of("a") is first
    assert of("a", mark=2) is not first
    kept.drop("a")
    assert of("a", mark=2).cached("rows", lambda: 9) == 9
