"""Rows: tenants, records and edges as rows of the tables, and the memory table that one scope sees.

Every statement names its tenant, and row-level security (`schema.M005`) limits a transaction to the tenant that it has
named in its settings. An edge's end is the number of its id, as in ``memory.hash``: it stays when the memory is
replaced, moved or rebuilt. The edge's kind tells whether its target is a concept, a category or a memory.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrubjay.errors import StoreVersionError
from scrubjay.models.graph import STORED_EDGE_KINDS, Edge
from scrubjay.models.ids import parse_id, parse_node_id
from scrubjay.models.records import (
    STATUSES,
    TIERS,
    Record,
    RecordFilter,
)
from scrubjay.storage.changes import PreparedMemory
from scrubjay.storage.postgres.connection import unescape_text
from scrubjay.storage.postgres.schema import newest_schema
from scrubjay.storage.rows import RECORD_COLUMNS, SIGN, Tenant, id_from_hash, record_from_row, record_to_row
from scrubjay.storage.scoring import MAX_TERM_COUNT, ArrayScores, dot_products, quantize, score_vectors
from scrubjay.storage.table import COLUMNS, STATUS_CODE, TIER_CODE, MemoryTable, path_matches

if TYPE_CHECKING:
    from scrubjay.storage.postgres.connection import Database


NAME_MARK: Final = "="
"""Stands before the name in the setting: a setting that is not there reads as an empty text, and so might a name."""
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
    # Nought would mean for ever.
    db.execute("SELECT set_config('lock_timeout', %s, true)", (f"{max(1, round(patience * 1000))}ms",))
    # The tenant's name, not its number: a tenant that is not there yet must be locked, too.
    db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (name,))
    found = find_tenant(db, name)
    if found is None:
        make_durable(
            db
        )  # whoever is told the secret makes ids of it: it must not be another one after a crash
        row = (name, secret or secrets.token_bytes(32))
        db.execute("INSERT INTO tenant (name, secret) VALUES (%s, %s)", row)
        found = _select_tenant(db, name)
    assert found is not None
    return found


def make_durable(db: Database) -> None:
    """Make the transaction's commit wait for the disk."""
    db.execute("SELECT set_config('synchronous_commit', 'on', true)")


def count_by_key(db: Database, tenant: Tenant) -> dict[str, int]:
    asked = "SELECT key, count(*) FROM memory WHERE tenant = %s AND generation = %s GROUP BY key"
    return dict(db.execute(asked, (tenant.number, tenant.generation)).fetchall())


def touch_tenant(db: Database, tenant: Tenant) -> int:
    """Give a tenant a new mark, and return it: snapshots of the old one are stale."""
    mark = secrets.randbits(63)
    db.execute("UPDATE tenant SET mark = %s WHERE id = %s", (mark, tenant.number))
    return mark


MAX_LENGTH: Final = 2**32 - 1
"""Source words that a memory counts at most, as in every store."""

MEMORY_COLUMNS: Final = ", ".join(
    ("tenant", "generation", *RECORD_COLUMNS, "language", "at", "length", "terms", "tfs")
)
INSERT_MEMORY: Final = (
    f"INSERT INTO memory ({MEMORY_COLUMNS}) VALUES ({', '.join(['%s'] * (MEMORY_COLUMNS.count(',') - 1))}, "
    "%s::integer[], %s::smallint[])"
)
FROM_MEMORY: Final = "FROM memory m LEFT JOIN document d ON d.tenant = m.tenant AND d.id = m.document"


def sort_hash(memory: str) -> int | None:
    parsed = parse_id(memory)
    return None if parsed is None else parsed[1] - SIGN


def tier_of(memory: str) -> str | None:
    parsed = parse_id(memory)
    return None if parsed is None else parsed[0]


def memory_hashes(ids: Iterable[str]) -> list[int]:
    return [number for memory in ids if (number := sort_hash(memory)) is not None]


def node_hash(node: str) -> int:
    ((number,),) = [[number] for number in node_hashes([node])]
    return number


def node_hashes(nodes: Iterable[str], of: str | None = None) -> list[int]:
    parsed = [found for node in nodes if (found := parse_node_id(node)) is not None]
    return [number - SIGN for kind, number in parsed if of in (None, kind)]


def memory_to_row(
    memory: PreparedMemory, tenant: int, generation: int, document: int | None, numbers: Mapping[str, int]
) -> tuple[Any, ...]:
    counts = memory.terms.counts
    record, event = memory.record, memory.record.event
    return (
        tenant,
        generation,
        *record_to_row(record, sort_hash(record.id), document, list),
        memory.language,
        event.start if event else record.recorded_at,
        min(memory.terms.length, MAX_LENGTH),
        array_literal([numbers[term] for term in counts]),
        array_literal([min(count, MAX_TERM_COUNT) for count in counts.values()]),
    )


