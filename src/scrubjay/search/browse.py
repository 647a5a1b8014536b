"""Browse memories without ranking: by id or path, one with its surroundings, entity and category pages.

The entity network is counted from a bounded sample: a share of all memories, chosen by the digits of their ids,
plus all that refer to a rare entity.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Final

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.dates import record_date
from scrubjay.models.graph import (
    MEMORY_EDGE_KINDS,
    Category,
    Edge,
    Entity,
    category_path,
    entity_from_row,
    find_categories,
    merge_entities,
    npmi,
)
from scrubjay.models.ids import SHORT_ID_DIGITS, parse_id
from scrubjay.models.records import ENTITY_PREFIX, Record, Source
from scrubjay.models.reports import FetchReport
from scrubjay.models.results import is_at, line_range, record_citation
from scrubjay.models.sources import commit_path, expand_path, repository_of
from scrubjay.models.views import (
    CategoryPage,
    CategorySummary,
    EntityNetwork,
    EntityPage,
    EntityPair,
    EntitySummary,
    MemoryCitation,
    MemoryHistory,
    MemoryLink,
    MemoryView,
    RelatedEntity,
)
from scrubjay.search.results import full_path, full_paths
from scrubjay.storage.interface import Reader
from scrubjay.text.display import excerpt
from scrubjay.text.summaries import abstract_of

MAX_EVIDENCE = 20
"""Maximum number of pieces of evidence shown with a memory."""
EVIDENCE_LENGTH = 300
MAX_IDS = 20
"""Maximum number of ids in one call: whoever needs more needs a search."""


@dataclass(frozen=True, slots=True)
class FetchWindow:
    """Extent of a fetch: neighbours on either side, the character range of the joined text, and evidence."""

    neighbours: int = 0
    limit: int = 20_000
    offset: int = 0
    evidence: bool = False


def fetch_memories(
    reader: Reader, ids: Sequence[str], path: str | None, lines: tuple[int, int] | None, window: FetchWindow
) -> FetchReport:
    """Return memories by id (or its shortest unique beginning), or a file's passages by path and lines.

    Raises:
        InputError: Neither or both of ids and path, more than 20 ids, or numbers out of range.
    """
    if bool(ids) == bool(path):
        raise InputError("Give either ids or a path.")
    if len(ids) > MAX_IDS:
        raise InputError(f"{len(ids)} ids were requested; at most {MAX_IDS} are returned at once.")
    if window.neighbours < 0 or window.limit < 1 or window.offset < 0:
        raise InputError("neighbours and offset must not be negative, and limit must be at least 1.")
    if lines is not None and not path:
        raise InputError("Lines need a path; memories are returned whole.", hint="give path with lines")
    if lines is not None and not 1 <= lines[0] <= lines[1]:
        raise InputError(f"Lines {lines[0]}-{lines[1]} are not a range; lines start at 1.")
    forgotten = 0
    if path:
        records, unknown, forgotten = _passages_by_lines(reader, path, lines)
    else:
        found, unknown = find_records(reader, ids)
        with_neighbours = [
            one for record in found.values() for one in _with_neighbours(reader, record, window.neighbours)
        ]
        records = list({record.id: record for record in with_neighbours}.values())
    shown: list[Record] = []
    position, end = 0, window.offset + window.limit
    for record in records:
        first, last = max(window.offset - position, 0), end - position
        if first < len(record.content) and last > 0:
            shown.append(replace(record, content=record.content[first:last]))
        position += len(record.content)
    paths = full_paths(shown, reader.sources())
    report = FetchReport(tuple(shown), paths, unknown, end if position > end else None, forgotten=forgotten)
    if not window.evidence:
        return report
    edges = reader.edges([record.id for record in shown], ["derived_from"], limit=MAX_EVIDENCE)
    sources = reader.get(sorted({edge.dst for edge in edges}))
    evidence: dict[str, tuple[Record, ...]] = {}
    rules: dict[str, tuple[str, ...]] = {}
    for edge in edges:
        if edge.dst in sources:
            source = replace(sources[edge.dst], content=sources[edge.dst].content[:EVIDENCE_LENGTH])
            evidence[edge.src] = (*evidence.get(edge.src, ()), source)
            rules[edge.src] = (*rules.get(edge.src, ()), edge.rule)
    return replace(report, evidence=evidence, rules=rules)


MAX_CANDIDATES = 5
"""Maximum number of ids that an error names."""


def find_records(reader: Reader, ids: Sequence[str]) -> tuple[dict[str, Record], tuple[str, ...]]:
    """Return the visible memories of ids, in their order, and the ids that match none.

    An id is whole, or its shortest unique beginning, or its first six digits or more without the tier.

    Raises:
        NotFoundError: Several ids begin with one of them.
    """
    full_ids: dict[str, str] = {}
    for given in dict.fromkeys(ids):
        prefix = given.strip().removeprefix("[").removesuffix("]").lower()  # as results and notes print them
        if parse_id(prefix):
            full_ids[given] = prefix
            continue
        matches = reader.ids_with_prefix(prefix, MAX_CANDIDATES + 1) if prefix else []
        if len(matches) > 1 and not prefix.endswith("_"):  # a tier alone names nothing
            raise several_ids(prefix, matches)
        full_ids[given] = matches[0] if len(matches) == 1 else ""
    records = reader.get(sorted({one for one in full_ids.values() if one}))
    found = {one: records[one] for one in full_ids.values() if one in records}
    return found, tuple(given for given, one in full_ids.items() if one not in records)


def find_record(reader: Reader, id: str) -> Record:
    """Return the visible memory of an id, which may be abbreviated as in `find_records`.

    Raises:
        NotFoundError: No id begins so, or several do.
    """
    found, _ = find_records(reader, [id])
    if not found:
        matches = reader.ids_with_prefix(id, MAX_CANDIDATES + 1) if id else []
        raise several_ids(id, matches) if len(matches) > 1 else unknown_id(id)
    return next(iter(found.values()))


def unknown_id(*ids: str) -> NotFoundError:
    """Return the error for ids that no visible memory has."""
    return NotFoundError(
        f"No memory {' or '.join(f'{id!r:.80}' for id in ids)} exists, or you may not see it. Nothing was done.",
        hint="search for it: results have ids",
    )


def several_ids(wanted: str, found: Sequence[str]) -> NotFoundError:
    """Return the error for an ambiguous id; it names at most `MAX_CANDIDATES` matches."""
    named = ", ".join(found[:MAX_CANDIDATES]) + (" and others" if len(found) > MAX_CANDIDATES else "")
    return NotFoundError(
        f"Several ids begin with {wanted!r}: {named}. Nothing was done.", hint="give more of its characters"
    )


@dataclass(frozen=True, slots=True)
class ShortReference:
    """Short name of a memory: its short id and its file's path, relative to its source."""

    id: str
    path: str = ""


