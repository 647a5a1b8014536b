"""Whole: all that one tenant has, read in one transaction, a piece at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import StoreError
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event
from scrubjay.memory.ids import text_hash
from scrubjay.memory.scope import Everyone
from scrubjay.store.changes import Codes, Prepared, PutProject
from scrubjay.store.postgres import models, rows
from scrubjay.store.postgres.connect import SCHEMA, unescaped
from scrubjay.store.postgres.edges import to_edge
from scrubjay.store.postgres.reader import PostgresReader
from scrubjay.store.postgres.tenant import find
from scrubjay.store.postgres.told import Told
from scrubjay.store.scope_check import LEADS_TO
from scrubjay.store.snapshot import Snapshot
from scrubjay.store.whole import PIECE, Altered
from scrubjay.text.tokens import Terms

if TYPE_CHECKING:
    from scrubjay.memory.readings import Reading
    from scrubjay.store.kept import Tenant
    from scrubjay.store.postgres.connect import Database

KEYED: Final = ("source", "memory", "concept", "category", "project", "edge", "event", "run")
"""Tables whose rows have a visibility key."""
KEYS: Final = " UNION ".join(f"SELECT key FROM {table} WHERE tenant = %(tenant)s" for table in KEYED)
MEMORIES: Final = (
    f"SELECT m.num, m.language, m.length, m.terms, m.tfs, {rows.RECORD} {rows.FROM} "
    "WHERE m.tenant = %s AND m.generation = %s AND m.num > %s ORDER BY m.num LIMIT %s"
)
ALTERED: Final = """
SELECT m.num, m.tier, m.hash, d.source, d.path, m.content_hash,
    CASE WHEN encode(sha256(textsend(m.content)), 'hex') <> m.content_hash THEN textsend(m.content) END
FROM memory m LEFT JOIN document d ON d.tenant = m.tenant AND d.id = m.document
WHERE m.tenant = %s AND m.generation = %s AND m.num > %s ORDER BY m.num LIMIT %s
"""
EDGES: Final = """
SELECT e.src, e.kind, e.dst, e.key, e.weight, e.at, e.origin, e.rule, e.run FROM edge e
WHERE e.tenant = %s AND (e.src, e.kind, e.dst, e.key) > (%s, %s, %s, %s)
ORDER BY e.src, e.kind, e.dst, e.key LIMIT %s
"""
EVENTS: Final = """
SELECT e.seq, e.memory, e.op, e.at, e.key, e.run, e.other, e.count, e.before, e.actor FROM event e
WHERE e.tenant = %s AND e.seq > %s ORDER BY e.seq LIMIT %s
"""
TIERS: Final = (
    "SELECT hash, tier FROM memory WHERE tenant = %s AND generation = %s AND hash = ANY(%s::bigint[])"
)
"""What edges and events lead to is looked up a piece at a time. As a join the server would plan it by what it has
learned of the tables' sizes, which is nothing of one that was filled just now: 50,000 edges took half a minute."""
LEAST: Final = -rows.SIGN
"""The smallest number of an id."""


def tenants(reader: PostgresReader, url: str) -> list[str]:
    """Return the names of all tenants.

    Raises:
        StoreError: Row-level security hides those that are not asked for by name.
    """
    db = reader._db
    found = db.execute(f"SELECT row_security_active('{SCHEMA}.tenant')").fetchone()
    if found is None or found[0]:
        raise StoreError(
            f"This database user may not see which tenants {url} holds. Nothing was read.",
            hint="name one tenant, or connect as a user with BYPASSRLS",
        )
    return sorted(name for (name,) in db.execute("SELECT name FROM tenant").fetchall())


def _everyone(db: Database, name: str, tenant: Tenant | None) -> Everyone:
    if tenant is None:
        return Everyone(name, "", (), ())
    keys = db.execute(KEYS, {"tenant": tenant.number}).fetchall()
    return Everyone(name, "", (), tuple(sorted(key for (key,) in keys)))


