"""Webs: a reader -> what surrounds a concept, a category, a memory; counted from what the reader sees alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.errors import NotFoundError
from scrubjay.memory.association import npmi
from scrubjay.memory.categories import Category
from scrubjay.memory.concepts import Concept, Row, of_row, united
from scrubjay.memory.dates import date_of
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Record
from scrubjay.memory.tiers import CONCEPT_PREFIX
from scrubjay.memory.tree import chosen, path
from scrubjay.memory.webs import ConceptPage, Known, Link, Near, Place, Shelf, ShelfPage
from scrubjay.recall.assemble import full_path
from scrubjay.store.base import Reader

LOOKED_AT: Final = 2_000
"""Memories of a concept from which its relations are counted: a share of .5 is then known to within .02."""
LEAST_SUPPORT: Final = 2
"""Memories that must refer to both: once is chance."""
SHOWN: Final = 12
"""Relations, and memories, of one page."""
PHRASE: Final = 120
"""Characters of a memory's beginning where it has no abstract."""
LINKS: Final = 10
"""Links of one memory and kind, those that leave it and those that come counted together."""
LISTED: Final = "`scrubjay concepts list PART` shows those with PART in their name"
_MARK = re.compile(r"^[ \t]*(?:#{1,6}|[-*+>])[ \t]+", re.MULTILINE)
BETWEEN: Final = ("contradicts", "derived_from", "links", "similar", "supersedes")
"""Kinds of edges from memory to memory."""


def concepts(reader: Reader, query: str = "") -> list[Known]:
    """Return the visible concepts, those that most memories refer to first, then by name.

    Args:
        reader: What is visible.
        query: Only those with this in their name or in an alias, in any case.
    """
    counts = reader.degrees("references")
    part = _folded(query)
    found = [
        _known(concept, counts)
        for concept in united(reader.concepts())
        if any(part in _folded(name) for name in (concept.name, *concept.aliases))
    ]
    return sorted(found, key=lambda known: (-known.memories, known.name.casefold(), known.id))


def known(reader: Reader, concept: str) -> Known:
    """Return one concept by its whole id.

    Raises:
        NotFoundError: It is not visible.
    """
    rows = united(reader.concepts([concept]))
    if not rows:
        raise NotFoundError(f"No concept {concept} is known.", hint=LISTED)
    return _known(rows[0], reader.degrees("references", [concept]))


def removed(reader: Reader, name: str) -> Known | None:
    """Return the concept of this name that was taken out, to which memories may still refer, or None."""
    rows = [of_row(row) for row in sorted(reader.concept_rows()) if row[4] == "refused"]
    found = [row for row in rows if name == row.id or _folded(name) in map(_folded, (row.name, *row.aliases))]
    return _known(found[0], reader.degrees("references", [found[0].id])) if found else None


def concept(reader: Reader, name: str) -> Concept:
    """Return the concept that a text means: an id or a unique beginning of one, a name or an alias in any case.

    Raises:
        NotFoundError: There is none, or several have an id that begins so.
    """
    wanted = _folded(name)
    prefix = name if len(name) > len(CONCEPT_PREFIX) else None
    held = reader.concept_rows()
    # Of a large dictionary only those that may be meant are made into objects, each with all of its rows.
    meant = {row[0] for row in held if _may_mean(row, wanted) or (prefix and row[0].startswith(prefix))}
    rows = united(of_row(row) for row in held if row[0] in meant)
    for fits in (
        lambda c: c.id == name,
        lambda c: c.name == name,
        lambda c: _folded(c.name) == wanted,
        lambda c: name in c.aliases,
        lambda c: wanted in map(_folded, c.aliases),
    ):
        found = [row for row in rows if fits(row)]
        if found:
            return found[0]
    found = [row for row in rows if prefix and row.id.startswith(prefix)]
    if len(found) > 1:
        raise NotFoundError(f"Several concepts have an id that begins with {name}.", hint=LISTED)
    if not found:
        raise NotFoundError(f"No concept {name!r} is known.", hint=LISTED)
    return found[0]


def related(
    reader: Reader, concept: str, *, most: int | None = None, total: int | None = None
) -> tuple[tuple[Near, ...], int]:
    """Return the concepts most closely related to one, and how many memories were looked at.

    The measure is normalised pointwise mutual information over visible memories (Bouma, 2009). Of a concept
    with more than 2,000 memories a fixed share is looked at, and the counts are scaled to it.

    Args:
        reader: What is visible.
        concept: Its id.
        most: Most memories looked at; None for 2,000.
        total: How many memories are visible, where the caller has counted them already.
    """
    together, looked_at = reader.meetings(concept, LOOKED_AT if most is None else most)
    together = {other: count for other, count in together.items() if count >= LEAST_SUPPORT}
    if not together:
        return (), looked_at
    counts = reader.degrees("references", [concept, *together])
    total = reader.counts().memories if total is None else total
    scale = counts.get(concept, looked_at) / looked_at
    names = {known.id: known.name for known in united(reader.concepts(list(together)))}
    found = [
        Near(other, names[other], npmi(count * scale, counts[concept], counts[other], total), count)
        for other, count in together.items()
        if other in names
    ]
    found = [near for near in found if near.association > 0]
    return tuple(sorted(found, key=lambda near: (-near.association, -near.support, near.id))), looked_at