def short_references(reader: Reader, ids: Iterable[str]) -> dict[str, ShortReference]:
    """Return the short references of the visible memories of these complete ids.

    A short id has `SHORT_ID_DIGITS` digits, and more where another visible memory's begins with them.
    """
    references = {}
    for one in reader.get(sorted(set(ids))).values():
        digits = one.id.partition("_")[2]
        length = SHORT_ID_DIGITS
        while length < len(digits) and len(reader.ids_with_prefix(digits[:length], 2)) > 1:
            length += 1
        references[one.id] = ShortReference(digits[:length], one.place.path if one.place is not None else "")
    return references


def _passages_by_lines(
    reader: Reader, path: str, lines: tuple[int, int] | None
) -> tuple[list[Record], tuple[str, ...], int]:
    target = Path(expand_path(path))
    absolute = Path(os.path.abspath(target))
    sources = reader.sources()
    candidates = [
        (source, absolute.relative_to(source.root).as_posix())
        for source in sources
        if absolute.is_relative_to(source.root)
    ]
    if not target.is_absolute():
        candidates += [(source, target.as_posix()) for source in sources]
    for source, relative in candidates:
        whole = _stored_path(reader, source, relative)
        records = reader.passages(source.id, whole)
        document = reader.documents(source.id, [whole]).get(whole)
        forgotten = 0 if document is None else document.forgotten
        if (records and lines is None) or (forgotten and not records):
            return records, (), forgotten
        if records and lines is not None:
            first, last = lines
            line_ranges = [(one, line_range(one.place)) for one in records]
            if all(own is None for _, own in line_ranges):
                raise InputError(
                    f"{path} is a document without lines.",
                    hint="give the path as it is cited, or without lines",
                )
            within = [one for one, own in line_ranges if own and own[0] <= last and own[1] >= first]
            return within, () if within else (f"{path}:{first}-{last}",), forgotten
    file, mark, anchor = path.rpartition("#")
    if mark and file and lines is None:  # a document's page or heading
        records, _, _ = _passages_by_lines(reader, file, None)
        at_anchor = [one for one in records if is_at(one, anchor)]
        return at_anchor, () if at_anchor else (path,), 0
    if lines is None and (cited := _CITED_LINES.fullmatch(path)):
        first, last = int(cited["first"]), int(cited["last"] or cited["first"])
        if 1 <= first <= last:
            return _passages_by_lines(reader, cited["path"], (first, last))
    return [], (path,), 0