def array_literal(numbers: Iterable[float]) -> str:
    """Return numbers as PostgreSQL writes an array: psycopg takes ten times as long to write out a list."""
    return f"{{{','.join(map(str, numbers))}}}"


def memory_from_row(row: Sequence[Any]) -> Record:
    return record_from_row(row, tuple)


VISIBLE_EDGES: Final = """
WITH looked AS MATERIALIZED (
    SELECT e.*,
        (SELECT m.tier FROM memory m WHERE m.tenant = %(tenant)s AND m.generation = %(generation)s
            AND m.hash = e.src AND m.key = ANY(%(keys)s)) AS src_of,
        CASE e.kind
        WHEN 'references' THEN CASE WHEN EXISTS (SELECT FROM concept c
            WHERE c.tenant = %(tenant)s AND c.key = ANY(%(keys)s) AND c.hash = e.dst) THEN 'concept' END
        WHEN 'belongs' THEN CASE WHEN EXISTS (SELECT FROM category c
            WHERE c.tenant = %(tenant)s AND c.key = ANY(%(keys)s) AND c.hash = e.dst) THEN 'category' END
        ELSE (SELECT m.tier FROM memory m WHERE m.tenant = %(tenant)s AND m.generation = %(generation)s
            AND m.hash = e.dst AND m.key = ANY(%(keys)s)) END AS dst_of
    FROM edge e WHERE e.tenant = %(tenant)s AND e.key = ANY(%(keys)s) AND {condition}
), seen AS (SELECT * FROM looked WHERE src_of IS NOT NULL AND dst_of IS NOT NULL)
"""
"""The visible rows of edges: by their own key, their source, and their end. Values: `scope_parameters`.

Each end is looked up by its number. As a join the server would plan it by what it has learned of the tables'
sizes, and a tenant that has just written its first thousand memories would wait minutes for fifty edges.
"""
EDGE_COLUMNS: Final = "src_of, src, kind, dst_of, dst, key, weight, at, origin, rule, run"
HAS_END: Final = "e.{near} = ANY(%(ends)s::bigint[])"
MERGED_EDGES: Final = f"""
{VISIBLE_EDGES.format(condition=HAS_END + " AND e.kind = ANY(%(kinds)s)")}
SELECT {EDGE_COLUMNS} FROM (
    SELECT *, row_number() OVER (
        PARTITION BY {{near}}, kind ORDER BY weight DESC, {{far}}_of COLLATE "C", {{far}}
    ) AS place FROM (
        SELECT DISTINCT ON (src, kind, dst) * FROM seen
        ORDER BY src, kind, dst, origin <> 'given', weight DESC, key COLLATE "C"
    ) united
) ranked WHERE %(limit)s::bigint IS NULL OR place <= %(limit)s ORDER BY place
"""


def scope_parameters(scope_keys: ScopeKeys, **values: Any) -> dict[str, Any]:
    tenant, generation, keys = scope_keys
    return {"tenant": tenant, "generation": generation, "keys": keys, **values}


def edge_from_row(row: tuple[Any, ...]) -> Edge:
    src_of, src, kind, dst_of, dst, *rest = row
    return Edge(id_from_hash(src_of, src), kind, id_from_hash(dst_of, dst), *rest)


def stored_edges(db: Database, scope_keys: ScopeKeys, near: str, ids: Collection[str]) -> list[Edge]:
    """Return the visible edges as stored, one a key, whose ``near`` end (``src`` or ``dst``) is one of these ids."""
    found = db.execute(
        f"{VISIBLE_EDGES.format(condition=HAS_END.format(near=near))} SELECT {EDGE_COLUMNS} FROM seen",
        scope_parameters(scope_keys, ends=node_hashes(ids)),
    ).fetchall()
    edges = map(edge_from_row, found)
    return [edge for edge in edges if (edge.src if near == "src" else edge.dst) in ids]


def merged_edges(
    db: Database,
    scope_keys: ScopeKeys,
    near: str,
    ids: Sequence[str],
    kinds: Sequence[str],
    limit: int | None,
) -> list[Edge]:
    """Return visible edges, one for what several keys say, by the id asked for, kind, falling weight, other end."""
    wanted = [kind for kind in STORED_EDGE_KINDS if kind in kinds]
    statement = MERGED_EDGES.format(near=near, far="dst" if near == "src" else "src")
    found = db.execute(
        statement, scope_parameters(scope_keys, ends=node_hashes(ids), kinds=wanted, limit=limit)
    ).fetchall()
    held: dict[tuple[str, str], list[Edge]] = {}
    for edge in map(edge_from_row, found):
        held.setdefault((edge.src if near == "src" else edge.dst, edge.kind), []).append(edge)
    return [edge for one in dict.fromkeys(ids) for kind in wanted for edge in held.get((one, kind), ())]


