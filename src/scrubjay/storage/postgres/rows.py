"""Rows: tenants, records and edges as rows of the tables, and the memory table that one scope sees.

Every statement names its tenant, and row-level security (`schema.M005`) limits a transaction to the tenant that it has
named in its settings. An edge's end is the number of its id, as in ``memory.hash``: it stays when the memory is
replaced, moved or rebuilt. The edge's kind tells whether its target is a concept, a category or a memory.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.errors import StoreVersionError
from scrubjay.models.records import STATUSES, TIERS
from scrubjay.storage.changes import PreparedMemory
from scrubjay.storage.postgres.connection import postgres_sql, unescape_text
from scrubjay.storage.postgres.schema import newest_schema
from scrubjay.storage.rows import RECORD_COLUMNS, SIGN, VISIBLE, ScopeKeys, Tenant, memory_hash, record_to_row
from scrubjay.storage.scoring import MAX_TERM_COUNT
from scrubjay.storage.table import COLUMNS, MemoryTable

if TYPE_CHECKING:
    from scrubjay.storage.postgres.connection import Database


NAME_MARK: Final = "="
"""Precedes the name in the setting: a missing setting reads as an empty text, and a name may be empty."""
SET_TENANT_NAME: Final = (
    "SELECT set_config('scrubjay.tenant_name', %s, true), set_config('scrubjay.tenant', '', true), "
    "(SELECT max(id) FROM migration)"
)
FIND_TENANT: Final = (
    "SELECT id, secret, generation, mark, posted, set_config('scrubjay.tenant', id::text, true) FROM tenant "
    "WHERE name = %s"
)


def find_tenant(db: Database, name: str) -> Tenant | None:
    """Return a tenant, None before its first write, and limit the transaction to its rows.

    Raises:
        StoreVersionError: Another scrubjay has changed the schema since this one opened the store.
    """
    row = db.execute(SET_TENANT_NAME, (NAME_MARK + name,)).fetchone()
    if row is not None and row[2] != newest_schema():
        raise StoreVersionError(
            f"The database {db.info.dbname} has schema {row[2]} by now; this scrubjay knows {newest_schema()}. "
            "Nothing was written.",
            hint="restart it with the version that the others run: `pip install --upgrade scrubjay`",
        )
    return _select_tenant(db, name)


def _select_tenant(db: Database, name: str) -> Tenant | None:
    row = db.execute(FIND_TENANT, (name,)).fetchone()
    return None if row is None else Tenant(row[0], bytes(row[1]), row[2], row[3], row[4])


def lock_tenant(db: Database, name: str, secret: bytes | None, patience: float) -> Tenant:
    """Return a tenant, created if new, that nobody else writes to until the transaction ends."""
    # 0 would mean no limit.
    db.execute("SELECT set_config('lock_timeout', %s, true)", (f"{max(1, round(patience * 1000))}ms",))
    # By name, not number: a tenant that does not exist yet must be locked, too.
    db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (name,))
    tenant = find_tenant(db, name)
    if tenant is None:
        make_durable(db)  # ids are made with the secret: it must not be another one after a crash
        row = (name, secret or secrets.token_bytes(32))
        db.execute("INSERT INTO tenant (name, secret) VALUES (%s, %s)", row)
        tenant = _select_tenant(db, name)
    assert tenant is not None
    return tenant


def make_durable(db: Database) -> None:
    """Make the transaction's commit wait for the disk."""
    db.execute("SELECT set_config('synchronous_commit', 'on', true)")


def count_by_key(db: Database, tenant: Tenant) -> dict[str, int]:
    statement = "SELECT key, count(*) FROM memory WHERE tenant = %s AND generation = %s GROUP BY key"
    return dict(db.execute(statement, (tenant.number, tenant.generation)).fetchall())


def touch_tenant(db: Database, tenant: Tenant) -> int:
    """Give a tenant a new mark, and return it: snapshots of the old one are stale."""
    mark = secrets.randbits(63)
    db.execute("UPDATE tenant SET mark = %s WHERE id = %s", (mark, tenant.number))
    return mark


MAX_LENGTH: Final = 2**32 - 1
"""Maximum number of source words that a memory counts, as in every store."""

MEMORY_COLUMNS: Final = ", ".join(
    ("tenant", "generation", *RECORD_COLUMNS, "language", "at", "length", "terms", "tfs")
)
INSERT_MEMORY: Final = (
    f"INSERT INTO memory ({MEMORY_COLUMNS}) VALUES ({', '.join(['%s'] * (MEMORY_COLUMNS.count(',') - 1))}, "
    "%s::integer[], %s::smallint[])"
)