_CITED_LINES = re.compile(r"(?P<path>.+):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?")


def _stored_path(reader: Reader, source: Source, path: str) -> str:
    """Return the path as it is stored: of the one commit whose id begins as it says, or with its accents as there."""
    if "@" in path and repository_of(source) is not None:
        prefix = commit_path(source, path.rpartition("@")[2])
        matches = [one for one in reader.documents(source.id) if one.startswith(prefix)]
        return matches[0] if len(matches) == 1 else path
    spellings = [path, *(unicodedata.normalize(form, path) for form in ("NFC", "NFD") if not path.isascii())]
    stored = reader.documents(source.id, spellings)
    return next((one for one in spellings if one in stored), path)


def _with_neighbours(reader: Reader, record: Record, neighbours: int) -> list[Record]:
    place = record.place
    if not neighbours:
        return [record]
    if record.session is not None and record.turn is not None:
        return reader.turns(record.session, record.turn - neighbours, record.turn + neighbours)
    if place is None:
        return [record]
    near = range(place.ordinal - neighbours, place.ordinal + neighbours + 1)
    return [
        other
        for other in reader.passages(place.source, place.path)
        if other.place is not None and other.place.ordinal in near
    ]


MAX_TEXT: Final = 2_000_000
"""Maximum number of characters of a memory and its neighbours in a view: in practice all."""
MAX_ENTITIES: Final = 50
MAX_NAMED: Final = 100
"""Maximum number of memories of a history that are cited in a line."""


def view_memory(reader: Reader, history: MemoryHistory, neighbours: int) -> MemoryView:
    """Return a memory, whose record is in ``history``, with its document, edges, entities and neighbours."""
    record = history.memory
    sources = {source.id: source for source in reader.sources()}
    around: tuple[Record, ...] = (record,)
    if neighbours:
        around = fetch_memories(reader, [record.id], None, None, FetchWindow(neighbours, MAX_TEXT)).records
    source = sources.get(record.place.source) if record.place is not None else None
    mentioned = (*history.evidence, *history.derived, *history.supersedes, *history.superseded_by)
    mentioned = (*mentioned, *history.contradicts, *(event.other for event in history.events if event.other))
    cited = cite_memories(reader, list(dict.fromkeys(mentioned))[:MAX_NAMED])
    return MemoryView(
        memory=record,
        path=full_path(record, sources),
        source=source.description if source is not None else "",
        around=around,
        links=memory_links(reader, record.id),
        concepts=_entities_of_memory(reader, record.id),
        categories=_categories_of_memory(reader, record.id),
        history=history,
        named={one.id: one for one in cited},
    )


def _entities_of_memory(reader: Reader, memory: str) -> tuple[EntitySummary, ...]:
    edges = reader.edges([memory], ["references"], limit=MAX_ENTITIES)
    ids = [edge.dst for edge in edges]
    counts = reader.degrees("references", ids) if ids else {}
    return tuple(_entity_summaries(merge_entities(reader.concepts(ids)), counts))


