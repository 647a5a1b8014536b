"""Sights: who may see an edge, and the other small numbers that edges are made of (see `m002`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from scrubjay.memory.edges import STORED, Edge
from scrubjay.memory.ids import DIGITS, parse_node
from scrubjay.memory.tiers import CATEGORY_PREFIX, CONCEPT_PREFIX
from scrubjay.store.sqlite import rows
from scrubjay.store.sqlite.pack import SIGN
from scrubjay.store.sqlite.seen import Seen, bound, marks
from scrubjay.store.table import TIER_CODE

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

KIND_CODE: Final = {kind: code for code, kind in enumerate(STORED)}
LEADS_TO: Final = {"references": "concept", "belongs": "category"}
"""What kinds lead to that do not lead to a memory."""
BETWEEN_MEMORIES: Final = ",".join(str(KIND_CODE[kind]) for kind in STORED if kind not in LEADS_TO)
"""Codes of the other kinds, as SQL."""
INWARD: Final = "INDEXED BY edge_inward"
"""The planner, which has no figures, would scan the table for what leads to one end."""
MILLION: Final = 1_000_000
WEIGHT: Final = "CASE typeof(e.weight) WHEN 'integer' THEN e.weight / 1000000.0 ELSE e.weight END"
FROM: Final = 1_893_456_000_000_000
"""2030 in UTC microseconds: what the times of edges are counted from."""
PREFIX: Final = {"concept": CONCEPT_PREFIX, "category": CATEGORY_PREFIX}


Name: TypeAlias = "tuple[str, str, int, str, int]"
"""An edge's key, its source's key and tier, its end's key and tier."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Who may see an edge.

    Attributes:
        code: Its number.
        key: The edge's own key.
        src_tier: Code of its source's tier.
        dst_tier: Code of its end's tier, -1 where the end is no memory.
    """

    code: int
    key: str
    src_tier: int
    dst_tier: int


def visible(db: Database, tenant: int, keys: Sequence[str]) -> list[Sight]:
    """Return the sights whose edge and memories the holder of these keys sees."""
    given, among = bound(keys), marks(keys)
    found = db.execute(
        f"SELECT id, key, src_tier, dst_tier FROM sight WHERE tenant = ? AND key IN ({among}) "
        f"AND src_key IN ({among}) AND (dst_key = '' OR dst_key IN ({among}))",
        (tenant, *given, *given, *given),
    ).fetchall()
    return [Sight(*row) for row in found]


def obtain(db: Database, tenant: int, name: Name) -> int:
    """Return the number of a sight, given now to one that is new. Call it inside a transaction."""
    found = db.execute(
        "SELECT id FROM sight WHERE tenant = ? AND key = ? AND src_key = ? AND src_tier = ? AND dst_key = ? "
        "AND dst_tier = ?",
        (tenant, *name),
    ).fetchone()
    if found is not None:
        return int(found[0])
    db.execute(
        "INSERT INTO sight (tenant, key, src_key, src_tier, dst_key, dst_tier) VALUES (?, ?, ?, ?, ?, ?)",
        (tenant, *name),
    )
    return db.last_insert_rowid()


def codes(sights: Iterable[Sight]) -> str:
    """Return the numbers of sights, as SQL."""
    return ",".join(str(sight.code) for sight in sights)


def known(kind: str, keys: Sequence[str], node: str = "e.dst") -> str:
    """Return the condition, as SQL with the keys as its values, that a concept or category is seen.

    Args:
        kind: ``concept`` or ``category``.
        keys: The visibility keys of who asks.
        node: SQL of its number; ``e.tenant`` is the tenant.
    """
    return f"EXISTS (SELECT 1 FROM {kind} c WHERE c.tenant = e.tenant AND c.key IN ({marks(keys)}) AND c.node = {node})"


def kept(edge: Edge) -> tuple[int | float, int]:
    """Return an edge's weight and time as they are kept."""
    millionths = round(edge.weight * MILLION)
    return (millionths if millionths / MILLION == edge.weight else edge.weight), edge.at - FROM


def parsed(node: str) -> tuple[str, int, int] | None:
    """Return what an id is of (``memory``, ``concept``, ``category``), its tier's code and its hash as kept."""
    found = parse_node(node)
    if found is None:
        return None
    if found[0] in PREFIX:
        return found[0], -1, found[1] - SIGN
    return "memory", TIER_CODE[found[0]], found[1] - SIGN


def hashes(of: str, ids: Iterable[str]) -> list[int]:
    """Return the hashes, as kept, of those of these ids that are of a ``memory``, ``concept`` or ``category``."""
    return by_kind(ids)[of]


def by_kind(ids: Iterable[str]) -> dict[str, list[int]]:
    """Return the hashes, as kept, of the memories, concepts and categories among these ids."""
    found: dict[str, list[int]] = {"memory": [], "concept": [], "category": []}
    for one in ids:
        node = parsed(one)
        if node is not None:
            found[node[0]].append(node[2])
    return found


def node_id(kind: str, number: int) -> str:
    """Return the id of a concept or a category from its hash as kept."""
    return f"{PREFIX[kind]}{number + SIGN:0{DIGITS}x}"


def nodes(seen: Seen, kind: str, hashes: Sequence[int]) -> dict[int, str]:
    """Return number to id of the visible concepts or categories of these hashes."""
    return _nodes(seen, kind, "e.tenant = ? AND e.kind = ? AND e.hash", hashes)


def named(seen: Seen, kind: str, numbers: Sequence[int]) -> dict[int, str]:
    """Return number to id of the visible ones of these concepts or categories."""
    # The plus keeps the planner from going through all of the tenant's instead.
    return _nodes(seen, kind, "+e.tenant = ? AND +e.kind = ? AND e.num", numbers)


def _nodes(seen: Seen, kind: str, condition: str, values: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for batch in rows.batches(values):
        held = seen.db.execute(
            f"SELECT e.num, e.hash FROM node e WHERE {condition} IN ({','.join('?' * len(batch))}) "
            f"AND {known(kind, seen.keys, 'e.num')}",
            (seen.tenant, kind, *batch, *seen.bound),
        ).fetchall()
        found |= {num: node_id(kind, number) for num, number in held}
    return found
