"""Connections: never more than a few, nothing left on them, and replaced when the server ended them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from scrubjay.errors import InputError, StoreBusyError, StoreError
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.postgres.connection import READ_ONLY, ConnectionPool
from scrubjay.storage.postgres.rows import find_tenant
from scrubjay.storage.postgres.store import PostgresStore
from store_contract.samples import sample_memory, write_changes

if TYPE_CHECKING:
    from store_contract.postgres_server import PostgresServer

MINE = "user:ann"
STATE = (
    "SELECT current_setting('scrubjay.tenant', true), current_setting('scrubjay.tenant_name', true), "
    "current_setting('lock_timeout'), current_setting('synchronous_commit'), "
    "current_setting('transaction_isolation'), current_setting('transaction_read_only'), "
    "(SELECT count(*) FROM memory), "
    "(SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')"
)
WRITER = """
import sys
from scrubjay.models.records import Scope
from scrubjay.storage.postgres.store import PostgresStore
store = PostgresStore(sys.argv[1])
with store.rebuild(Scope(sys.argv[2], "ann")):
    print("holds", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def single(application_url: str, ann: Scope) -> Iterator[PostgresStore]:
    """A store with one connection and one memory, whose callers soon give up waiting."""
    with closing(PostgresStore(application_url, max_connections=1, patience=0.05)) as made:
        write_changes(made, ann, PutMemory(sample_memory("jay", MINE, name="a")))
        yield made


def ended_by_server(url: str) -> int:
    """End every session of the application's user; return how many there were."""
    with psycopg.connect(url.replace("scrubjay_app@", "scrubjay@"), autocommit=True) as db:
        found = db.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE usename = 'scrubjay_app' AND pid <> pg_backend_pid()"
        ).fetchone()
    assert found is not None
    return int(found[0])


def test_one_caller_more_than_there_are_connections_waits_and_is_told(
    single: PostgresStore, ann: Scope
) -> None:
    with ThreadPoolExecutor(1) as other, single.reader(ann) as reader:
        with pytest.raises(StoreBusyError, match="All 1 connections") as told:
            other.submit(write_changes, single, ann, PutMemory(sample_memory("oak", MINE))).result()
        assert told.value.hint
        assert reader.counts().memories == 1
    write_changes(single, ann, PutMemory(sample_memory("oak", MINE)))
    with single.reader(ann) as reader:
        assert reader.counts().memories == 2


def test_who_waits_for_a_connection_is_lent_the_first_that_comes_back(
    application_url: str, ann: Scope
) -> None:
    """Twelve threads and two connections: all are served, and the server never sees a third one."""
    most: list[int] = []
    with (
        closing(PostgresStore(application_url, max_connections=2)) as store,
        psycopg.connect(application_url) as watch,
    ):
        seen = threading.Lock()

        def work(number: int) -> None:
            write_changes(store, ann, PutMemory(sample_memory(f"jay {number}", MINE)))
            with store.reader(ann) as reader, seen:
                assert reader.counts().memories > 0
                ((count,),) = watch.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'scrubjay' "
                    "AND datname = current_database() AND usename = 'scrubjay_app'"
                ).fetchall()
                most.append(count)

        with ThreadPoolExecutor(12) as threads:
            for done in [threads.submit(work, number) for number in range(12)]:
                done.result()
        with store.reader(ann) as reader:
            assert reader.counts().memories == 12
    assert max(most) <= 2


def test_a_thread_that_holds_a_connection_does_not_wait_for_itself(single: PostgresStore, ann: Scope) -> None:
    with single.reader(ann) as outer:
        write_changes(single, ann, PutMemory(sample_memory("oak", MINE)))
        with single.reader(ann) as inner:
            assert (outer.counts().memories, inner.counts().memories) == (1, 2)


class Stopped(BaseException):
    """As when somebody presses Ctrl-C."""


def test_a_connection_that_had_an_error_carries_nothing_over(single: PostgresStore, ann: Scope) -> None:
    """No transaction, no tenant, no lock, no setting: whatever the error, and wherever it came up."""
    pool: ConnectionPool = single._pool

    def server_error() -> None:
        with pool.transaction() as db:
            find_tenant(db, ann.tenant)
            db.execute("SELECT 1 / 0")

    def refused() -> None:
        write_changes(
            single, ann, PutMemory(sample_memory("oak", MINE)), PutMemory(sample_memory("theirs", "user:bob"))
        )

    def half_a_character() -> None:
        write_changes(single, ann, PutMemory(sample_memory("\ud800", MINE)))

    def while_reading() -> None:
        with single.reader(ann):
            raise Stopped

    def while_rebuilding() -> None:
        with single.rebuild(ann) as rebuild:
            rebuild.write([PutMemory(sample_memory("oak", MINE))])
            raise Stopped

    def swallowed() -> None:
        with pool.transaction() as db:
            find_tenant(db, ann.tenant)
            with pytest.raises(psycopg.errors.DivisionByZero):
                db.execute("SELECT 1 / 0")

    def session() -> tuple[int, tuple[object, ...] | None]:
        """Look at the one connection as the next borrower finds it, before any tenant is named."""
        ((_, db),) = pool._idle
        assert db.info.transaction_status == TransactionStatus.IDLE
        return db.info.backend_pid, db.execute(STATE).fetchone()

    first, clean = session()
    assert clean is not None
    assert (clean[0] or "", clean[1] or "", *clean[2:]) == (
        "",
        "",
        "30s",
        "on",
        "read committed",
        "off",
        0,
        0,
    )
    for fails, error in (
        (server_error, StoreError),
        (refused, InputError),
        (half_a_character, InputError),
        (while_reading, Stopped),
        (while_rebuilding, Stopped),
        (swallowed, StoreError),
    ):
        with pytest.raises(error):
            fails()
        assert session() == (first, clean), fails
        with single.reader(ann) as reader:
            assert [record.content for record in reader.page("", 9)] == ["jay"], fails


