"""Graph: what connects the memories that one scope sees, read in the transaction of its reader."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from scrubjay.memory.categories import Category
from scrubjay.memory.concepts import Concept, Row
from scrubjay.memory.edges import Edge
from scrubjay.memory.ids import DIGITS, memory_id
from scrubjay.memory.tiers import TIERS
from scrubjay.store.snapshot import Snapshot
from scrubjay.store.sqlite import rows, sights
from scrubjay.store.sqlite.pack import SIGN
from scrubjay.store.sqlite.seen import Seen
from scrubjay.store.sqlite.sights import FROM, INWARD, KIND_CODE, LEADS_TO, WEIGHT, Sight

CATEGORY = "c.key, c.kind, c.name, c.parent, c.abstract, c.overview, c.model, c.centroid, c.at, c.built"

NO_ALIASES: Final = "[]"
"""What a concept without aliases keeps of them."""
CONCEPT_ID: Final = (
    f"printf('{sights.PREFIX['concept']}%0{DIGITS}x', (n.hash | {-SIGN}) - (n.hash & {-SIGN}))"
)
"""The id of a node, as `sights.node_id` makes it: its hash less the sign's bit, in two's complement."""

FIRST = f"row_number() OVER (PARTITION BY e.src, e.dst ORDER BY k.origin DESC, {WEIGHT} DESC, s.key)"
"""Of what several keys say of one source and end, the first is shown: given, heaviest, of the smaller key."""


class Graph:
    """Concepts, categories, edges and projects that the holder of some keys sees.

    Attributes:
        seen: The memories they see.
        kept: What was read of this state before.
    """

    def __init__(self, seen: Seen, kept: Snapshot) -> None:
        self.seen = seen
        self._kept = kept
        self._db, self._tenant, self._keys = seen.db, seen.tenant, seen.keys
        self._bound, self._marks = seen.bound, seen.marks

    def _sights(self) -> list[Sight]:
        return self._kept.once("sights", lambda: sights.visible(self._db, self._tenant, self._keys))

    def concepts(self, ids: Sequence[str] | None = None) -> list[Concept]:
        """Return rows of concepts, by id and key."""
        if ids is None:
            return self._concepts("concept c JOIN node n ON n.num = c.node WHERE", ())
        wanted = sorted(set(sights.hashes("concept", ids)))
        source = "node n CROSS JOIN concept c ON c.node = n.num WHERE n.tenant = ? AND n.kind = 'concept' AND"
        found: list[Concept] = []
        for batch in rows.batches(wanted):
            found += self._concepts(f"{source} n.hash IN ({_marks(batch)}) AND", (self._tenant, *batch))
        return found

    def _concepts(self, source: str, values: Sequence[object]) -> list[Concept]:
        found = self._db.execute(
            f"SELECT n.hash, c.key, c.name, c.aliases, c.kind, c.at FROM {source} c.tenant = ? "
            f"AND c.key IN ({self._marks}) ORDER BY n.hash, c.key",
            (*values, self._tenant, *self._bound),
        ).fetchall()
        return [
            Concept(
                sights.node_id("concept", number),
                key,
                name,
                () if aliases == NO_ALIASES else tuple(json.loads(aliases)),
                kind,
                at,
            )
            for number, key, name, aliases, kind, at in found
        ]

    def concept_rows(self) -> list[Row]:
        """Return the visible rows of concepts, as tuples."""
        found = self._db.execute(
            f"SELECT {CONCEPT_ID}, c.key, c.name, nullif(c.aliases, '{NO_ALIASES}'), c.kind, c.at "
            "FROM concept c JOIN node n ON n.num = c.node "
            f"WHERE c.tenant = ? AND c.key IN ({self._marks})",
            (self._tenant, *self._bound),
        ).fetchall()
        return [row if row[3] is None else (*row[:3], tuple(json.loads(row[3])), *row[4:]) for row in found]

    def concept_mark(self) -> int:
        """Return how often the visible concepts were changed."""
        (found,) = self._db.execute(
            f"SELECT coalesce(sum(changes), 0) FROM concept_mark WHERE tenant = ? AND key IN ({self._marks})",
            (self._tenant, *self._bound),
        ).fetchone()
        return int(found)

    def categories(self) -> list[Category]:
        """Return the categories, by id."""
        found = self._db.execute(
            f"SELECT n.hash, {CATEGORY} FROM category c JOIN node n ON n.num = c.node WHERE c.tenant = ? "
            f"AND c.key IN ({self._marks}) ORDER BY n.hash",
            (self._tenant, *self._bound),
        ).fetchall()
        return [Category(sights.node_id("category", number), *rest) for number, *rest in found]

    def projects(self) -> dict[str, str]:
        """Return place to project name; of several keys' names, the smaller key's."""
        found = self._db.execute(
            f"SELECT place, name FROM project WHERE tenant = ? AND key IN ({self._marks}) ORDER BY key DESC",
            (self._tenant, *self._bound),
        ).fetchall()
        return dict(sorted(dict(found).items()))

    def edges(
        self, ids: Sequence[str], kinds: Sequence[str], *, inward: bool = False, limit: int | None = None
    ) -> list[Edge]:
        """Return edges that leave these ids, or lead to them."""
        wanted = tuple(kind for kind in sorted(set(kinds)) if kind in KIND_CODE)
        read = partial(self._read, kinds=wanted, inward=inward, limit=limit)
        return self._kept.edges_of(ids, (inward, wanted, limit), read)

    def _read(
        self, ids: list[str], kinds: Sequence[str], *, inward: bool, limit: int | None
    ) -> dict[str, tuple[Edge, ...]]:
        """Return the edges of each id; none where there are none, so that nobody asks again."""
        read = self._inward if inward else self._outward
        # A memory leads to few, so that those of many are read at once and cut here; to a concept may lead all.
        alone = inward and limit is not None
        nodes = {one: node for one in ids if (node := sights.parsed(one))}
        held: dict[tuple[tuple[str, int, int], str], list[Edge]] = defaultdict(list)
        for of, tier in dict.fromkeys(node[:2] for node in nodes.values()):
            numbers = [node[2] for node in nodes.values() if node[:2] == (of, tier)]
            for kind in kinds:
                for batch in rows.batches(numbers) if not alone else ([number] for number in numbers):
                    for number, edge in read(of, tier, batch, kind, limit if alone else None):
                        held[(of, tier, number), kind].append(edge)
        found: dict[str, tuple[Edge, ...]] = dict.fromkeys(ids, ())
        for one, node in nodes.items():
            found[one] = tuple(edge for kind in kinds for edge in held.get((node, kind), ())[:limit])
        return found

    def _any(self, kind: str) -> bool:
        """Return whether the scope sees any concept, or any category, which many do not."""
        one = f"SELECT 1 FROM {kind} WHERE tenant = ? AND key IN ({self._marks}) LIMIT 1"
        values = (self._tenant, *self._bound)
        return self._kept.once(("any", kind), lambda: self._db.execute(one, values).fetchone() is not None)

    def _outward(
        self, of: str, tier: int, numbers: Sequence[int], kind: str, limit: int | None
    ) -> Iterator[tuple[int, Edge]]:
        """Yield the edges of one kind that leave memories of one tier, each with its source's hash."""
        seen = [sight for sight in self._sights() if sight.src_tier == tier]
        to = LEADS_TO.get(kind)
        if of != "memory" or not seen or (to is not None and not self._any(to)):
            return
        condition = f"e.src IN ({_marks(numbers)}) AND e.kind = ?"
        values: tuple[object, ...] = (*numbers, KIND_CODE[kind])
        asked, edges = ("e.dst", "s.dst_tier, e.dst", limit), "edge e"
        if to is not None:
            asked, edges = ("n.hash", "n.hash", limit), "edge e CROSS JOIN node n ON n.num = e.dst"
            condition, values = f"{condition} AND {sights.known(to, self._keys)}", (*values, *self._bound)
        for row in self._rows(seen, edges, condition, values, asked):
            yield row[1], _edge(kind, row[0], row[1:])

    def _inward(
        self, of: str, tier: int, numbers: Sequence[int], kind: str, limit: int | None
    ) -> Iterator[tuple[int, Edge]]:
        """Yield the edges of one kind that lead to nodes of one sort, each with the hash of its end."""
        seen = [sight for sight in self._sights() if sight.dst_tier == tier]
        if of != LEADS_TO.get(kind, "memory") or not seen:
            return
        hashes = {number: number for number in numbers}
        if of != "memory":
            ends = sights.nodes(self.seen, of, numbers).items()
            hashes = {num: node[2] for num, one in ends if (node := sights.parsed(one))}
        if not hashes:
            return
        condition, values = f"e.kind = ? AND e.dst IN ({_marks(list(hashes))})", (KIND_CODE[kind], *hashes)
        asked = ("e.dst", "s.src_tier, e.src", limit)
        for row in self._rows(seen, f"edge e {INWARD}", condition, values, asked):
            number = hashes[row[0]]
            yield number, _edge(kind, number, row[1:])

    def _rows(
        self,
        seen: Sequence[Sight],
        edges: str,
        condition: str,
        values: Sequence[object],
        asked: tuple[str, str, int | None],
    ) -> list[Any]:
        end, order, limit = asked
        several = len({sight.key for sight in seen}) > 1
        found = self._db.execute(
            f"SELECT {FIRST if several else 1} AS place, {end}, e.src, s.src_tier, s.dst_tier, s.key, "
            f"{WEIGHT} AS weight, e.at, k.origin, k.rule, k.run FROM {edges} "
            "CROSS JOIN sight s ON s.id = e.sight CROSS JOIN maker k ON k.id = e.maker "
            f"WHERE e.tenant = ? AND e.sight IN ({sights.codes(seen)}) AND {condition} "
            f"ORDER BY place, weight DESC, {order} LIMIT ?",
            (self._tenant, *values, -1 if limit is None else limit),
        ).fetchall()
        return [row[1:] for row in found if row[0] == 1]

    def degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        """Return how many edges of a kind lead to each id."""
        if kind not in KIND_CODE or not self._sights():
            return {}
        of = LEADS_TO.get(kind, "memory")
        if ids is None:
            return self._by_id(of, self._counted(kind, "", ()))
        hashes = sights.hashes(of, ids)
        ends = hashes if of == "memory" else list(sights.nodes(self.seen, of, hashes))
        found: list[tuple[int, int, int]] = []
        for batch in rows.batches(ends):
            found += self._counted(kind, f"AND e.dst IN ({_marks(batch)})", batch)
        wanted = set(ids)
        return {one: count for one, count in self._by_id(of, found).items() if one in wanted}

    def _counted(self, kind: str, condition: str, values: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return end, any of its edges' sights, and number of edges, a row each end."""
        seen = self._sights()
        # What several keys say of one source and end is one edge.
        counted = "count(DISTINCT e.src)" if len({sight.key for sight in seen}) > 1 else "count(*)"
        return self._db.execute(
            f"SELECT e.dst, max(e.sight), {counted} FROM edge e WHERE e.tenant = ? AND e.kind = ? {condition} "
            f"AND e.sight IN ({sights.codes(seen)}) GROUP BY e.dst",
            (self._tenant, KIND_CODE[kind], *values),
        ).fetchall()

    def _by_id(self, of: str, counted: Sequence[tuple[int, int, int]]) -> dict[str, int]:
        if of == "memory":
            tiers = {sight.code: TIERS[sight.dst_tier] for sight in self._sights()}
            return {memory_id(tiers[sight], end + SIGN): count for end, sight, count in counted}
        names = sights.named(self.seen, of, [end for end, _, _ in counted])
        return {names[end]: count for end, _, count in counted if end in names}

    def meetings(self, concept: str, limit: int) -> tuple[dict[str, int], int]:
        """Return how often other concepts are referred to by the memories that refer to one."""
        own = sights.nodes(self.seen, "concept", sights.hashes("concept", [concept]))
        if not own:
            return {}, 0
        (end,) = own
        seen, kind = sights.codes(self._sights()), KIND_CODE["references"]
        looked = self._db.execute(
            "SELECT DISTINCT e.src FROM edge e WHERE e.tenant = ? AND e.kind = ? AND e.dst = ? "
            f"AND e.sight IN ({seen}) ORDER BY e.src DESC LIMIT ?",
            (self._tenant, kind, end, limit),
        ).fetchall()
        met: dict[int, int] = {}
        for (src,) in looked:
            for (other,) in self._db.execute(
                "SELECT DISTINCT e.dst FROM edge e WHERE e.tenant = ? AND e.src = ? AND e.kind = ? "
                f"AND e.sight IN ({seen})",
                (self._tenant, src, kind),
            ).fetchall():
                met[other] = met.get(other, 0) + 1
        met.pop(end, None)
        names = sights.named(self.seen, "concept", list(met))
        return {names[other]: count for other, count in met.items() if other in names}, len(looked)

    def members(self, categories: Sequence[str]) -> list[int]:
        """Return the numbers of the ids of memories that belong to any of these categories."""
        found: set[int] = set()
        for end in sights.nodes(self.seen, "category", sights.hashes("category", categories)):
            found |= {
                src + SIGN
                for (src,) in self._db.execute(
                    f"SELECT e.src FROM edge e WHERE e.tenant = ? AND e.kind = {KIND_CODE['belongs']} "
                    f"AND e.dst = ? AND e.sight IN ({sights.codes(self._sights())})",
                    (self._tenant, end),
                ).fetchall()
            }
        return sorted(found)


def _edge(kind: str, dst: int, row: tuple[Any, ...]) -> Edge:
    src, src_tier, dst_tier, key, weight, at, *made = row
    to = LEADS_TO.get(kind)
    end = sights.node_id(to, dst) if to is not None else memory_id(TIERS[dst_tier], dst + SIGN)
    return Edge(memory_id(TIERS[src_tier], src + SIGN), kind, end, key, weight, at + FROM, *made)


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
