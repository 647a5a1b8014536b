"""Graph reads: concepts, categories, edges and chains that one scope sees."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from scrubjay.models.graph import STORED_EDGE_KINDS, Category, Edge, Entity, EntityRow
from scrubjay.models.ids import ID_DIGITS, parse_node_id
from scrubjay.models.records import CATEGORY_PREFIX, ENTITY_PREFIX, TIERS, Record
from scrubjay.storage.rows import SIGN, TARGET_KIND, id_from_hash
from scrubjay.storage.snapshot import Snapshot
from scrubjay.storage.sqlite import rows
from scrubjay.storage.sqlite.rows import VisibleMemories, bind_keys, keys_sql
from scrubjay.storage.table import TIER_CODE

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import Database


KIND_CODE: Final = {kind: code for code, kind in enumerate(STORED_EDGE_KINDS)}
BY_TARGET_INDEX: Final = "INDEXED BY edge_inward"
"""The planner, which has no statistics, would scan the table for the edges that lead to a node."""
MILLION: Final = 1_000_000
WEIGHT_SQL: Final = "CASE typeof(e.weight) WHEN 'integer' THEN e.weight / 1000000.0 ELSE e.weight END"
EPOCH_MICROS: Final = 1_893_456_000_000_000
"""2030 in UTC microseconds: the epoch of edge times."""
NODE_PREFIX: Final = {"concept": ENTITY_PREFIX, "category": CATEGORY_PREFIX}


VisibilityKeys: TypeAlias = "tuple[str, str, int, str, int]"
"""An edge's key, its source's key and tier, its target's key and tier."""


@dataclass(frozen=True, slots=True)
class EdgeVisibility:
    """One row of ``sight``: who may see an edge. ``dst_tier`` is -1 where its target is no memory."""

    code: int
    key: str
    src_tier: int
    dst_tier: int


def load_visibilities(db: Database, tenant: int, keys: Sequence[str]) -> list[EdgeVisibility]:
    """Return the sights whose edge and memories the holder of these keys sees."""
    bindings, among = bind_keys(keys), keys_sql(keys)
    found = db.execute(
        f"SELECT id, key, src_tier, dst_tier FROM sight WHERE tenant = ? AND key IN ({among}) "
        f"AND src_key IN ({among}) AND (dst_key = '' OR dst_key IN ({among}))",
        (tenant, *bindings, *bindings, *bindings),
    ).fetchall()
    return [EdgeVisibility(*row) for row in found]


def get_or_create_visibility(db: Database, tenant: int, name: VisibilityKeys) -> int:
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


def visibility_codes_sql(sights: Iterable[EdgeVisibility]) -> str:
    return ",".join(str(sight.code) for sight in sights)


def node_condition(kind: str, keys: Sequence[str], node: str = "e.dst") -> str:
    """Return the SQL condition, with the keys as its values, that a concept or category is visible."""
    condition = f"c.tenant = e.tenant AND c.key IN ({keys_sql(keys)}) AND c.node = {node}"
    return f"EXISTS (SELECT 1 FROM {kind} c WHERE {condition})"


def encode_weight_and_time(edge: Edge) -> tuple[int | float, int]:
    millionths = round(edge.weight * MILLION)
    return (millionths if millionths / MILLION == edge.weight else edge.weight), edge.at - EPOCH_MICROS


def parse_node_hash(node: str) -> tuple[str, int, int] | None:
    """Return the node's type (``memory``, ``concept``, ``category``), its tier's code and its hash as stored."""
    found = parse_node_id(node)
    if found is None:
        return None
    if found[0] in NODE_PREFIX:
        return found[0], -1, found[1] - SIGN
    return "memory", TIER_CODE[found[0]], found[1] - SIGN


def node_hashes(of: str, ids: Iterable[str]) -> list[int]:
    return hashes_by_kind(ids)[of]


