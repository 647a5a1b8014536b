"""A text that is no longer what was written is noticed by its hash, in every store, however it came to be another."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from reference_store.store import ReferenceStore
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutMemory, PutSource
from scrubjay.storage.interface import BATCH_ROWS, AlteredMemory, Store
from scrubjay.storage.urls import open_store
from store_contract.samples import put_sample_document, sample_id, sample_memory, sample_source

Damage = Callable[[str, bytes], None]
"""Puts other bytes in the place of the text that reads so."""


@pytest.fixture
def ann(request: pytest.FixtureRequest) -> Scope:
    """A user of a tenant that this test has to itself."""
    return Scope(request.node.nodeid[-60:], "ann")


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Damage]]:
    """A store that lasts, and what a broken disk would do to it."""
    if request.param == "sqlite":
        url = str(tmp_path / "memory.db")

        def damage(text: str, data: bytes) -> None:
            with closing(sqlite3.connect(url)) as db, db:
                done = db.execute(
                    "UPDATE memory SET content = CAST(? AS TEXT) WHERE content = ?", (data, text)
                )
                assert done.rowcount == 1

    else:
        import psycopg

        url = str(request.getfixturevalue("postgres_url"))

        def damage(text: str, data: bytes) -> None:
            with psycopg.connect(url) as db:
                asked = "UPDATE scrubjay.memory SET content = %s WHERE content = %s"
                assert db.execute(asked, (data.decode(), text)).rowcount == 1

    with closing(open_store(url)) as store:
        yield store, damage


def looked(store: Store, tenant: str) -> tuple[int, list[AlteredMemory]]:
    with store.tenant_reader(tenant) as whole:
        found = list(whole.altered_memories())
    return sum(count for count, _ in found), [one for _, bad in found for one in bad]


def test_what_is_as_it_was_written_is_not_suspected(kept: tuple[Store, Damage], ann: Scope) -> None:
    store, _ = kept
    texts = ["plain", "a\x00b", "\x1b0 and \x1b", "ünïcödé 🐦", "\n lines \r\n\t", "'; DROP TABLE memory; --"]
    store.write(ann, [PutMemory(sample_memory(text, "user:ann")) for text in texts])
    store.write(Scope(ann.tenant, "bob"), [PutMemory(sample_memory("his", "user:bob"))])
    assert looked(store, ann.tenant) == (7, [])
    assert looked(store, f"{ann.tenant} of nobody") == (0, [])


def test_each_altered_text_is_named_with_its_file_and_no_other(
    kept: tuple[Store, Damage], ann: Scope
) -> None:
    store, damage = kept
    many = [PutMemory(sample_memory(f"text {number}", "user:ann")) for number in range(BATCH_ROWS + 20)]
    notes = put_sample_document("notes", "a.md", ["one of a file", "two of a file"], "user:ann")
    store.write(ann, [PutSource(sample_source("notes", "user:ann")), notes, *many])
    damage("text 7", b"text 8")
    damage(f"text {BATCH_ROWS + 7}", b"")
    damage("two of a file", b"two of a pile")
    count, found = looked(store, ann.tenant)
    assert count == BATCH_ROWS + 22
    assert {one.id: (one.source, one.path) for one in found} == {
        sample_id("text 7 user:ann"): (None, None),
        sample_id(f"text {BATCH_ROWS + 7} user:ann"): (None, None),
        sample_id("a.md:two of a file"): ("notes", "a.md"),
    }


@pytest.mark.parametrize("kept", ["sqlite"], indirect=True)
def test_bytes_that_are_no_text_at_all_are_named_like_others(kept: tuple[Store, Damage], ann: Scope) -> None:
    store, damage = kept
    store.write(
        ann, [PutMemory(sample_memory("one", "user:ann")), PutMemory(sample_memory("two", "user:ann"))]
    )
    damage("one", b"\xff\xfe\x00")
    assert looked(store, ann.tenant) == (2, [AlteredMemory(sample_id("one user:ann"))])


def test_a_hash_that_does_not_fit_is_told_by_the_reference_as_well(ann: Scope) -> None:
    store = ReferenceStore()
    good, bad = sample_memory("good", "user:ann"), sample_memory("bad", "user:ann")
    store.write(ann, [PutMemory(good), PutMemory(replace(bad, record=replace(bad.record, content="sad")))])
    assert looked(store, ann.tenant) == (2, [AlteredMemory(bad.record.id)])