def _categories_of_memory(reader: Reader, memory: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    edges = reader.edges([memory], ["belongs"])
    if not edges:
        return ()
    by_id = {category.id: category for category in reader.categories()}
    return tuple(
        (edge.dst, tuple(one.name for one in category_path(by_id[edge.dst], by_id)))
        for edge in edges
        if edge.dst in by_id
    )


MAX_SAMPLED: Final = 2_000
"""Memories of an entity from which its relations are counted: a share of .5 is then known to within .02."""
MIN_SUPPORT: Final = 2
"""Minimum number of memories that refer to both entities: once is chance."""
MAX_SHOWN: Final = 12
"""Maximum number of relations, and memories, on a page."""
PHRASE_LENGTH: Final = 120
"""Characters of a memory's beginning where it has no abstract."""
MAX_LINKS: Final = 10
"""Maximum number of links of one memory and kind, both directions together."""
LIST_HINT: Final = "`scrubjay concepts list PART` shows those with PART in their name"
_BLOCK_MARKER = re.compile(r"^[ \t]*(?:#{1,6}|[-*+>])[ \t]+", re.MULTILINE)


def list_entities(reader: Reader, query: str = "") -> list[EntitySummary]:
    """Return the visible entities whose name or alias contains ``query``, most referenced first, then by name."""
    counts = reader.degrees("references")
    part = _fold_name(query)
    named = [
        entity
        for entity in merge_entities(reader.concepts())
        if any(part in _fold_name(name) for name in (entity.name, *entity.aliases))
    ]
    return _entity_summaries(named, counts)


def _entity_summaries(entities: Iterable[Entity], counts: Mapping[str, int]) -> list[EntitySummary]:
    summaries = [_entity_summary(entity, counts) for entity in entities]
    return sorted(summaries, key=lambda one: (-one.memories, one.name.casefold(), one.id))


def entity_by_id(reader: Reader, concept: str) -> EntitySummary:
    rows = merge_entities(reader.concepts([concept]))
    if not rows:
        raise NotFoundError(f"No concept {concept} is known.", hint=LIST_HINT)
    return _entity_summary(rows[0], reader.degrees("references", [concept]))


def removed_entity(reader: Reader, name: str) -> EntitySummary | None:
    """Return the removed entity of this name, to which memories may still refer, or None."""
    rows = [entity_from_row(row) for row in sorted(reader.concept_rows()) if row[4] == "refused"]
    removed = [
        row for row in rows if name == row.id or _fold_name(name) in map(_fold_name, (row.name, *row.aliases))
    ]
    return _entity_summary(removed[0], reader.degrees("references", [removed[0].id])) if removed else None


def find_entity(reader: Reader, name: str) -> Entity:
    """Return the entity that a text names: an id or a unique beginning of one, else a name or an alias in any case.

    Raises:
        NotFoundError: There is none, or several ids begin so.
    """
    wanted = _fold_name(name)
    prefix = name if len(name) > len(ENTITY_PREFIX) else None
    dictionary_rows = reader.concept_rows()
    # Only rows that may match become objects: a large dictionary has many.
    ids = {
        row[0]
        for row in dictionary_rows
        if wanted in map(_fold_name, (row[2], *(row[3] or ()))) or (prefix and row[0].startswith(prefix))
    }
    rows = merge_entities(entity_from_row(row) for row in dictionary_rows if row[0] in ids)
    for matches in (
        lambda c: c.id == name,
        lambda c: c.name == name,
        lambda c: _fold_name(c.name) == wanted,
        lambda c: name in c.aliases,
        lambda c: wanted in map(_fold_name, c.aliases),
    ):
        matching = [row for row in rows if matches(row)]
        if matching:
            return matching[0]
    matching = [row for row in rows if prefix and row.id.startswith(prefix)]
    if len(matching) > 1:
        raise NotFoundError(f"Several concepts have an id that begins with {name}.", hint=LIST_HINT)
    if not matching:
        raise NotFoundError(f"No concept {name!r} is known.", hint=LIST_HINT)
    return matching[0]


def related_entities(
    reader: Reader, concept: str, *, most: int | None = None, total: int | None = None
) -> tuple[tuple[RelatedEntity, ...], int]:
    """Return the entities most closely related to one, and how many memories were counted.

    The measure is normalised pointwise mutual information over visible memories (Bouma, 2009). Of an entity with
    more than ``most`` memories (default 2,000) a fixed share is read, and the counts are scaled to it.
    """
    shared_counts, sample_size = reader.cooccurrences(concept, MAX_SAMPLED if most is None else most)
    shared_counts = {other: count for other, count in shared_counts.items() if count >= MIN_SUPPORT}
    if not shared_counts:
        return (), sample_size
    counts = reader.degrees("references", [concept, *shared_counts])
    total = reader.counts().memories if total is None else total
    scale = counts.get(concept, sample_size) / sample_size
    names = {known.id: known.name for known in merge_entities(reader.concepts(list(shared_counts)))}
    relations = [
        RelatedEntity(other, names[other], npmi(count * scale, counts[concept], counts[other], total), count)
        for other, count in shared_counts.items()
        if other in names
    ]
    relations = [related for related in relations if related.association > 0]
    relations.sort(key=lambda related: (-related.association, -related.support, related.id))
    return tuple(relations), sample_size


def entity_page(reader: Reader, name: str) -> EntityPage:
    """Return one entity with its relations and some of its memories."""
    found = find_entity(reader, name)
    related, sample_size = related_entities(reader, found.id)
    edges = reader.edges([found.id], ["references"], inward=True, limit=MAX_SHOWN)
    counts = reader.degrees("references", [found.id])
    shown_memories = cite_memories(reader, [edge.src for edge in edges])
    return EntityPage(_entity_summary(found, counts), related[:MAX_SHOWN], shown_memories, sample_size)


def category_tree(reader: Reader) -> list[CategorySummary]:
    """Return the visible categories as a tree in reading order: topics, then paths, by size and name."""
    categories = reader.categories()
    counts = _counts_with_descendants(categories, reader.degrees("belongs"))
    by_id = {category.id: category for category in categories}
    children: dict[str | None, list[Category]] = {}
    for category in categories:
        parent = category.parent if category.parent in by_id else None
        children.setdefault(parent, []).append(category)
    rows: list[CategorySummary] = []
    visited: set[str] = set()
    # Last in, first out. A parent that is below its own child has no top; its ring is entered somewhere.
    stack = [(category, 0) for category in reversed(_category_order(categories, counts))]
    stack += [(category, 0) for category in reversed(_category_order(children.get(None, []), counts))]
    while stack:
        category, depth = stack.pop()
        if category.id not in visited:
            visited.add(category.id)
            rows.append(_category_summary(category, depth, counts))
            subcategories = _category_order(children.get(category.id, []), counts)
            stack += [(child, depth + 1) for child in reversed(subcategories)]
    return rows


def category_page(reader: Reader, name: str) -> CategoryPage:
    """Return one category with its children and some of its memories."""
    categories = reader.categories()
    counts = _counts_with_descendants(categories, reader.degrees("belongs"))
    found = _category_order(find_categories(categories, name), counts)[0]
    depth = len(category_path(found, {category.id: category for category in categories})) - 1
    subcategories = _category_order([c for c in categories if c.parent == found.id], counts)
    edges = reader.edges([found.id], ["belongs"], inward=True, limit=MAX_SHOWN)
    return CategoryPage(
        _category_summary(found, depth, counts),
        tuple(_category_summary(c, depth + 1, counts) for c in subcategories),
        cite_memories(reader, [edge.src for edge in edges]),
    )


def memory_links(reader: Reader, memory: str) -> tuple[MemoryLink, ...]:
    """Return a memory's links in both directions: at most ten of each kind, heaviest first."""
    links: list[tuple[Edge, str, str]] = []
    for direction, inward in (("to", False), ("from", True)):
        edges = reader.edges([memory], MEMORY_EDGE_KINDS, inward=inward, limit=MAX_LINKS)
        links += [(edge, direction, edge.src if inward else edge.dst) for edge in edges]
    links.sort(key=lambda link: (link[0].kind, -link[0].weight, link[2], link[1] != "to"))
    unique: dict[tuple[str, str], tuple[Edge, str, str]] = {}
    for link in links:
        unique.setdefault((link[0].kind, link[2]), link)
    shown: list[tuple[Edge, str, str]] = []
    counts: Counter[str] = Counter()
    for link in unique.values():
        counts[link[0].kind] += 1
        if counts[link[0].kind] <= MAX_LINKS:
            shown.append(link)
    records = reader.get([other for _, _, other in shown])
    return tuple(
        MemoryLink(
            other, e.kind, direction, e.weight, e.rule, e.origin == "given", memory_phrase(records[other])
        )
        for e, direction, other in shown
        if other in records
    )


def memory_phrase(record: Record) -> str:
    """Return a memory's abstract, else its beginning on one line."""
    abstract = abstract_of(record.title, record.content, record.heading_path)
    return excerpt(abstract or _BLOCK_MARKER.sub("", record.content), PHRASE_LENGTH)


def _fold_name(name: str) -> str:
    return " ".join(name.split()).casefold()


def _entity_summary(concept: Entity, counts: Mapping[str, int]) -> EntitySummary:
    return EntitySummary(concept.id, concept.name, concept.aliases, concept.kind, counts.get(concept.id, 0))


def cite_memories(reader: Reader, ids: Sequence[str]) -> tuple[MemoryCitation, ...]:
    """Return a one-line citation of each visible memory."""
    records = reader.get(ids)
    sources = {source.id: source for source in reader.sources()}
    citations = []
    for record in (records[memory] for memory in ids if memory in records):
        file = full_path(record, sources)
        lines = line_range(record.place)
        cited = f"{file}:{lines[0]}" if file is not None and lines else record_citation(record, file)
        citations.append(MemoryCitation(record.id, memory_phrase(record), record_date(record), cited))
    return tuple(citations)


def _counts_with_descendants(categories: Sequence[Category], counts: Mapping[str, int]) -> dict[str, int]:
    by_id = {category.id: category for category in categories}
    totals: dict[str, int] = {}
    for category in categories:
        for ancestor in category_path(category, by_id):
            totals[ancestor.id] = totals.get(ancestor.id, 0) + counts.get(category.id, 0)
    return totals


def _category_order(nodes: Sequence[Category], counts: Mapping[str, int]) -> list[Category]:
    return sorted(nodes, key=lambda c: (c.kind != "topic", -counts.get(c.id, 0), c.name.casefold(), c.id))


def _category_summary(c: Category, depth: int, counts: Mapping[str, int]) -> CategorySummary:
    return CategorySummary(c.id, c.name, c.kind, c.parent, depth, counts.get(c.id, 0), c.abstract, c.overview)


MAX_NETWORK_SAMPLE: Final = 3_000
"""Size of the sample: an entity in one of a hundred memories is found thirty times."""
SMALL_ENTITY: Final = 40
"""Entities with at most so many memories are counted from all of them: too few would be in the sample."""
PAIRS_PER_ENTITY: Final = 3
"""Ties shown per entity: more cannot be told apart."""
MAX_ENTITIES_PER_MEMORY: Final = 40
"""Memories with more entities are not counted: a glossary ties everything to everything."""


def entity_network(reader: Reader, most: int, query: str = "") -> EntityNetwork:
    """Return the ``most`` most referenced entities whose name or alias contains ``query``, and their ties."""
    entities = list_entities(reader, query)
    shown = entities[:most]
    if not shown:
        return EntityNetwork((), (), 0, 0)
    # Pairs are ordered by these and not by ids, which differ between stores.
    ranks = {entity.id: place for place, entity in enumerate(shown)}
    rare = [entity.id for entity in shown if entity.memories <= SMALL_ENTITY]
    memories = {edge.src for edge in reader.edges(rare, ["references"], inward=True)}
    memories |= {record.id for record in reader.page("", MAX_NETWORK_SAMPLE)}
    entities_by_memory: dict[str, set[str]] = defaultdict(set)
    for edge in reader.edges(sorted(memories), ["references"]):
        if edge.dst in ranks:
            entities_by_memory[edge.src].add(edge.dst)
    pairs = Counter(
        pair
        for mentioned in entities_by_memory.values()
        if len(mentioned) <= MAX_ENTITIES_PER_MEMORY
        for pair in combinations(sorted(mentioned, key=ranks.__getitem__), 2)
    )
    degrees = {entity.id: entity.memories for entity in shown}
    # An entity that is often with everything is close to nothing: Salton's cosine.
    closest = sorted(
        pairs,
        key=lambda pair: (
            -(pairs[pair] ** 2) / (degrees[pair[0]] * degrees[pair[1]]),
            ranks[pair[0]],
            ranks[pair[1]],
        ),
    )
    ties = tuple(EntityPair(*pair, pairs[pair]) for pair in closest[: PAIRS_PER_ENTITY * len(shown)])
    return EntityNetwork(tuple(shown), ties, len(entities), len(memories))