def visible_ids(db: Database, scope_keys: ScopeKeys, ids: Collection[str]) -> set[str]:
    found = db.execute(
        "SELECT tier, hash FROM memory WHERE tenant = %(tenant)s AND generation = %(generation)s "
        "AND key = ANY(%(keys)s) AND hash = ANY(%(ends)s::bigint[]) "
        "UNION SELECT 'concept', hash FROM concept WHERE tenant = %(tenant)s AND key = ANY(%(keys)s) "
        "AND hash = ANY(%(ends)s::bigint[]) "
        "UNION SELECT 'category', hash FROM category WHERE tenant = %(tenant)s AND key = ANY(%(keys)s) "
        "AND hash = ANY(%(ends)s::bigint[])",
        scope_parameters(scope_keys, ends=node_hashes(ids)),
    ).fetchall()
    return {id_from_hash(of, number) for of, number in found} & set(ids)


def category_members(db: Database, scope_keys: ScopeKeys, categories: Collection[str]) -> list[int]:
    condition = f"e.kind = 'belongs' AND {HAS_END.format(near='dst')}"
    found = db.execute(
        f"{VISIBLE_EDGES.format(condition=condition)} SELECT DISTINCT src FROM seen",
        scope_parameters(scope_keys, ends=node_hashes(categories, "category")),
    ).fetchall()
    return [number for (number,) in found]


IN_SCOPE = "m.tenant = %s AND m.generation = %s AND m.key = ANY(%s)"
"""What every statement about memories is bound to: tenant, generation, visibility keys."""

FETCH_ROWS: Final = 50_000
"""Memories whose vectors are asked for at once: a value of PostgreSQL's holds a gigabyte at most."""
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
PACKED_WINDOW: Final = np.dtype([("num", ">i8"), ("scale", ">f4")])

ScopeKeys = tuple[int, int, list[str]]
WindowVectors: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int8]]"
"""Vectors of a model, a row a window: rows of a table, ascending; scales; codes, shape (windows, dimensions)."""


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
    kept = old[~np.isin(old["num"], np.array(touched, np.int64))]
    new, languages = _read_columns(db, scope_keys, touched)
    everything = tuple(sorted({*before.languages, *languages}))
    columns = np.concatenate(
        [_recode_languages(kept, before.languages, everything), _recode_languages(new, languages, everything)]
    )
    columns = columns[np.argsort(columns["num"], kind="stable")]
    left = tuple(everything[code] for code in np.unique(columns["language"]).tolist())
    return _build_table(_recode_languages(columns, everything, left), left)


def _recode_languages(
    columns: NDArray[np.void], names: Sequence[str], among: Sequence[str]
) -> NDArray[np.void]:
    places = [among.index(name) if name in among else 0 for name in names]
    columns = columns.copy()
    if places:
        columns["language"] = np.array(places, np.uint8)[columns["language"]]
    return columns


def _build_table(columns: NDArray[np.void], languages: Sequence[str]) -> VisibleTable:
    lengths = columns["length"].astype(np.float64)
    length = int(columns["length"].sum(dtype=np.int64))
    average = length / len(columns) if length else 1.0
    seen = MemoryTable((), columns, np.ones(len(columns), np.bool_), lengths, len(columns), average, ())
    return VisibleTable(seen, tuple(languages))


def _read_columns(
    db: Database, scope_keys: ScopeKeys, only: Sequence[int] | None = None
) -> tuple[NDArray[np.void], tuple[str, ...]]:
    """Return the columns of the visible memories, or of ``only`` some, and their languages, sorted.

    The server concatenates the columns: a tenth of the time that a tuple a row takes.
    """
    some = "" if only is None else " AND m.num = ANY(%s::bigint[])"
    row = db.execute(
        "SELECT string_agg(int8send(m.num) || int8send(m.hash) || int8send(m.at) || int8send(m.length) || "
        "int4send(array_position(%s::text[], m.tier)) || "
        "int4send(coalesce(array_position(%s::text[], m.status), 0)) || int4send(hashtext(m.language)), "
        "'' ORDER BY m.num), array_agg(DISTINCT hashtext(m.language) || ' ' || m.language) "
        f"FROM memory m WHERE {IN_SCOPE}{some}",
        (list(TIERS), list(STATUSES), *scope_keys, *([] if only is None else [list(only)])),
        binary=True,
    ).fetchone()
    packed, languages = row if row is not None else (None, None)
    read = np.frombuffer(packed or b"", PACKED_COLUMNS)
    columns = np.zeros(len(read), COLUMNS)
    columns["key"] = read["hash"].astype(np.int64).view(np.uint64) ^ np.uint64(SIGN)
    for name in ("num", "at", "length"):
        columns[name] = read[name]
    columns["tier"] = read["tier"] - 1
    columns["status"] = read["status"] - 1  # one that is not known becomes 255, which no filter asks for
    columns["live"] = 1
    told = [text.partition(" ") for text in languages or ()]
    names = sorted(
        (unescape_text(name), int(number)) for number, _, name in told
    )  # binary texts come as they are
    for place, (_, number) in enumerate(names):
        columns["language"][read["language"] == number] = place
    return columns, tuple(name for name, _ in names)