def test_connections_that_the_server_ended_are_replaced_at_the_next_call(
    application_url: str, ann: Scope
) -> None:
    with closing(PostgresStore(application_url)) as store, ThreadPoolExecutor(3) as threads:
        gate = threading.Barrier(3)

        def look() -> int:
            with store.reader(ann) as reader:
                gate.wait()
                return reader.counts().memories

        write_changes(store, ann, PutMemory(sample_memory("jay", MINE)))
        for _ in range(2):
            assert [done.result() for done in [threads.submit(look) for _ in range(3)]] == [1, 1, 1]
            assert ended_by_server(application_url) >= 3
        write_changes(store, ann, PutMemory(sample_memory("oak", MINE)))
        with store.reader(ann) as reader:
            assert reader.counts().memories == 2


def test_what_was_under_way_when_the_server_ended_it_is_told_and_undone(
    application_url: str, ann: Scope
) -> None:
    with closing(PostgresStore(application_url)) as store:
        write_changes(store, ann, PutMemory(sample_memory("jay", MINE)))

        def reading() -> None:
            with store.reader(ann) as reader:
                ended_by_server(application_url)
                reader.counts()

        def rebuilding() -> None:
            with store.rebuild(ann) as rebuild:
                rebuild.write([PutMemory(sample_memory("oak", MINE))])
                ended_by_server(application_url)
                rebuild.write([PutMemory(sample_memory("elm", MINE))])

        for work in (reading, rebuilding):
            with pytest.raises(
                StoreError, match=r"connection to .* was lost .*transaction was rolled back"
            ) as told:
                work()
            assert "run it again" in told.value.hint
        with store.reader(ann) as reader:
            assert [record.content for record in reader.page("", 9)] == ["jay"]


def test_a_connection_lost_at_the_commit_is_told_as_neither_written_nor_not(
    application_url: str, ann: Scope
) -> None:
    with closing(PostgresStore(application_url)) as store:

        def lost() -> None:
            with store._pool.transaction() as db:
                find_tenant(db, ann.tenant)
                ended_by_server(application_url)

        with pytest.raises(StoreError, match="Either everything was written, or nothing") as told:
            lost()
        assert "run it again" in told.value.hint


def test_a_server_that_was_restarted_answers_at_the_next_call(
    postgres_server: PostgresServer, ann: Scope
) -> None:
    with closing(PostgresStore(postgres_server.url)) as store:
        store.write(ann, [PutMemory(sample_memory("jay", MINE))], durable=True)

        def look(*, stopping: bool = False) -> int:
            with store.reader(ann) as reader:
                if stopping:
                    postgres_server.stop()
                return reader.counts().memories

        with pytest.raises(StoreError, match=r"was lost .*transaction was rolled back"):
            look(stopping=True)
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be reached") as told:
                look()
            assert told.value.hint
        postgres_server.start()
        write_changes(store, ann, PutMemory(sample_memory("oak", MINE)))
        assert look() == 2


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_writer_that_dies_lets_go_of_its_tenant(
    application_url: str, ann: Scope, how: signal.Signals
) -> None:
    with closing(PostgresStore(application_url, patience=0.05)) as store:
        write_changes(store, ann, PutMemory(sample_memory("jay", MINE)))
        command = [sys.executable, "-c", WRITER, application_url, ann.tenant]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held:
            assert held.stdout is not None
            assert held.stdout.readline() == "holds\n"
            with pytest.raises(StoreBusyError, match="is locked by another session"):
                write_changes(store, ann, PutMemory(sample_memory("oak", MINE)))
            assert store.busy(ann)
            os.kill(held.pid, how)
            held.wait(30)
        store.write(
            ann, [PutMemory(sample_memory("oak", MINE))], patience=30
        )  # the server notices in its own time
        with store.reader(ann) as reader:
            assert reader.counts().memories == 2


def test_nobody_waits_works_or_stands_still_for_ever(application_url: str) -> None:
    asked = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
    with closing(PostgresStore(application_url)) as store, store._pool.transaction(READ_ONLY) as db:
        found = [db.execute(f"SHOW {name}").fetchall()[0][0] for name in asked]
        assert found == ["30s", "10min", "5min"]
        assert db.info.get_parameters()["tcp_user_timeout"] == "60000"
    asked_for = f"{application_url}&tcp_user_timeout=1000"
    with closing(PostgresStore(asked_for)) as store, store._pool.transaction(READ_ONLY) as db:
        assert db.info.get_parameters()["tcp_user_timeout"] == "1000"


def test_what_takes_too_long_is_ended_and_told(single: PostgresStore) -> None:
    def long() -> None:
        with single._pool.transaction() as db:
            db.execute("SET LOCAL statement_timeout TO '20ms'")
            db.execute("SELECT pg_sleep(60)")

    with pytest.raises(StoreError, match="cancelled a statement that took too long") as told:
        long()
    assert told.value.hint


def test_who_stands_still_in_a_transaction_is_ended_by_the_server_and_told(
    single: PostgresStore, application_url: str
) -> None:
    def still() -> None:
        with single._pool.transaction() as db, psycopg.connect(application_url, autocommit=True) as watch:
            db.execute("SET LOCAL idle_in_transaction_session_timeout TO '20ms'")
            there = ("SELECT 1 FROM pg_stat_activity WHERE pid = %s", (db.info.backend_pid,))
            while watch.execute(*there).fetchone():
                pass
            db.execute("SELECT 1")

    with pytest.raises(StoreError, match="was lost"):
        still()