def concept_page(reader: Reader, name: str) -> ConceptPage:
    """Return one concept with its relations and some of its memories.

    Raises:
        NotFoundError: There is none.
    """
    found = concept(reader, name)
    near, looked_at = related(reader, found.id)
    edges = reader.edges([found.id], ["references"], inward=True, limit=SHOWN)
    counts = reader.degrees("references", [found.id])
    shown_memories = places(reader, [edge.src for edge in edges])
    return ConceptPage(_known(found, counts), near[:SHOWN], shown_memories, looked_at)


def categories(reader: Reader) -> list[Shelf]:
    """Return the visible categories as a tree read from top to bottom: topics, then paths, by size and name."""
    known = reader.categories()
    counts = _counted(known, reader.degrees("belongs"))
    by_id = {category.id: category for category in known}
    children: dict[str | None, list[Category]] = {}
    for category in known:
        above = category.parent if category.parent in by_id else None
        children.setdefault(above, []).append(category)
    rows: list[Shelf] = []
    seen: set[str] = set()
    # Last in, first out. A parent that is below its own child has no top; its ring is entered somewhere.
    waiting = [(category, 0) for category in reversed(_sorted(known, counts))]
    waiting += [(category, 0) for category in reversed(_sorted(children.get(None, []), counts))]
    while waiting:
        category, depth = waiting.pop()
        if category.id not in seen:
            seen.add(category.id)
            rows.append(_shelf(category, depth, counts))
            below = _sorted(children.get(category.id, []), counts)
            waiting += [(child, depth + 1) for child in reversed(below)]
    return rows


def category_page(reader: Reader, name: str) -> ShelfPage:
    """Return one category with those right below it and some of its memories.

    Raises:
        NotFoundError: There is none.
    """
    known = reader.categories()
    counts = _counted(known, reader.degrees("belongs"))
    found = _sorted(chosen(known, name), counts)[0]
    depth = len(path(found, {category.id: category for category in known})) - 1
    below = _sorted([c for c in known if c.parent == found.id], counts)
    edges = reader.edges([found.id], ["belongs"], inward=True, limit=SHOWN)
    return ShelfPage(
        _shelf(found, depth, counts),
        tuple(_shelf(c, depth + 1, counts) for c in below),
        places(reader, [edge.src for edge in edges]),
    )


def links(reader: Reader, memory: str) -> tuple[Link, ...]:
    """Return what a memory is joined with, in both directions: at most ten of each kind, heaviest first."""
    found: list[tuple[Edge, str, str]] = [
        (edge, "to", edge.dst) for edge in reader.edges([memory], BETWEEN, limit=LINKS)
    ]
    found += [(edge, "from", edge.src) for edge in reader.edges([memory], BETWEEN, inward=True, limit=LINKS)]
    chosen_links: dict[tuple[str, str], tuple[Edge, str, str]] = {}
    for item in sorted(found, key=lambda item: (item[0].kind, -item[0].weight, item[2], item[1] != "to")):
        chosen_links.setdefault((item[0].kind, item[2]), item)
    kept: dict[str, int] = {}
    shown_links = []
    for item in chosen_links.values():
        kept[item[0].kind] = kept.get(item[0].kind, 0) + 1
        if kept[item[0].kind] <= LINKS:
            shown_links.append(item)
    records = reader.get([other for _, _, other in shown_links])
    return tuple(
        Link(other, e.kind, direction, e.weight, e.rule, e.origin == "given", phrase(records[other]))
        for e, direction, other in shown_links
        if other in records
    )


def phrase(record: Record) -> str:
    """Return a phrase of a memory: its abstract, else its beginning on one line."""
    text = " ".join((record.abstract or _MARK.sub("", record.content)).split())
    return text if len(text) <= PHRASE else text[:PHRASE].rsplit(" ", 1)[0] + "…"


def _may_mean(row: Row, wanted: str) -> bool:
    return _folded(row[2]) == wanted or (row[3] is not None and wanted in map(_folded, row[3]))


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _known(concept: Concept, counts: Mapping[str, int]) -> Known:
    return Known(concept.id, concept.name, concept.aliases, concept.kind, counts.get(concept.id, 0))


def places(reader: Reader, ids: Sequence[str]) -> tuple[Place, ...]:
    """Return a line about each of these memories, those that are not visible left out."""
    records = reader.get(ids)
    sources = {source.id: source for source in reader.sources()}
    found = []
    for memory in ids:
        if memory in records:
            record = records[memory]
            file = full_path(record, sources)
            line = record.place.line_start if record.place is not None else 0
            cited = f"{file}:{line}" if file is not None else record.id
            found.append(Place(record.id, phrase(record), date_of(record), cited))
    return tuple(found)


def _counted(known: Sequence[Category], counts: Mapping[str, int]) -> dict[str, int]:
    """Return the memories of each category and of those below it; each memory stands in one of a tree."""
    by_id = {category.id: category for category in known}
    total: dict[str, int] = {}
    for category in known:
        for above in path(category, by_id):
            total[above.id] = total.get(above.id, 0) + counts.get(category.id, 0)
    return total


def _sorted(known: Sequence[Category], counts: Mapping[str, int]) -> list[Category]:
    return sorted(known, key=lambda c: (c.kind != "topic", -counts.get(c.id, 0), c.name.casefold(), c.id))


def _shelf(c: Category, depth: int, counts: Mapping[str, int]) -> Shelf:
    return Shelf(c.id, c.name, c.kind, c.parent, depth, counts.get(c.id, 0), c.abstract, c.overview)