def filter_mask(
    db: Database, scope_keys: ScopeKeys, table: MemoryTable, where: RecordFilter
) -> NDArray[np.bool_]:
    columns = table.columns
    mask = table.of_status(_name_codes(STATUS_CODE, where.statuses)).copy()
    if where.tiers:
        mask &= np.logical_or.reduce(
            [columns["tier"] == code for code in _name_codes(TIER_CODE, where.tiers)], initial=False
        )
    if where.since is not None:
        mask &= columns["at"] >= where.since
    if where.until is not None:
        mask &= columns["at"] < where.until
    conditions, values = _sql_conditions(where)
    if where.sources or where.path:
        conditions.append("m.document = ANY(%s::bigint[])")
        values.append(_matching_documents(db, scope_keys, where))
    if where.categories:
        conditions.append("m.hash = ANY(%s::bigint[])")
        values.append(category_members(db, scope_keys, where.categories))
    if conditions:
        found = db.execute(
            f"SELECT m.num FROM memory m WHERE {IN_SCOPE} AND {' AND '.join(conditions)}",
            (*scope_keys, *values),
        ).fetchall()
        mask &= np.isin(columns["num"], np.array([num for (num,) in found], np.int64))
    mask.flags.writeable = False
    return mask


def _name_codes(known: Mapping[str, int], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(known[name] for name in names if name in known)


def _sql_conditions(where: RecordFilter) -> tuple[list[str], list[Any]]:
    projects = [project for project in where.projects if project is not None]
    asked = [
        (condition, value)
        for condition, value, given in (
            ("m.tags @> %s::text[]", list(where.tags), bool(where.tags)),
            ("m.project = ANY(%s)", projects, bool(where.projects) and None not in where.projects),
            ("(m.project = ANY(%s) OR m.project IS NULL)", projects, None in where.projects),
            ("m.agent = ANY(%s)", list(where.agents), bool(where.agents)),
            ("m.session = ANY(%s)", list(where.sessions), bool(where.sessions)),
            ("m.session IS DISTINCT FROM %s", where.apart_from, where.apart_from is not None),
            ("m.pinned = %s", True, where.pinned),
        )
        if given
    ]
    return [condition for condition, _ in asked], [value for _, value in asked]


def _matching_documents(db: Database, scope_keys: ScopeKeys, where: RecordFilter) -> list[int]:
    found = db.execute(
        "SELECT id, source, path FROM document WHERE tenant = %s AND generation = %s", scope_keys[:2]
    ).fetchall()
    return [
        number
        for number, source, path in found
        if (not where.sources or source in where.sources)
        and (not where.path or path_matches(path, where.path))
    ]


def read_windows(
    db: Database,
    scope_keys: ScopeKeys,
    table: MemoryTable,
    model: int,
    dimensions: int,
    of: NDArray[np.int64] | None = None,
) -> WindowVectors:
    heads, codes = [], []
    nums = table.columns["num"]
    wanted = nums if of is None else nums[of]
    for first in range(0, len(wanted), FETCH_ROWS):
        # By their numbers, which the table has: as a join the server would plan it by what it has learned.
        row = db.execute(
            "SELECT string_agg(int8send(v.memory) || float4send(v.scale), '' ORDER BY v.memory, v.place), "
            "string_agg(v.data, '' ORDER BY v.memory, v.place) FROM vector v "
            "WHERE v.tenant = %s AND v.model = %s AND v.memory = ANY(%s::bigint[])",
            (scope_keys[0], model, wanted[first : first + FETCH_ROWS].tolist()),
            binary=True,
        ).fetchone()
        if row is not None and row[0] is not None:
            heads.append(row[0])
            codes.append(row[1])
    held = np.frombuffer(b"".join(heads), PACKED_WINDOW)
    data = np.frombuffer(b"".join(codes), np.int8).reshape(len(held), dimensions)
    rows = np.searchsorted(nums, held["num"].astype(np.int64))
    return rows, held["scale"].astype(np.float64), data


def score_windows(
    table: MemoryTable, windows: WindowVectors, query: NDArray[np.float32], mask: NDArray[np.bool_]
) -> ArrayScores:
    codes, scale = quantize(query)
    rows, scales, data = windows
    best = np.full(table.rows, -np.inf, np.float64)
    np.maximum.at(best, rows, dot_products(data, codes) * (scales * scale))
    return score_vectors(table, best, mask)
