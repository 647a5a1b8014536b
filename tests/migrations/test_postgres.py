"""PostgreSQL of every older schema is brought to the newest while others read and write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

import psycopg
import pytest

from scrubjay.errors import ScrubjayError, StoreBusyError, StoreVersionError
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.postgres.connection import connect, transaction
from scrubjay.storage.postgres.schema import MIGRATIONS, migrate
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.rows import node_hash
from store_contract.samples import sample_id, sample_memory, write_changes

ANN = Scope("woods", "ann")
MINE = "user:ann"
ROUNDS = 5
"""How often each who is at work has been round before the schema changes, and goes round after."""
LATER = (
    99,
    "later",
    "ALTER TABLE tenant ADD COLUMN later text; ALTER TABLE memory ADD COLUMN later text; "
    "CREATE INDEX memory_later ON memory (tenant, later); DROP INDEX memory_session",
)
# What a scrubjay of the first schema sends; those of later ones send it, too.
PUT = """
INSERT INTO memory (
    tenant, generation, key, hash, tier, status, owner, project, session, turn, origin, title, heading_path,
    content_hash, recorded_at, updated_at, pinned, confidence, strength, tags, content, language, at, length,
    terms, tfs
) VALUES (
    1, 1, 'user:ann', %s, 'observation', 'active', 'ann', 'woods', 's', 1, 'owner', 'A title', '{}', 'x', 7, 9,
    false, 1, 1, '{}', 'jay', 'en', 7, 1, '{}', '{}'
)
"""
FIND = "SELECT id, secret, generation FROM tenant WHERE name = 'woods'"
LOOK = (
    "SELECT count(*) FROM memory m LEFT JOIN document d ON d.tenant = m.tenant AND d.id = m.document "
    "WHERE m.tenant = 1"
)
WORDS = "SELECT count(*) FROM term WHERE tenant = 1"


def made(url: str, schema: int) -> None:
    """Make what a scrubjay of an older schema would have made."""
    with closing(connect(url)) as db:
        migrate(db, url, migrations=MIGRATIONS[:schema])
        db.execute("INSERT INTO tenant (name, secret) VALUES (%s, 'k')", (ANN.tenant,))


class Worker(threading.Thread):
    """Goes round until it is told to stop, or fails."""

    def __init__(self, once: Callable[[int], None]) -> None:
        super().__init__()
        self._once = once
        self._turn = threading.Condition()
        self._stopping = threading.Event()
        self.rounds = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._once(self.rounds)
                with self._turn:
                    self.rounds += 1
                    self._turn.notify_all()
        except (ScrubjayError, psycopg.Error) as error:
            self.error = error
        finally:
            self._stopping.set()
            with self._turn:
                self._turn.notify_all()

    def been_round(self, times: int = ROUNDS) -> None:
        """Return when it has been round so often more, or has ended."""
        with self._turn:
            wanted = self.rounds + times
            assert self._turn.wait_for(lambda: self.rounds >= wanted or self._stopping.is_set(), 60)

    def stop(self) -> None:
        self._stopping.set()
        self.join(60)
        assert not self.is_alive()


@contextmanager
def working(*workers: Worker) -> Iterator[None]:
    """Let them work, all at once, until the block ends."""
    with ExitStack() as stack:
        for worker in workers:
            worker.start()
            stack.callback(worker.stop)
        for worker in workers:
            worker.been_round()
        yield


def older(url: str, stack: ExitStack) -> list[Worker]:
    """Two readers and a writer of an older scrubjay."""

    def session() -> psycopg.Connection[tuple[int]]:
        return stack.enter_context(closing(connect(url)))

    def reader() -> Worker:
        db = session()

        def look(_: int) -> None:
            with transaction(db, "ISOLATION LEVEL REPEATABLE READ READ ONLY"):
                db.execute(FIND)
                first = db.execute(LOOK).fetchone()
                db.execute(WORDS)
                assert db.execute(LOOK).fetchone() == first, "one state for the whole of a query"

        return Worker(look)

    def writer() -> Worker:
        db = session()

        def put(number: int) -> None:
            with transaction(db):
                db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (ANN.tenant,))
                db.execute(FIND)
                db.execute("INSERT INTO term (tenant, text) VALUES (1, %s)", (f"word {number}",))
                db.execute(PUT, (node_hash(sample_id(f"old {number}")),))

        return Worker(put)

    return [reader(), reader(), writer()]


@pytest.mark.parametrize("schema", range(1, len(MIGRATIONS) + 1))
def test_postgres_of_an_older_schema_is_migrated_under_two_readers_and_a_writer(
    database: str, schema: int
) -> None:
    made(database, schema)
    with ExitStack() as stack:
        workers = older(database, stack)
        with working(*workers):
            store = stack.enter_context(closing(PostgresStore(database)))
            for worker in workers:
                worker.been_round()
        assert [worker.error for worker in workers] == [None, None, None]
        assert store.row_security_warning()
        write_changes(store, ANN, PutMemory(sample_memory("new", MINE, name="new")))
        with store.reader(ANN) as reader:
            found = reader.get([sample_id(f"old {number}") for number in range(workers[2].rounds)])
            assert (len(found), reader.counts().memories) == (workers[2].rounds, workers[2].rounds + 1)


def test_who_works_with_postgres_while_a_newer_scrubjay_migrates_it_is_told_and_loses_nothing(
    database: str,
) -> None:
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(PostgresStore(database))) for _ in range(3)]
        write_changes(stores[0], ANN, PutMemory(sample_memory("first", MINE, name="first")))

        def look(store: PostgresStore) -> Callable[[int], None]:
            def once(_: int) -> None:
                with store.reader(ANN) as reader:
                    assert reader.counts().memories == len(reader.page("", 10_000))

            return once

        def put(number: int) -> None:
            write_changes(
                stores[2], ANN, PutMemory(sample_memory(f"jay {number}", MINE, name=f"jay {number}"))
            )

        workers = [Worker(look(stores[0])), Worker(look(stores[1])), Worker(put)]
        with working(*workers):
            with closing(connect(database)) as db:
                migrate(db, database, migrations=(*MIGRATIONS, LATER))
            for worker in workers:
                worker.been_round(10_000)  # until it ends
        for worker in workers:
            assert type(worker.error) is StoreVersionError, worker.error
            assert "has schema 99 by now" in str(worker.error)
            assert "restart it" in worker.error.hint
        with closing(connect(database)) as db:
            rows = db.execute("SELECT count(*) FROM memory").fetchone()
        assert rows == (workers[2].rounds + 1,)


def test_a_migration_of_postgres_gives_up_when_somebody_holds_the_tables_for_too_long(database: str) -> None:
    made(database, 4)
    with closing(connect(database)) as other:
        with transaction(other):
            other.execute(LOOK)
            with pytest.raises(
                StoreBusyError, match=r"other sessions hold its tables\. It was not touched"
            ) as told:
                PostgresStore(database, patience=0.1)
            assert told.value.hint
            assert other.execute("SELECT max(id) FROM migration").fetchone() == (4,)
        with closing(PostgresStore(database, patience=0.1)) as store:
            write_changes(store, ANN, PutMemory(sample_memory("jay", MINE)))


def test_while_a_migration_of_postgres_waits_others_go_on(database: str) -> None:
    """It waits for the tables half a second at a time, and lets go of those that it has."""
    made(database, 4)
    with ExitStack() as stack:
        workers = older(database, stack)
        slow = stack.enter_context(closing(connect(database)))
        with transaction(slow), working(*workers):
            slow.execute(WORDS)
            with pytest.raises(StoreBusyError):
                PostgresStore(database, patience=1)
            for worker in workers:
                worker.been_round()
        assert [worker.error for worker in workers] == [None, None, None]


def test_a_migration_of_postgres_that_fails_leaves_the_store_as_it_was(database: str) -> None:
    with closing(PostgresStore(database)) as store:
        write_changes(store, ANN, PutMemory(sample_memory("jay", MINE)))
        bad = (99, "broken", "CREATE TABLE half (tenant bigint); CREATE TABLE memory (tenant bigint)")
        with closing(connect(database)) as db, pytest.raises(psycopg.errors.DuplicateTable):
            migrate(db, database, migrations=(*MIGRATIONS, bad))
        with store.reader(ANN) as reader:
            assert reader.counts().memories == 1
    with closing(connect(database)) as db:
        assert db.execute("SELECT to_regclass('half'), (SELECT max(id) FROM migration)").fetchone() == (
            None,
            MIGRATIONS[-1][0],
        )


def test_migrations_of_postgres_are_numbered_from_one_without_a_gap() -> None:
    assert [number for number, _, _ in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
