"""Enlarging: what a large tenant is searched by is made, or taken away, while others read and write.

Only the owner of the tables may: an index is made by nobody else. A tenant of usual size needs none of it, and pays
nothing for it. Stopped at any moment, it goes on there the next time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import closing
from typing import TYPE_CHECKING, Final

from scrubjay.errors import StoreError
from scrubjay.memory.reports import Enlarged, Progress
from scrubjay.store.postgres import blocks, marks, neighbours
from scrubjay.store.postgres.connect import SCHEMA, connect, shown, spoken
from scrubjay.store.postgres.models import Registered, registered
from scrubjay.store.postgres.tenant import find, held, obtain, touch

if TYPE_CHECKING:
    from scrubjay.store.kept import Tenant
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.pool import Pool

AT_ONCE: Final = 2_000
"""Vectors that are copied in one transaction: others of the tenant wait a fifth of a second to write."""
NO_PGVECTOR: Final = "pgvector 0.8 or newer is not in this database"
OWNED: Final = (
    "SELECT has_schema_privilege(%s, 'CREATE') AND pg_has_role(c.relowner, 'USAGE') FROM pg_class c "
    "WHERE c.oid = to_regclass(%s)"
)


Told = Callable[[str, int], None]
"""Told what is done, and how many of it there are by now."""


def lacking(db: Database, tenant: Tenant, keys: Collection[str], large: int) -> str:
    """Return what a tenant lacks of which some keys show more memories than are searched without.

    Args:
        db: Inside a transaction.
        tenant: The tenant.
        keys: The visibility keys.
        large: Memories that are searched without.
    """
    seen = sum(count for key, count in held(db, tenant).items() if key in keys)
    if seen <= large:
        return ""
    without = [
        one.model.name
        for one in registered(db, tenant.number).values()
        if one.neighbours != neighbours.READY or neighbours.index(db, tenant.number, one.number) is None
    ]
    slow = [] if tenant.posted else ["the words of each are looked through for every search"]
    if without:
        why = "" if neighbours.extension(db) else f", as {NO_PGVECTOR}"
        slow.append(f"the vectors of {', '.join(sorted(without))} are read whole after each write{why}")
    return f"of {seen:,} memories, {' and '.join(slow)}" if slow else ""


class Enlarging:
    """Work of the owner on one tenant.

    Args:
        pool: Connections to the database.
        url: Of the database.
        name: The tenant.
        patience: Seconds to wait for its writers, each time.
    """

    def __init__(self, pool: Pool, url: str, name: str, patience: float) -> None:
        self._pool = pool
        self._url = url
        self._name = name
        self._patience = patience

    def make(self, progress: Callable[[Progress], None]) -> Enlarged:
        """Make what is missing: blocks of words, and for each model an index, if there is pgvector."""
        begun = time.monotonic()
        memories = self._check()

        def told(stage: str, done: int) -> None:
            progress(Progress(stage, done, max(done, memories), time.monotonic() - begun))

        words = self._post(told)
        with self._pool.transaction() as db:
            here = neighbours.extension(db)
            if here is not None and neighbours.at(db) is None:
                neighbours.make_table(db, here)
        if here is None:
            return Enlarged(words, (), NO_PGVECTOR, time.monotonic() - begun)
        made = []
        for one in self._models():
            if one.model.dimensions <= neighbours.MOST_DIMENSIONS:
                self._index(one, told)
                made.append(one.model.name)
        return Enlarged(words, tuple(made), "", time.monotonic() - begun)

    def drop(self) -> None:
        """Take away all that `make` has made."""
        self._check()
        for one in self._models():
            self._note(one, "")
            self._apart(lambda db, number: neighbours.drop_index(db, *number), one)
            with self._pool.transaction() as db:
                neighbours.clear(db, self._obtain(db).number, one.number)
        with self._pool.transaction() as db:
            tenant = self._obtain(db).number
            marks.forget(db, tenant)
            blocks.drop(db, tenant)

    def _check(self) -> int:
        """Return how many memories the tenant has.

        Raises:
            StoreError: This user may make no index, or there is no such tenant.
        """
        with self._pool.transaction() as db:
            row = db.execute(OWNED, (SCHEMA, f"{SCHEMA}.vector")).fetchone()
            if row is None or not row[0]:
                raise StoreError(
                    f"{shown(self._url)}: an index is made by the owner of the tables, and this user is not. "
                    "Nothing was written.",
                    hint="run it once as the owner: --store postgresql://scrubjay_owner@host/database",
                )
            tenant = find(db, self._name)
            if tenant is None:
                raise StoreError(
                    f"{shown(self._url)} holds nothing of tenant {self._name!r} yet. Nothing was written."
                )
            return sum(held(db, tenant).values())

    def _obtain(self, db: Database) -> Tenant:
        return obtain(db, self._name, None, self._patience)

    def _models(self) -> list[Registered]:
        with self._pool.transaction() as db:
            return list(registered(db, self._obtain(db).number).values())

    def _post(self, told: Told) -> int:
        """Put the words of all memories into blocks, each in a transaction of its own; return of how many they were."""
        done = 0
        while True:
            with self._pool.transaction() as db:
                fresh = blocks.extend(db, self._obtain(db).number, least=1)
            if not fresh:
                return done
            done += fresh
            told("words", done)

    def _index(self, one: Registered, told: Told) -> None:
        """Make a model's index: from the first step on writers write its table, too."""
        with self._pool.transaction() as db:
            if one.neighbours == neighbours.READY and neighbours.index(
                db, self._obtain(db).number, one.number
            ):
                return
        self._note(one, neighbours.FILLING)
        last, done = -1, 0
        while True:
            with self._pool.transaction() as db:
                tenant = self._obtain(db).number
                missing = neighbours.missing(db, tenant, one.number, last, AT_ONCE)
                neighbours.put(db, tenant, one.number, missing)
            if not missing:
                break
            last, done = missing[-1][0] - 1, done + len(missing)  # its other windows may be the next ones
            told("vectors", done)
        self._apart(
            lambda db, number: neighbours.make_index(
                db, self._type(), *number, dimensions=one.model.dimensions
            ),
            one,
        )
        self._note(one, neighbours.READY)

    def _type(self) -> str:
        with self._pool.transaction() as db:
            here = neighbours.at(db)
        if here is None:
            raise StoreError(f"Somebody took pgvector out of {shown(self._url)} meanwhile. Begin again.")
        return here

    def _note(self, one: Registered, state: str) -> None:
        with self._pool.transaction() as db:
            tenant = self._obtain(db)
            neighbours.set_state(db, tenant.number, one.number, state)
            touch(db, tenant)

    def _apart(self, do: Callable[[Database, tuple[int, int]], None], one: Registered) -> None:
        """Do what cannot be done in a transaction, and takes as long as it takes, on a connection of its own."""
        with self._pool.transaction() as db:
            number = (self._obtain(db).number, one.number)
        with spoken(self._url), closing(connect(self._url)) as db:
            db.execute("SET statement_timeout TO 0")
            db.execute("SET lock_timeout TO 0")
            do(db, number)