def memory_to_row(
    memory: PreparedMemory, tenant: int, generation: int, document: int | None, numbers: Mapping[str, int]
) -> tuple[Any, ...]:
    counts = memory.terms.counts
    record, event = memory.record, memory.record.event
    return (
        tenant,
        generation,
        *record_to_row(record, memory_hash(record.id), document, list),
        memory.language,
        event.start if event else record.recorded_at,
        min(memory.terms.length, MAX_LENGTH),
        array_literal([numbers[term] for term in counts]),
        array_literal([min(count, MAX_TERM_COUNT) for count in counts.values()]),
    )


def array_literal(numbers: Iterable[float]) -> str:
    """Return numbers as PostgreSQL writes an array: psycopg takes ten times as long to write out a list."""
    return f"{{{','.join(map(str, numbers))}}}"


IN_SCOPE: Final = postgres_sql(VISIBLE)
PACKED_COLUMNS: Final = np.dtype(
    [
        ("num", ">i8"),
        ("hash", ">i8"),
        ("at", ">i8"),
        ("length", ">i8"),
        ("tier", ">i4"),
        ("status", ">i4"),
        ("language", ">i4"),
    ]
)


class VisibleTable(NamedTuple):
    table: MemoryTable
    languages: tuple[str, ...]


def read_table(db: Database, scope_keys: ScopeKeys) -> VisibleTable:
    return _build_table(*_read_columns(db, scope_keys))


def refresh_table(
    db: Database, scope_keys: ScopeKeys, before: VisibleTable, touched: Sequence[int]
) -> VisibleTable:
    """Return the visible table again, reading only the memories touched since the last one."""
    old = before.table.columns
    unchanged = old[~np.isin(old["num"], np.array(touched, np.int64))]
    new, languages = _read_columns(db, scope_keys, touched)
    all_languages = tuple(sorted({*before.languages, *languages}))
    columns = np.concatenate(
        [
            _recode_languages(unchanged, before.languages, all_languages),
            _recode_languages(new, languages, all_languages),
        ]
    )
    columns = columns[np.argsort(columns["num"], kind="stable")]
    remaining = tuple(all_languages[code] for code in np.unique(columns["language"]).tolist())
    return _build_table(_recode_languages(columns, all_languages, remaining), remaining)


def _recode_languages(
    columns: NDArray[np.void], names: Sequence[str], targets: Sequence[str]
) -> NDArray[np.void]:
    codes = [targets.index(name) if name in targets else 0 for name in names]
    columns = columns.copy()
    if codes:
        columns["language"] = np.array(codes, np.uint8)[columns["language"]]
    return columns


def _build_table(columns: NDArray[np.void], languages: Sequence[str]) -> VisibleTable:
    lengths = columns["length"].astype(np.float64)
    length = int(columns["length"].sum(dtype=np.int64))
    average = length / len(columns) if length else 1.0
    table = MemoryTable((), columns, np.ones(len(columns), np.bool_), lengths, len(columns), average, ())
    return VisibleTable(table, tuple(languages))


def _read_columns(
    db: Database, scope_keys: ScopeKeys, only: Sequence[int] | None = None
) -> tuple[NDArray[np.void], tuple[str, ...]]:
    """Return the columns of the visible memories, or of ``only`` some, and their languages, sorted.

    The server concatenates the columns: a tenth of the time that a tuple a row takes.
    """
    condition = "" if only is None else " AND m.num = ANY(%s::bigint[])"
    row = db.execute(
        "SELECT string_agg(int8send(m.num) || int8send(m.hash) || int8send(m.at) || int8send(m.length) || "
        "int4send(array_position(%s::text[], m.tier)) || "
        "int4send(coalesce(array_position(%s::text[], m.status), 0)) || int4send(hashtext(m.language)), "
        "'' ORDER BY m.num), array_agg(DISTINCT hashtext(m.language) || ' ' || m.language) "
        f"FROM memory m WHERE {IN_SCOPE}{condition}",
        (list(TIERS), list(STATUSES), *scope_keys, *([] if only is None else [list(only)])),
        binary=True,
    ).fetchone()
    packed, languages = row if row is not None else (None, None)
    packed_rows = np.frombuffer(packed or b"", PACKED_COLUMNS)
    columns = np.zeros(len(packed_rows), COLUMNS)
    columns["key"] = packed_rows["hash"].astype(np.int64).view(np.uint64) ^ np.uint64(SIGN)
    for name in ("num", "at", "length"):
        columns[name] = packed_rows[name]
    columns["tier"] = packed_rows["tier"] - 1
    columns["status"] = packed_rows["status"] - 1  # an unknown one becomes 255, which no filter has
    columns["live"] = 1
    coded = [text.partition(" ") for text in languages or ()]
    # The text loader, which unescapes, does not see binary values.
    names = sorted((unescape_text(name), int(number)) for number, _, name in coded)
    for code, (_, number) in enumerate(names):
        columns["language"][packed_rows["language"] == number] = code
    return columns, tuple(name for name, _ in names)
