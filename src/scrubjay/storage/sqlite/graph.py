"""Graph reads: concepts, categories, edges and chains that one scope sees."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from scrubjay.frozen import frozen
from scrubjay.models.graph import STORED_EDGE_KINDS, Category, Edge, Entity, EntityRow
from scrubjay.models.ids import ID_DIGITS, parse_node_id
from scrubjay.models.records import CATEGORY_PREFIX, ENTITY_PREFIX, TIERS
from scrubjay.storage.reader import TIME, SQLReader
from scrubjay.storage.rows import (
    SIGN,
    TARGET_KIND,
    VISIBLE,
    ScopeKeys,
    id_from_hash,
    memory_hashes,
    node_hash,
    node_hashes,
)
from scrubjay.storage.sqlite.connection import SQLiteStatements, select
from scrubjay.storage.sqlite.rows import decode_strings
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


@frozen
class EdgeVisibility:
    """One row of ``sight``: who may see an edge. ``dst_tier`` is -1 where its target is no memory."""

    code: int
    key: str
    src_tier: int
    dst_tier: int


def load_visibilities(db: Database, tenant: int, keys: list[str]) -> list[EdgeVisibility]:
    """Return the visibilities whose edge and memories the holder of these keys sees."""
    rows = select(
        db,
        "SELECT id, key, src_tier, dst_tier FROM sight WHERE tenant = ? AND key IN ? AND src_key IN ? "
        "AND (dst_key = '' OR dst_key IN ?)",
        tenant, keys, keys, keys,
    )  # fmt: skip
    return [EdgeVisibility(*row) for row in rows]


def get_or_create_visibility(db: Database, tenant: int, name: VisibilityKeys) -> int:
    rows = select(
        db,
        "SELECT id FROM sight WHERE tenant = ? AND key = ? AND src_key = ? AND src_tier = ? AND dst_key = ? "
        "AND dst_tier = ?",
        tenant, *name,
    )  # fmt: skip
    if rows:
        return int(rows[0][0])
    db.execute(
        "INSERT INTO sight (tenant, key, src_key, src_tier, dst_key, dst_tier) VALUES (?, ?, ?, ?, ?, ?)",
        (tenant, *name),
    )
    return db.last_insert_rowid()


def visibility_codes_sql(visibilities: Iterable[EdgeVisibility]) -> str:
    return ",".join(str(visibility.code) for visibility in visibilities)


def node_condition(kind: str, node: str = "e.dst") -> str:
    """Return the SQL condition, with the keys as its value, that a concept or category is visible."""
    return f"EXISTS (SELECT 1 FROM {kind} c WHERE c.tenant = e.tenant AND c.key IN ? AND c.node = {node})"


def encode_weight_and_time(edge: Edge) -> tuple[int | float, int]:
    millionths = round(edge.weight * MILLION)
    return (millionths if millionths / MILLION == edge.weight else edge.weight), edge.at - EPOCH_MICROS


def parse_node_hash(node: str) -> tuple[str, int, int] | None:
    """Return the node's type (``memory``, ``concept``, ``category``), its tier's code and its hash as stored."""
    parsed = parse_node_id(node)
    if parsed is None:
        return None
    if parsed[0] in NODE_PREFIX:
        return parsed[0], -1, parsed[1] - SIGN
    return "memory", TIER_CODE[parsed[0]], parsed[1] - SIGN


def visible_nodes(
    db: Database, scope_keys: ScopeKeys, kind: str, nodes: Sequence[int], column: str = "e.hash"
) -> dict[int, str]:
    """Return number and id of the visible concepts or categories among these, given by their hashes or numbers."""
    # By number, the plus keeps the planner from scanning all of the tenant's nodes.
    condition = f"e.tenant = ? AND e.kind = ? AND {column}"
    if column == "e.num":
        condition = f"+e.tenant = ? AND +e.kind = ? AND {column}"
    tenant, _, keys = scope_keys
    rows = select(
        db,
        f"SELECT e.num, e.hash FROM node e WHERE {condition} IN ? AND {node_condition(kind, 'e.num')}",
        tenant, kind, list(nodes), keys,
    )  # fmt: skip
    return {num: id_from_hash(kind, number) for num, number in rows}


CHAIN_COLUMNS: Final = f"m.tier, m.hash, m.key, {TIME}"
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
    for *memory_row, tier, number, key, at in pairs:
        memory, other = id_from_hash(memory_row[0], memory_row[1]), id_from_hash(tier, number)
        if memory not in wanted:
            continue
        if step < 0:
            yield Edge(memory, "follows", other, memory_row[2], at=at, rule=rule)
        else:
            yield Edge(other, "follows", memory, key, at=memory_row[3], rule=rule)


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


class SQLiteGraph(SQLiteStatements, SQLReader):
    _decode = staticmethod(decode_strings)
    _reading_condition = "r.num = m.num"
    _events_of_memories = "event e INDEXED BY event_memory"

    def _visibilities(self) -> list[EdgeVisibility]:
        return self._snapshot.cached(
            "visibilities", lambda: load_visibilities(self._db, self._tenant, self._keys)
        )

    def _nodes(self, kind: str, nodes: Sequence[int], column: str = "e.hash") -> dict[int, str]:
        return visible_nodes(self._db, self._scope_keys, kind, nodes, column)

    def concepts(self, ids: Sequence[str] | None = None) -> list[Entity]:
        source, values = "concept c JOIN node n ON n.num = c.node WHERE", list[object]()
        if ids is not None:
            source = (
                "node n CROSS JOIN concept c ON c.node = n.num WHERE n.tenant = ? AND n.kind = 'concept' "
                "AND n.hash IN ? AND"
            )
            values = [self._tenant, node_hashes(ids, "concept")]
        rows = self._all(
            f"SELECT n.hash, c.key, c.name, c.aliases, c.kind, c.at FROM {source} c.tenant = ? AND c.key IN ? "
            "ORDER BY n.hash, c.key",
            *values, self._tenant, self._keys,
        )  # fmt: skip
        return [
            Entity(
                id_from_hash("concept", number),
                key,
                name,
                () if aliases == NO_ALIASES else tuple(json.loads(aliases)),
                kind,
                at,
            )
            for number, key, name, aliases, kind, at in rows
        ]

    def concept_rows(self) -> list[EntityRow]:
        rows = self._all(
            f"SELECT {CONCEPT_ID_SQL}, c.key, c.name, nullif(c.aliases, '{NO_ALIASES}'), c.kind, c.at "
            "FROM concept c JOIN node n ON n.num = c.node WHERE c.tenant = ? AND c.key IN ?",
            self._tenant, self._keys,
        )  # fmt: skip
        return [row if row[3] is None else (*row[:3], tuple(json.loads(row[3])), *row[4:]) for row in rows]

    def categories(self) -> list[Category]:
        rows = self._all(
            f"SELECT n.hash, {CATEGORY_COLUMNS} FROM category c JOIN node n ON n.num = c.node WHERE c.tenant = ? "
            "AND c.key IN ? ORDER BY n.hash",
            self._tenant, self._keys,
        )  # fmt: skip
        return [Category(id_from_hash("category", number), *rest) for number, *rest in rows]

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
        if rule is not None and not self._has_edges_of_rule(rule):
            return []
        read = partial(self._read, kinds=wanted, inward=inward, limit=limit, rule=rule)
        return self._snapshot.edges_of(ids, (inward, wanted, limit, rule), read)

    def _read(
        self, ids: list[str], kinds: Sequence[str], *, inward: bool, limit: int | None, rule: str | None
    ) -> dict[str, tuple[Edge, ...]]:
        """Return the edges of each id, also where there are none, so that a miss is cached."""
        read = self._inward if inward else self._outward
        # Few edges leave a memory, so those of many are read at once and cut here; all may lead to one concept.
        batch_limit = limit if inward else None
        nodes = {node_id: node for node_id in ids if (node := parse_node_hash(node_id))}
        by_kind: dict[tuple[tuple[str, int, int], str], list[Edge]] = defaultdict(list)
        stored = [kind for kind in kinds if self._has_edges(kind)]
        for node_type, tier in dict.fromkeys(node[:2] for node in nodes.values()):
            numbers = [node[2] for node in nodes.values() if node[:2] == (node_type, tier)]
            for kind in stored:
                for batch in [numbers] if batch_limit is None else [[number] for number in numbers]:
                    for number, edge in read(node_type, tier, batch, kind, batch_limit, rule):
                        by_kind[(node_type, tier, number), kind].append(edge)
        edges: dict[str, tuple[Edge, ...]] = dict.fromkeys(ids, ())
        for node_id, node in nodes.items():
            edges[node_id] = tuple(edge for kind in kinds for edge in by_kind.get((node, kind), ())[:limit])
        return edges

    def _has_edges(self, kind: str) -> bool:
        condition = f"edge e {BY_TARGET_INDEX} WHERE e.tenant = ? AND e.kind = ?"
        return self._exists(("edges", kind), condition, KIND_CODE[kind])

    def _has_edges_of_rule(self, rule: str) -> bool:
        return self._exists(("made", rule), "maker WHERE tenant = ? AND rule = ?", rule)

    def _has_nodes(self, kind: str) -> bool:
        return self._exists(("any", kind), f"{kind} WHERE tenant = ? AND key IN ?", self._keys)

    def _exists(self, name: tuple[str, str], condition: str, *values: object) -> bool:
        statement = f"SELECT 1 FROM {condition} LIMIT 1"
        return self._snapshot.cached(name, lambda: bool(self._all(statement, self._tenant, *values)))

    def _outward(
        self, node_type: str, tier: int, numbers: list[int], kind: str, limit: int | None, rule: str | None
    ) -> Iterator[tuple[int, Edge]]:
        visibilities = [visibility for visibility in self._visibilities() if visibility.src_tier == tier]
        target = TARGET_KIND.get(kind)
        if node_type != "memory" or not visibilities or (target is not None and not self._has_nodes(target)):
            return
        condition, values = "e.src IN ? AND e.kind = ?", [numbers, KIND_CODE[kind]]
        edges, end, order = "edge e", "e.dst", "s.dst_tier, e.dst"
        if target is not None:
            edges, end, order = "edge e CROSS JOIN node n ON n.num = e.dst", "n.hash", "n.hash"
            condition, values = f"{condition} AND {node_condition(target)}", [*values, self._keys]
        for row in self._rows(visibilities, edges, condition, values, end, order, limit, rule):
            yield row[1], _edge_from_row(kind, row[0], row[1:])

    def _inward(
        self, node_type: str, tier: int, numbers: list[int], kind: str, limit: int | None, rule: str | None
    ) -> Iterator[tuple[int, Edge]]:
        visibilities = [visibility for visibility in self._visibilities() if visibility.dst_tier == tier]
        if node_type != TARGET_KIND.get(kind, "memory") or not visibilities:
            return
        hashes = {number: number for number in numbers}
        if node_type != "memory":
            hashes = {num: node_hash(data) for num, data in self._nodes(node_type, numbers).items()}
        if not hashes:
            return
        edges, order = f"edge e {BY_TARGET_INDEX}", "s.src_tier, e.src"
        condition, values = "e.kind = ? AND e.dst IN ?", [KIND_CODE[kind], list(hashes)]
        for row in self._rows(visibilities, edges, condition, values, "e.dst", order, limit, rule):
            number = hashes[row[0]]
            yield number, _edge_from_row(kind, number, row[1:])

    def _rows(
        self,
        visibilities: Sequence[EdgeVisibility],
        edges: str,
        condition: str,
        values: Sequence[object],
        end: str,
        order: str,
        limit: int | None,
        rule: str | None,
    ) -> list[Any]:
        several_keys = len({visibility.key for visibility in visibilities}) > 1
        rule_filter = rule_order = ""
        if rule is not None:  # which of several keys' edges is shown does not depend on the rule asked for
            rule_filter, rule_order = ("", "k.rule IS NOT ?, ") if several_keys else ("AND k.rule = ? ", "")
        rows = self._all(
            f"SELECT {EDGE_RANK_SQL if several_keys else 1} AS place, {end}, e.src, s.src_tier, s.dst_tier, s.key, "
            f"{WEIGHT_SQL} AS weight, e.at, k.origin, k.rule, k.run FROM {edges} "
            "CROSS JOIN sight s ON s.id = e.sight CROSS JOIN maker k ON k.id = e.maker "
            f"WHERE e.tenant = ? AND e.sight IN ({visibility_codes_sql(visibilities)}) AND {condition} {rule_filter}"
            f"ORDER BY place, {rule_order}weight DESC, {order} LIMIT ?",
            self._tenant, *values, *(() if rule is None else (rule,)), -1 if limit is None else limit,
        )  # fmt: skip
        return [row[1:] for row in rows if row[0] == 1 and rule in (None, row[-2])]

    def degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        visibilities = self._visibilities()
        if kind not in KIND_CODE or not visibilities:
            return {}
        target = TARGET_KIND.get(kind, "memory")
        condition, values = "", list[object]()
        if ids is not None:
            hashes = (
                memory_hashes(ids) if target == "memory" else self._nodes(target, node_hashes(ids, target))
            )
            condition, values = "AND e.dst IN ?", [list(hashes)]
        # Several keys' edges of one source and target count once.
        count_sql = "count(DISTINCT e.src)" if len({v.key for v in visibilities}) > 1 else "count(*)"
        rows = self._all(
            f"SELECT e.dst, max(e.sight), {count_sql} FROM edge e WHERE e.tenant = ? AND e.kind = ? {condition} "
            f"AND e.sight IN ({visibility_codes_sql(visibilities)}) GROUP BY e.dst",
            self._tenant, KIND_CODE[kind], *values,
        )  # fmt: skip
        if target == "memory":
            tiers = {v.code: TIERS[v.dst_tier] for v in visibilities}
            names = {end: id_from_hash(tiers[code], end) for end, code, _ in rows}
        else:
            names = self._nodes(target, [end for end, _, _ in rows], "e.num")
        wanted = None if ids is None else set(ids)
        return {
            names[end]: count
            for end, _, count in rows
            if end in names and (wanted is None or names[end] in wanted)
        }

    def cooccurrences(self, concept: str, limit: int) -> tuple[dict[str, int], int]:
        own = self._nodes("concept", node_hashes([concept], "concept"))
        if not own:
            return {}, 0
        (end,) = own
        visible, kind = visibility_codes_sql(self._visibilities()), KIND_CODE["references"]
        memories = self._all(
            "SELECT DISTINCT e.src FROM edge e WHERE e.tenant = ? AND e.kind = ? AND e.dst = ? "
            f"AND e.sight IN ({visible}) ORDER BY e.src DESC LIMIT ?",
            self._tenant, kind, end, limit,
        )  # fmt: skip
        counts: dict[int, int] = {}
        for (src,) in memories:
            for (other,) in self._all(
                "SELECT DISTINCT e.dst FROM edge e WHERE e.tenant = ? AND e.src = ? AND e.kind = ? "
                f"AND e.sight IN ({visible})",
                self._tenant, src, kind,
            ):  # fmt: skip
                counts[other] = counts.get(other, 0) + 1
        counts.pop(end, None)
        names = self._nodes("concept", list(counts), "e.num")
        return {names[other]: count for other, count in counts.items() if other in names}, len(memories)

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        wanted = set(ids)
        hashes = memory_hashes(sorted(wanted))
        edges = list(self._project_edges(hashes, wanted))
        for rule, near in (("session", SAME_SESSION), ("document", SAME_DOCUMENT)):
            for step in (-1, 1):
                pairs = self._all(
                    f"SELECT {CHAIN_COLUMNS}, {as_neighbour(CHAIN_COLUMNS)} FROM memory m "
                    f"CROSS JOIN memory n ON {near.format(step)} WHERE {VISIBLE} AND {as_neighbour(VISIBLE)} "
                    "AND m.hash IN ?",
                    *self._scope_keys, *self._scope_keys, hashes,
                )  # fmt: skip
                edges += _chain_edges(rule, pairs, step, wanted)
        unique = {(edge.rule, edge.src, edge.dst): edge for edge in edges}
        return [unique[name] for name in sorted(unique)]

    def _project_edges(self, hashes: list[int], wanted: set[str]) -> Iterator[Edge]:
        heads = self._all(
            f"SELECT m.project, {CHAIN_COLUMNS} FROM memory m INDEXED BY memory_hash "
            f"WHERE {VISIBLE} AND m.hash IN ? AND {IS_HEAD}",
            *self._scope_keys, hashes,
        )  # fmt: skip
        for project, *head in heads:
            for step, (sign, order) in ((-1, ("<", "DESC")), (1, (">", "ASC"))):
                near = self._all(
                    f"SELECT {CHAIN_COLUMNS} FROM memory m WHERE {VISIBLE} AND project = ? AND {IS_HEAD} "
                    f"AND {TIME} {sign}= ? AND ({TIME}, m.tier, m.hash) {sign} (?, ?, ?) "
                    f"ORDER BY {TIME} {order}, m.tier {order}, m.hash {order} LIMIT 1",
                    *self._scope_keys, project, head[3], head[3], head[0], head[1],
                )  # fmt: skip
                yield from _chain_edges("project", [(*head, *neighbour) for neighbour in near], step, wanted)

    def _read_adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        neighbours: dict[str, tuple[str, ...]] = {}
        pairs = self._all(
            "SELECT m.tier, m.hash, n.tier, n.hash FROM memory m JOIN memory n ON n.session = m.session "
            f"AND n.turn BETWEEN m.turn - 1 AND m.turn + 1 AND n.turn <> m.turn WHERE {VISIBLE} "
            f"AND {as_neighbour(VISIBLE)} AND m.hash IN ? ORDER BY m.hash, n.turn, n.tier, n.hash",
            *self._scope_keys, *self._scope_keys, memory_hashes(ids),
        )  # fmt: skip
        for tier, number, other_tier, other in pairs:
            memory = id_from_hash(tier, number)
            neighbours[memory] = (*neighbours.get(memory, ()), id_from_hash(other_tier, other))
        return {memory: neighbours[memory] for memory in ids if memory in neighbours}

    def _members(self, categories: Sequence[str]) -> list[int]:
        rows = self._all(
            f"SELECT DISTINCT e.src FROM edge e WHERE e.tenant = ? AND e.kind = {KIND_CODE['belongs']} "
            f"AND e.dst IN ? AND e.sight IN ({visibility_codes_sql(self._visibilities())})",
            self._tenant, list(self._nodes("category", node_hashes(categories, "category"))),
        )  # fmt: skip
        return sorted(src + SIGN for (src,) in rows)


def as_neighbour(condition: str) -> str:
    """Return SQL about ``memory m`` as SQL about ``memory n``."""
    return condition.replace("m.", "n.")


def _edge_from_row(kind: str, dst: int, row: tuple[Any, ...]) -> Edge:
    src, src_tier, dst_tier, key, weight, at, *origin = row
    target_kind = TARGET_KIND.get(kind)
    end = id_from_hash(TIERS[dst_tier] if target_kind is None else target_kind, dst)
    return Edge(id_from_hash(TIERS[src_tier], src), kind, end, key, weight, at + EPOCH_MICROS, *origin)