class PostgresWhole(PostgresReader):
    """A view for everyone, that lasts as long as its transaction."""

    def __init__(self, db: Database, name: str, tenant: Tenant | None) -> None:
        self.scope = _everyone(db, name, tenant)
        self._found_tenant = tenant
        super().__init__(db, self.scope, tenant, Snapshot())

    @property
    def secret(self) -> bytes | None:
        """The tenant's key for ids and tombstones."""
        return None if self._found_tenant is None else self._found_tenant.secret

    def _each(self, statement: str, values: Any) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a statement in pieces, which the server holds back."""
        cursor = self._db.cursor(name="whole")
        try:
            with cursor:
                cursor.execute(statement, values)
                while found := cursor.fetchmany(PIECE):
                    yield found
        finally:
            cursor.close()  # again: one whose connection is lost while it closes stays open else

    def keys_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the visibility keys of memories."""
        wanted = set(ids)
        asked = "SELECT tier, hash, key FROM memory WHERE tenant = %s AND generation = %s AND hash = ANY(%s::bigint[])"
        held = self._all(asked, *self._own[:2], rows.hashes(wanted))
        found = {rows.id_of(tier, number): key for tier, number, key in held}
        return {one: found[one] for one in wanted if one in found}

    def readings(self, ids: Sequence[str]) -> dict[str, Reading]:
        """Return what was read from memories, asked under their own keys: those of a tenant may be a million."""
        told = Told()
        told._db, told._own = self._db, (*self._own[:2], list(set(self.keys_of(ids).values())))
        return told.readings(ids)

    def memories(self) -> Iterator[list[Prepared]]:
        """Yield every memory, in the order of the rows."""
        known = models.registered(self._db, self._tenant)
        last = -1
        while found := self._all(MEMORIES, *self._own[:2], last, PIECE):
            last = found[-1][0]
            used = sorted({term for row in found for term in row[3]})
            asked = "SELECT id, text FROM term WHERE tenant = %s AND id = ANY(%s::integer[])"
            words = dict(self._all(asked, self._tenant, used))
            vectors = self._of([row[0] for row in found], known)
            yield [
                Prepared(
                    rows.to_record(tuple(record)),
                    Terms({words[term]: times for term, times in zip(own, tfs, strict=True)}, length),
                    vectors.get(num, {}),
                    language,
                )
                for num, language, length, own, tfs, *record in found
            ]

    def altered(self) -> Iterator[tuple[int, list[Altered]]]:
        """Yield memories looked at, with those whose text has another hash; the server makes the hashes."""
        last = -1
        while found := self._all(ALTERED, *self._own[:2], last, PIECE):
            last = found[-1][0]
            yield (
                len(found),
                [
                    Altered(rows.id_of(tier, number), source, path)
                    for _, tier, number, source, path, digest, content in found
                    if content is not None and not _hashed(bytes(content), digest)
                ],
            )

    def _of(self, nums: list[int], known: dict[str, models.Registered]) -> dict[int, dict[str, Codes]]:
        """Return, by row, the windows of every model that memories have."""
        fingerprints = {one.number: (name, one.model.dimensions) for name, one in known.items()}
        found = self._all(
            "SELECT memory, model, array_agg(scale ORDER BY place), string_agg(data, '' ORDER BY place) FROM vector "
            "WHERE tenant = %s AND memory = ANY(%s::bigint[]) GROUP BY memory, model",
            self._tenant,
            nums,
        )
        held: dict[int, dict[str, Codes]] = {}
        for num, model, scales, data in found:
            name, width = fingerprints[model]
            held.setdefault(num, {})[name] = models.codes(scales, data, width)
        return held

    def connections(self) -> Iterator[list[Edge]]:
        """Yield every edge."""
        last: tuple[Any, ...] = (LEAST, "", LEAST, "")
        while found := self._all(EDGES, self._tenant, *last, PIECE):
            last = found[-1][:4]
            tiers = self._tiers(end for row in found for end in (row[0], row[2]))
            yield [
                to_edge((tiers[src], src, kind, of, dst, *rest))
                for src, kind, dst, *rest in found
                if src in tiers and (of := LEADS_TO.get(kind) or tiers.get(dst)) is not None
            ]

    def past(self) -> Iterator[list[Event]]:
        """Yield every event."""
        last = -1
        while found := self._all(EVENTS, self._tenant, last, PIECE):
            last = found[-1][0]
            tiers = self._tiers(end for row in found for end in (row[1], row[6]) if end is not None)
            yield [_event(row[1:], tiers) for row in found if row[1] in tiers]

    def _tiers(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the tiers of those of these numbers that are memories'."""
        return dict(self._all(TIERS, *self._own[:2], list(set(numbers))))

    def texts(self) -> Iterator[tuple[str, dict[str, Codes]]]:
        """Yield cached texts."""
        asked = (
            "SELECT m.fingerprint, m.dimensions, c.hash, c.scales, c.data FROM cache c "
            "JOIN model m ON m.tenant = c.tenant AND m.id = c.model WHERE c.tenant = %s ORDER BY c.seq"
        )
        for piece in self._each(asked, (self._tenant,)):
            for fingerprint, width, text, scales, data in piece:
                yield fingerprint, {text: models.codes(scales, data, width)}

    def tombstones(self) -> Iterator[list[str]]:
        """Yield tombstones."""
        for piece in self._each("SELECT hash FROM tombstone WHERE tenant = %s", (self._tenant,)):
            yield [mark for (mark,) in piece]

    def places(self) -> list[PutProject]:
        """Return projects by key and place."""
        asked = "SELECT place, name, key FROM project WHERE tenant = %s"
        found = [PutProject(*row) for row in self._all(asked, self._tenant)]
        return sorted(found, key=lambda one: (one.key, one.place))


def whole(reader: PostgresReader, tenant: str) -> PostgresWhole:
    """Return the view of everyone in the transaction of a reader."""
    return PostgresWhole(reader._db, tenant, find(reader._db, tenant))


def _hashed(content: bytes, digest: str) -> bool:
    """Return whether a text, as the server keeps it, has a hash: that was made before it was escaped."""
    try:
        return text_hash(unescaped(content.decode())) == digest
    except UnicodeDecodeError:
        return False


def _event(row: tuple[Any, ...], tiers: Mapping[int, str]) -> Event:
    number, op, at, key, run, other, count, before, actor = row
    named = rows.id_of(tiers[other], other) if other in tiers else None
    return Event(rows.id_of(tiers[number], number), op, at, key, run, named, count, before, actor)