def hashes_by_kind(ids: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {"memory": [], "concept": [], "category": []}
    for one in ids:
        node = parse_node_hash(one)
        if node is not None:
            found[node[0]].append(node[2])
    return found


def visible_nodes(visible: VisibleMemories, kind: str, hashes: Sequence[int]) -> dict[int, str]:
    return _select_nodes(visible, kind, "e.tenant = ? AND e.kind = ? AND e.hash", hashes)


def nodes_by_number(visible: VisibleMemories, kind: str, numbers: Sequence[int]) -> dict[int, str]:
    # The plus keeps the planner from scanning all of the tenant's nodes.
    return _select_nodes(visible, kind, "+e.tenant = ? AND +e.kind = ? AND e.num", numbers)


def _select_nodes(
    visible: VisibleMemories, kind: str, condition: str, values: Sequence[int]
) -> dict[int, str]:
    found: dict[int, str] = {}
    for batch in rows.id_batches(values):
        read = visible.db.execute(
            f"SELECT e.num, e.hash FROM node e WHERE {condition} IN ({rows.placeholders(batch)}) "
            f"AND {node_condition(kind, visible.keys, 'e.num')}",
            (visible.tenant, kind, *batch, *visible.bound),
        ).fetchall()
        found |= {num: id_from_hash(kind, number) for num, number in read}
    return found


TIME_SQL: Final = "coalesce({0}.event_start, {0}.recorded_at)"
CHAIN_COLUMNS: Final = "{0}.tier, {0}.hash, {0}.key, " + TIME_SQL
SAME_SESSION: Final = "n.session = m.session AND n.turn = m.turn + {0}"
SAME_DOCUMENT: Final = (
    "n.document = m.document AND n.ordinal = m.ordinal + {0} AND m.session IS NULL AND n.session IS NULL"
)
IS_HEAD: Final = (
    "project IS NOT NULL AND ((session IS NOT NULL AND turn = 0) OR "
    "(session IS NULL AND turn IS NULL AND coalesce(ordinal, 0) = 0))"
)
"""Whether a memory is a head of its project, in the exact words of the index `memory_head`."""


def _chain_edges(rule: str, pairs: Sequence[Any], step: int, wanted: set[str]) -> Iterator[Edge]:
    """Yield the edges of pairs of a wanted memory and the one that is ``step`` from it."""
    for *one, tier, number, key, at in pairs:
        memory, other = id_from_hash(one[0], one[1]), id_from_hash(tier, number)
        if memory not in wanted:
            continue
        if step < 0:
            yield Edge(memory, "follows", other, one[2], at=at, rule=rule)
        else:
            yield Edge(other, "follows", memory, key, at=one[3], rule=rule)


CATEGORY_COLUMNS = (
    "c.key, c.kind, c.name, c.parent, c.abstract, c.overview, c.model, c.centroid, c.at, c.built"
)

NO_ALIASES: Final = "[]"
CONCEPT_ID_SQL: Final = (
    f"printf('{NODE_PREFIX['concept']}%0{ID_DIGITS}x', (n.hash | {-SIGN}) - (n.hash & {-SIGN}))"
)
"""The id of a concept, as `id_from_hash` makes it: its hash less the sign's bit, in two's complement."""

EDGE_RANK_SQL = (
    f"row_number() OVER (PARTITION BY e.src, e.dst ORDER BY k.origin DESC, {WEIGHT_SQL} DESC, s.key)"
)
"""Of several keys' edges of one source and target the first is shown: given, heaviest, of the smaller key."""


class SQLiteGraph:
    def __init__(self, visible: VisibleMemories, snapshot: Snapshot) -> None:
        self.visible = visible
        self._snapshot = snapshot
        self._db, self._tenant, self._keys = visible.db, visible.tenant, visible.keys
        self._bound, self._marks = visible.bound, visible.marks

    def _sights(self) -> list[EdgeVisibility]:
        return self._snapshot.cached("sights", lambda: load_visibilities(self._db, self._tenant, self._keys))

    def concepts(self, ids: Sequence[str] | None = None) -> list[Entity]:
        if ids is None:
            return self._concepts("concept c JOIN node n ON n.num = c.node WHERE", ())
        wanted = sorted(set(node_hashes("concept", ids)))
        source = "node n CROSS JOIN concept c ON c.node = n.num WHERE n.tenant = ? AND n.kind = 'concept' AND"
        found: list[Entity] = []
        for batch in rows.id_batches(wanted):
            found += self._concepts(
                f"{source} n.hash IN ({rows.placeholders(batch)}) AND", (self._tenant, *batch)
            )
        return found

    def _concepts(self, source: str, values: Sequence[object]) -> list[Entity]:
        found = self._db.execute(
            f"SELECT n.hash, c.key, c.name, c.aliases, c.kind, c.at FROM {source} c.tenant = ? "
            f"AND c.key IN ({self._marks}) ORDER BY n.hash, c.key",
            (*values, self._tenant, *self._bound),
        ).fetchall()
        return [
            Entity(
                id_from_hash("concept", number),
                key,
                name,
                () if aliases == NO_ALIASES else tuple(json.loads(aliases)),
                kind,
                at,
            )
            for number, key, name, aliases, kind, at in found
        ]

    def concept_rows(self) -> list[EntityRow]:
        found = self._db.execute(
            f"SELECT {CONCEPT_ID_SQL}, c.key, c.name, nullif(c.aliases, '{NO_ALIASES}'), c.kind, c.at "
            "FROM concept c JOIN node n ON n.num = c.node "
            f"WHERE c.tenant = ? AND c.key IN ({self._marks})",
            (self._tenant, *self._bound),
        ).fetchall()
        return [row if row[3] is None else (*row[:3], tuple(json.loads(row[3])), *row[4:]) for row in found]

    def concept_mark(self) -> int:
        (found,) = self._db.execute(
            f"SELECT coalesce(sum(changes), 0) FROM concept_mark WHERE tenant = ? AND key IN ({self._marks})",
            (self._tenant, *self._bound),
        ).fetchone()
        return int(found)

    def categories(self) -> list[Category]:
        found = self._db.execute(
            f"SELECT n.hash, {CATEGORY_COLUMNS} FROM category c JOIN node n ON n.num = c.node WHERE c.tenant = ? "
            f"AND c.key IN ({self._marks}) ORDER BY n.hash",
            (self._tenant, *self._bound),
        ).fetchall()
        return [Category(id_from_hash("category", number), *rest) for number, *rest in found]

    def projects(self) -> dict[str, str]:
        found = self._db.execute(
            f"SELECT place, name FROM project WHERE tenant = ? AND key IN ({self._marks}) ORDER BY key DESC",
            (self._tenant, *self._bound),
        ).fetchall()
        return dict(sorted(dict(found).items()))

    def edges(
        self,
        ids: Sequence[str],
        kinds: Sequence[str],
        *,
        inward: bool = False,
        limit: int | None = None,
        rule: str | None = None,
    ) -> list[Edge]:
        wanted = tuple(kind for kind in sorted(set(kinds)) if kind in KIND_CODE)
        if rule is not None and not self._has_made(rule):
            return []
        read = partial(self._read, kinds=wanted, inward=inward, limit=limit, rule=rule)
        return self._snapshot.edges_of(ids, (inward, wanted, limit, rule), read)

    def _read(
        self, ids: list[str], kinds: Sequence[str], *, inward: bool, limit: int | None, rule: str | None
    ) -> dict[str, tuple[Edge, ...]]:
        """Return the edges of each id, also where there are none, so that a miss is cached."""
        read = self._inward if inward else self._outward
        # Few edges leave a memory, so those of many are read at once and cut here; all may lead to one concept.
        singly = inward and limit is not None
        nodes = {one: node for one in ids if (node := parse_node_hash(one))}
        by_kind: dict[tuple[tuple[str, int, int], str], list[Edge]] = defaultdict(list)
        stored = [kind for kind in kinds if self._has_edges(kind)]
        for of, tier in dict.fromkeys(node[:2] for node in nodes.values()):
            numbers = [node[2] for node in nodes.values() if node[:2] == (of, tier)]
            for kind in stored:
                for batch in rows.id_batches(numbers) if not singly else ([number] for number in numbers):
                    for number, edge in read(of, tier, batch, kind, limit if singly else None, rule):
                        by_kind[(of, tier, number), kind].append(edge)
        found: dict[str, tuple[Edge, ...]] = dict.fromkeys(ids, ())
        for one, node in nodes.items():
            found[one] = tuple(edge for kind in kinds for edge in by_kind.get((node, kind), ())[:limit])
        return found

    def _has_edges(self, kind: str) -> bool:
        condition = f"edge e {BY_TARGET_INDEX} WHERE e.tenant = ? AND e.kind = ?"
        return self._exists(("edges", kind), condition, KIND_CODE[kind])

    def _has_made(self, rule: str) -> bool:
        return self._exists(("made", rule), "maker WHERE tenant = ? AND rule = ?", rule)

    def _any(self, kind: str) -> bool:
        condition = f"{kind} WHERE tenant = ? AND key IN ({self._marks})"
        return self._exists(("any", kind), condition, *self._bound)

    def _exists(self, name: tuple[str, str], condition: str, *values: object) -> bool:
        statement = f"SELECT 1 FROM {condition} LIMIT 1"
        return self._snapshot.cached(
            name, lambda: self._db.execute(statement, (self._tenant, *values)).fetchone() is not None
        )

    def _outward(
        self, of: str, tier: int, numbers: Sequence[int], kind: str, limit: int | None, rule: str | None
    ) -> Iterator[tuple[int, Edge]]:
        sights = [sight for sight in self._sights() if sight.src_tier == tier]
        to = TARGET_KIND.get(kind)
        if of != "memory" or not sights or (to is not None and not self._any(to)):
            return
        condition = f"e.src IN ({rows.placeholders(numbers)}) AND e.kind = ?"
        values: tuple[object, ...] = (*numbers, KIND_CODE[kind])
        edges, end, order = "edge e", "e.dst", "s.dst_tier, e.dst"
        if to is not None:
            edges, end, order = "edge e CROSS JOIN node n ON n.num = e.dst", "n.hash", "n.hash"
            condition, values = f"{condition} AND {node_condition(to, self._keys)}", (*values, *self._bound)
        for row in self._rows(sights, edges, condition, values, end, order, limit, rule):
            yield row[1], _edge_from_row(kind, row[0], row[1:])

    def _inward(
        self, of: str, tier: int, numbers: Sequence[int], kind: str, limit: int | None, rule: str | None
    ) -> Iterator[tuple[int, Edge]]:
        sights = [sight for sight in self._sights() if sight.dst_tier == tier]
        if of != TARGET_KIND.get(kind, "memory") or not sights:
            return
        hashes = {number: number for number in numbers}
        if of != "memory":
            ends = visible_nodes(self.visible, of, numbers).items()
            hashes = {num: node[2] for num, one in ends if (node := parse_node_hash(one))}
        if not hashes:
            return
        condition, values = (
            f"e.kind = ? AND e.dst IN ({rows.placeholders(list(hashes))})",
            (KIND_CODE[kind], *hashes),
        )
        edges, order = f"edge e {BY_TARGET_INDEX}", "s.src_tier, e.src"
        for row in self._rows(sights, edges, condition, values, "e.dst", order, limit, rule):
            number = hashes[row[0]]
            yield number, _edge_from_row(kind, number, row[1:])

    def _rows(
        self,
        sights: Sequence[EdgeVisibility],
        edges: str,
        condition: str,
        values: Sequence[object],
        end: str,
        order: str,
        limit: int | None,
        rule: str | None,
    ) -> list[Any]:
        several = len({sight.key for sight in sights}) > 1
        chosen = first = ""
        if rule is not None:  # which of several keys' edges is shown does not depend on the rule asked for
            chosen, first = ("", "k.rule IS NOT ?, ") if several else ("AND k.rule = ? ", "")
        found = self._db.execute(
            f"SELECT {EDGE_RANK_SQL if several else 1} AS place, {end}, e.src, s.src_tier, s.dst_tier, s.key, "
            f"{WEIGHT_SQL} AS weight, e.at, k.origin, k.rule, k.run FROM {edges} "
            "CROSS JOIN sight s ON s.id = e.sight CROSS JOIN maker k ON k.id = e.maker "
            f"WHERE e.tenant = ? AND e.sight IN ({visibility_codes_sql(sights)}) AND {condition} {chosen}"
            f"ORDER BY place, {first}weight DESC, {order} LIMIT ?",
            (self._tenant, *values, *(() if rule is None else (rule,)), -1 if limit is None else limit),
        ).fetchall()
        return [row[1:] for row in found if row[0] == 1 and rule in (None, row[-2])]

    def degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        if kind not in KIND_CODE or not self._sights():
            return {}
        of = TARGET_KIND.get(kind, "memory")
        if ids is None:
            return self._by_id(of, self._counted(kind, "", ()))
        hashes = node_hashes(of, ids)
        ends = hashes if of == "memory" else list(visible_nodes(self.visible, of, hashes))
        found: list[tuple[int, int, int]] = []
        for batch in rows.id_batches(ends):
            found += self._counted(kind, f"AND e.dst IN ({rows.placeholders(batch)})", batch)
        wanted = set(ids)
        return {one: count for one, count in self._by_id(of, found).items() if one in wanted}

    def _counted(self, kind: str, condition: str, values: Sequence[int]) -> list[tuple[int, int, int]]:
        sights = self._sights()
        # Several keys' edges of one source and target count once.
        counted = "count(DISTINCT e.src)" if len({sight.key for sight in sights}) > 1 else "count(*)"
        return self._db.execute(
            f"SELECT e.dst, max(e.sight), {counted} FROM edge e WHERE e.tenant = ? AND e.kind = ? {condition} "
            f"AND e.sight IN ({visibility_codes_sql(sights)}) GROUP BY e.dst",
            (self._tenant, KIND_CODE[kind], *values),
        ).fetchall()

    def _by_id(self, of: str, counted: Sequence[tuple[int, int, int]]) -> dict[str, int]:
        if of == "memory":
            tiers = {sight.code: TIERS[sight.dst_tier] for sight in self._sights()}
            return {id_from_hash(tiers[sight], end): count for end, sight, count in counted}
        names = nodes_by_number(self.visible, of, [end for end, _, _ in counted])
        return {names[end]: count for end, _, count in counted if end in names}

    def cooccurrences(self, concept: str, limit: int) -> tuple[dict[str, int], int]:
        own = visible_nodes(self.visible, "concept", node_hashes("concept", [concept]))
        if not own:
            return {}, 0
        (end,) = own
        sights, kind = visibility_codes_sql(self._sights()), KIND_CODE["references"]
        memories = self._db.execute(
            "SELECT DISTINCT e.src FROM edge e WHERE e.tenant = ? AND e.kind = ? AND e.dst = ? "
            f"AND e.sight IN ({sights}) ORDER BY e.src DESC LIMIT ?",
            (self._tenant, kind, end, limit),
        ).fetchall()
        counts: dict[int, int] = {}
        for (src,) in memories:
            for (other,) in self._db.execute(
                "SELECT DISTINCT e.dst FROM edge e WHERE e.tenant = ? AND e.src = ? AND e.kind = ? "
                f"AND e.sight IN ({sights})",
                (self._tenant, src, kind),
            ).fetchall():
                counts[other] = counts.get(other, 0) + 1
        counts.pop(end, None)
        names = nodes_by_number(self.visible, "concept", list(counts))
        return {names[other]: count for other, count in counts.items() if other in names}, len(memories)

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        wanted = {memory for memory in ids if rows.is_memory_id(memory)}
        found: dict[tuple[str, str, str], Edge] = {}
        for batch in rows.id_batches(sorted(wanted)):
            hashes = [rows.sort_hash(memory) for memory in batch]
            edges = list(self._project_edges(hashes, wanted))
            for rule, near in (("session", SAME_SESSION), ("document", SAME_DOCUMENT)):
                for step in (-1, 1):
                    pairs = self._db.execute(
                        f"SELECT {CHAIN_COLUMNS.format('m')}, {CHAIN_COLUMNS.format('n')} FROM memory m "
                        f"CROSS JOIN memory n ON {near.format(step)} WHERE {self.visible.among()} "
                        f"AND {self.visible.among('n')} AND m.hash IN ({rows.placeholders(hashes)})",
                        (*self.visible.own, *self.visible.own, *hashes),
                    ).fetchall()
                    edges += _chain_edges(rule, pairs, step, wanted)
            found |= {(edge.rule, edge.src, edge.dst): edge for edge in edges}
        return [found[name] for name in sorted(found)]

    def _project_edges(self, hashes: Sequence[int], wanted: set[str]) -> Iterator[Edge]:
        heads = self._db.execute(
            f"SELECT m.project, {CHAIN_COLUMNS.format('m')} FROM memory m INDEXED BY memory_hash "
            f"WHERE {self.visible.among()} AND m.hash IN ({rows.placeholders(hashes)}) AND {IS_HEAD}",
            (*self.visible.own, *hashes),
        ).fetchall()
        time = TIME_SQL.format("m")
        for project, *head in heads:
            for step, (sign, order) in ((-1, ("<", "DESC")), (1, (">", "ASC"))):
                near = self._db.execute(
                    f"SELECT {CHAIN_COLUMNS.format('m')} FROM memory m WHERE {self.visible.among()} AND "
                    f"project = ? AND {IS_HEAD} AND {time} {sign}= ? AND ({time}, m.tier, m.hash) {sign} (?, ?, ?) "
                    f"ORDER BY {time} {order}, m.tier {order}, m.hash {order} LIMIT 1",
                    (*self.visible.own, project, head[3], head[3], head[0], head[1]),
                ).fetchone()
                if near is not None:
                    yield from _chain_edges("project", [(*head, *near)], step, wanted)

    def _read_adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for batch in rows.id_batches([memory for memory in ids if rows.is_memory_id(memory)]):
            pairs = self._db.execute(
                "SELECT m.tier, m.hash, n.tier, n.hash FROM memory m JOIN memory n ON n.session = m.session "
                f"AND n.turn BETWEEN m.turn - 1 AND m.turn + 1 AND n.turn <> m.turn WHERE {self.visible.among()} "
                f"AND {self.visible.among('n')} AND m.hash IN ({rows.placeholders(batch)}) "
                "ORDER BY m.hash, n.turn, n.tier, n.hash",
                (*self.visible.own, *self.visible.own, *map(rows.sort_hash, batch)),
            ).fetchall()
            for tier, number, other_tier, other in pairs:
                memory = id_from_hash(tier, number)
                found[memory] = (*found.get(memory, ()), id_from_hash(other_tier, other))
        return {memory: found[memory] for memory in ids if memory in found}

    def turns(self, session: str, first: int, last: int) -> list[Record]:
        return self.visible.records(
            "m.session = ? AND m.turn BETWEEN ? AND ?",
            (session, first, last),
            "ORDER BY m.turn, coalesce(m.ordinal, -1), m.tier, m.hash",
        )

    def last_turn(self, session: str) -> int | None:
        row = self._db.execute(
            f"SELECT m.turn FROM memory m WHERE {self.visible.among()} AND m.session = ? AND m.turn IS NOT NULL "
            "ORDER BY m.turn DESC LIMIT 1",
            (*self.visible.own, session),
        ).fetchone()
        return None if row is None else int(row[0])

    def sessions(self, limit: int, skip: int = 0) -> list[str]:
        found = self._db.execute(
            f"SELECT m.session FROM memory m WHERE {self.visible.among()} AND m.session IS NOT NULL "
            f"AND m.turn IS NOT NULL GROUP BY m.session ORDER BY max({TIME_SQL.format('m')}) DESC, m.session "
            "LIMIT ? OFFSET ?",
            (*self.visible.own, limit, skip),
        ).fetchall()
        return [str(session) for (session,) in found]

    def _members(self, categories: Sequence[str]) -> list[int]:
        found: set[int] = set()
        for end in visible_nodes(self.visible, "category", node_hashes("category", categories)):
            found |= {
                src + SIGN
                for (src,) in self._db.execute(
                    f"SELECT e.src FROM edge e WHERE e.tenant = ? AND e.kind = {KIND_CODE['belongs']} "
                    f"AND e.dst = ? AND e.sight IN ({visibility_codes_sql(self._sights())})",
                    (self._tenant, end),
                ).fetchall()
            }
        return sorted(found)


def _edge_from_row(kind: str, dst: int, row: tuple[Any, ...]) -> Edge:
    src, src_tier, dst_tier, key, weight, at, *origin = row
    to = TARGET_KIND.get(kind)
    end = id_from_hash(TIERS[dst_tier] if to is None else to, dst)
    return Edge(id_from_hash(TIERS[src_tier], src), kind, end, key, weight, at + EPOCH_MICROS, *origin)
