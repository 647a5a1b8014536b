"""What is particular to PostgreSQL: reaching it, waiting for it, and what it must not tell."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from scrubjay.errors import StoreBusyError, StoreError, StoreVersionError
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.postgres.connection import ESCAPE, escape_text, hide_password, unescape_text
from scrubjay.storage.postgres.schema import MIGRATIONS
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.urls import open_store
from store_contract.samples import sample_memory, write_changes


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    made = PostgresStore(postgres_url, patience=0.05)
    yield made
    made.close()


def test_without_the_driver_the_way_to_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match="needs psycopg") as told:
        PostgresStore("postgresql://ann:s3cret@localhost/notes")
    assert told.value.hint == "pip install 'scrubjay[postgres]'"
    assert "s3cret" not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@127.0.0.1:1/notes",
        "postgresql://ann:s3cret@/notes?host=/nowhere",
        "postgresql://ann:s3cret@127.0.0.1:99999999/notes",
        "postgresql://127.0.0.1:1/notes?user=ann&password=s3cret",
        "postgresql://ann:s3cret@127.0.0.1:1/notes?no_such_option=x",
    ],
)
def test_a_server_that_is_not_there_is_told_without_the_password(url: str) -> None:
    with pytest.raises(StoreError, match="cannot be reached") as told:
        PostgresStore(url)
    assert told.value.hint
    error: BaseException | None = told.value
    while error is not None:
        assert "s3cret" not in f"{error!r}{getattr(error, 'hint', '')}"
        error = error.__cause__


def test_the_url_of_a_store_has_no_password(postgres_url: str) -> None:
    store = PostgresStore(postgres_url.replace("scrubjay@", "scrubjay:s3cret@"))
    assert store.url == postgres_url
    assert hide_password("postgres://a:b:c@h/d") == "postgres://a@h/d"
    opened = open_store(store.url)
    opened.close()
    store.close()


@pytest.mark.parametrize("text", ["", "plain", "\x00", ESCAPE, f"{ESCAPE}0", f"a\x00{ESCAPE}{ESCAPE}1\x00"])
def test_every_text_has_an_escape_of_its_own(text: str) -> None:
    assert "\x00" not in escape_text(text)
    assert unescape_text(escape_text(text)) == text


def test_a_second_writer_of_a_tenant_is_told_to_wait(store: PostgresStore, ann: Scope) -> None:
    with store.rebuild(ann) as rebuild:
        with pytest.raises(StoreBusyError, match="Nothing was written"):
            write_changes(store, ann, PutMemory(sample_memory("jay", "user:ann")))
        write_changes(store, Scope(f"{ann.tenant} other", "ann"), PutMemory(sample_memory("jay", "user:ann")))
        rebuild.write([PutMemory(sample_memory("kept", "user:ann"))])
    write_changes(store, ann, PutMemory(sample_memory("jay", "user:ann")))
    with store.reader(ann) as reader:
        assert reader.counts().memories == 2


def test_a_newer_schema_is_not_touched(database: str) -> None:
    PostgresStore(database).close()
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("INSERT INTO scrubjay.migration VALUES (99, 'of the future', 0)")
    with pytest.raises(StoreVersionError, match="has schema 99") as told:
        PostgresStore(database)
    assert "upgrade" in told.value.hint


def test_many_processes_may_open_a_new_database_at_once(database: str) -> None:
    gate = threading.Barrier(6)

    def open_it() -> None:
        gate.wait()
        PostgresStore(database).close()

    with ThreadPoolExecutor(6) as pool:
        for opening in [pool.submit(open_it) for _ in range(6)]:
            opening.result()
    with psycopg.connect(database) as db:
        assert db.execute("SELECT id FROM scrubjay.migration").fetchall() == [
            (number,) for number, _, _ in MIGRATIONS
        ]


def test_a_connection_that_the_server_ended_is_replaced(
    store: PostgresStore, ann: Scope, postgres_url: str
) -> None:
    write_changes(store, ann, PutMemory(sample_memory("jay", "user:ann")))
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'scrubjay'"
        )
    with store.reader(ann) as reader:
        assert reader.counts().memories == 1


def test_a_user_without_rights_is_told_which(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("CREATE ROLE guest LOGIN")
    try:
        with pytest.raises(StoreError, match="does not allow it") as told:
            PostgresStore(database.replace("scrubjay@", "guest@"))
        assert "scrubjay" in told.value.hint
    finally:
        with psycopg.connect(database, autocommit=True) as db:
            db.execute("DROP ROLE guest")


def test_the_size_grows_with_what_is_stored(store: PostgresStore, ann: Scope) -> None:
    before = store.size()
    chance = random.Random(7)  # what can be packed may fit into pages that other tests left half empty
    texts = [f"jay {chance.randbytes(10_000).hex()} {i}" for i in range(50)]
    write_changes(store, ann, *(PutMemory(sample_memory(text, "user:ann")) for text in texts))
    assert store.size() > before
