"""Entity dictionary: the entities of one visibility key, and how new texts extend it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from scrubjay.entities.discovery import DiscoveryPassage, discover_names
from scrubjay.entities.matcher import (
    EntityMatcher,
    NameIndex,
    NameOwners,
    find_mentions,
    name_owners,
    name_stems,
)
from scrubjay.entities.normalization import normalize_name, number_stem, other_number
from scrubjay.models.graph import Edge, Entity, EntityRow, entity_from_row, entity_to_row, merge_entities
from scrubjay.models.ids import entity_id
from scrubjay.models.records import STATUSES, Record, RecordFilter
from scrubjay.storage.interface import Reader
from scrubjay.text.markdown import extract_links
from scrubjay.text.tokenizer import TermGroup, query_groups

MAX_EARLIER: Final = 500
"""Stored memories that are searched for the name of a new entity."""
EVERY_STATUS: Final = RecordFilter(statuses=STATUSES)
LOOKUP_BATCH: Final = 200
"""Words that are looked up together."""
MAX_REFERENCES: Final = 32
"""Entities that one memory references; more are a list of names."""

DictionaryCache = dict[str, tuple[int, "EntityDictionary"]]
"""Visibility key to the store's mark and the dictionary of that state."""

normal_form = lru_cache(maxsize=4_096)(normalize_name)


def named_text(record: Record) -> str:
    """Return the text in which a memory's entities are found: its headings, content and tags."""
    headings = [
        name for name in dict.fromkeys((*record.heading_path, record.title)) if name not in record.content
    ]
    return "\n\n".join((*headings, record.content, *record.tags))


def earlier_mentions(reader: Reader, rows: Sequence[Entity]) -> list[Record]:
    """Return stored memories that may mention new entities."""
    languages = reader.languages()
    if not languages:
        return []
    # In its normal form: "docker-compose" is also meant by "Docker Compose".
    names = {normalize_name(name) for row in rows for name in (row.name, *row.aliases)}
    frequencies = (name_frequency(reader, name, languages) for name in names)
    rarest = {word: count for word, count in frequencies if word is not None}
    rare = [word for word, count in rarest.items() if count <= MAX_EARLIER]
    # All memories with a rare word are wanted, so many such words are looked up at once.
    lookups = [
        (rare[first : first + LOOKUP_BATCH], LOOKUP_BATCH * MAX_EARLIER)
        for first in range(0, len(rare), LOOKUP_BATCH)
    ]
    lookups += [([word], MAX_EARLIER) for word, count in rarest.items() if count > MAX_EARLIER]
    found: dict[str, None] = {}
    for words, limit in lookups:
        found |= dict.fromkeys(hit.id for hit in reader.words(words, RecordFilter()).top(limit))
    return list(reader.get(list(found)).values())


def name_frequency(reader: Reader, name: str, languages: Sequence[str]) -> tuple[TermGroup | None, int]:
    """Return the rarest word of a name and how many stored memories hold it; None and 0 if any word is in none."""
    rarest, least = None, 0
    for group in query_groups(name, languages):
        (count,) = reader.frequencies([group])
        if count == 0:
            return None, 0
        if rarest is None or count < least:
            rarest, least = group, count
    return rarest, least


class NameStats:
    """Counts the connected memories that may mention a name; ``apart`` are ids of the other stored ones."""

    def __init__(self, reader: Reader, apart: Collection[str], connected: int) -> None:
        self._reader = reader
        self._apart = apart
        self._connected = connected
        self._languages = reader.languages() or ("en",)
        self._counts: dict[TermGroup, int] = {}

    def count(self, names: Sequence[str]) -> list[int]:
        """Return how many memories have the rarest word of each name."""
        return [self._count(name) if self._connected else 0 for name in names]

    def _count(self, name: str) -> int:
        group, count = name_frequency(self._reader, name, self._languages)
        if group is None or not self._apart:
            return count
        if group not in self._counts:
            # All of a common word's memories would take long to list.
            certain = min(count - len(self._apart), self._connected)
            if certain < MAX_EARLIER:
                hits = self._reader.words([group], EVERY_STATUS).top(count)
                certain = sum(hit.id not in self._apart for hit in hits)
            self._counts[group] = certain
        return self._counts[group]


class EntityDictionary:
    """The entities of one key's viewers, indexed by name; which entity a name means is resolved on first use."""

    def __init__(self, rows: Iterable[Entity] = ()) -> None:
        self._rows: dict[str, tuple[EntityRow, ...]] = {}
        """Id to the concept's rows, by key."""
        self._names = NameIndex()
        self._owners_by_stem: dict[str, NameOwners] = {}
        self._refused: EntityMatcher | None = None
        self._successor: tuple[int, Sequence[Entity], EntityDictionary] | None = None
        self.add(rows)

    def rows(self, concept: str) -> Sequence[Entity]:
        return [entity_from_row(row) for row in self._rows.get(concept, ())]

    def means(self, name: str) -> str | None:
        """Return the id of the entity that a name means, also of a removed one, or None."""
        return self._owner(normal_form(name))

    def _owner(self, folded: str) -> str | None:
        """Prefer entities that are not removed, then a name to an alias, then the smallest id."""
        rows = self._rows_of_stem(number_stem(folded))
        if not rows:
            return None
        shown = {concept.id for concept in merge_entities(rows)}
        ranked = [
            (row.id not in shown, place > 0, row.id)
            for row in rows
            for place, name in enumerate((row.name, *row.aliases))
            if normal_form(name) == folded
        ]
        return min(ranked)[2] if ranked else None

    def _rows_of_stem(self, of: str) -> list[Entity]:
        return [row for concept in self._names.bearers(of) for row in self.rows(concept)]

    def _owners(self, of: str) -> NameOwners:
        if of not in self._owners_by_stem:
            self._owners_by_stem[of] = name_owners(merge_entities(self._rows_of_stem(of)))
        return self._owners_by_stem[of]

    def extended(self, rows: Iterable[Entity]) -> EntityDictionary:
        """Return a copy with more rows."""
        found = self._copy()
        found.add(rows)
        return found

    def updated(self, rows: Sequence[EntityRow]) -> EntityDictionary:
        """Return a copy with the current rows of the store."""
        current, old = _by_id(rows), self._rows
        changed = {entity: own for entity, own in current.items() if old.get(entity) != own}
        found = self._copy()
        found._replace(changed, old.keys() - current.keys())
        return found

    def add(self, rows: Iterable[Entity]) -> None:
        """Add rows; each replaces that of its key and entity."""
        changed: dict[str, tuple[EntityRow, ...]] = {}
        for row in map(entity_to_row, rows):
            others = changed.get(row[0]) or self._rows.get(row[0], ())
            changed[row[0]] = tuple(sorted((*(other for other in others if other[1] != row[1]), row)))
        self._replace(changed)

    def _copy(self) -> EntityDictionary:
        found = copy.copy(self)
        found._rows = self._rows.copy()
        found._owners_by_stem = self._owners_by_stem.copy()
        found._names = self._names.copy()
        found._successor = None
        return found

    def _replace(self, changed: dict[str, tuple[EntityRow, ...]], gone: Iterable[str] = ()) -> None:
        before = [self._rows.pop(concept, ()) for concept in (*changed, *gone)] if self._rows else ()
        self._rows |= changed
        if self._owners_by_stem:  # which depend on all entities of a stem
            for spelling, _ in _names_with_ids(chain.from_iterable((*before, *changed.values()))):
                for of in name_stems(spelling):
                    self._owners_by_stem.pop(of, None)
        self._refused = None
        self._names.learn(_names_with_ids(chain.from_iterable(changed.values())))

    def set_successor(self, mark: int, rows: Sequence[Entity], successor: EntityDictionary) -> None:
        """Set the dictionary that replaces this one once these rows are written and the store has this mark."""
        self._successor = mark, rows, successor

    def successor(self, reader: Reader, mark: int) -> EntityDictionary | None:
        """Return the successor if the store has its mark and rows, since then nothing else has changed."""
        if self._successor is None or self._successor[0] != mark:
            return None
        _, rows, successor = self._successor
        stored = set(reader.concepts([row.id for row in rows]))
        return successor if stored.issuperset(rows) else None

    def discover(
        self,
        records: Sequence[Record],
        secret: bytes,
        key: str,
        at: int,
        stored_mentions: Callable[..., Sequence[int]],
    ) -> list[Entity]:
        """Return the entities that memories introduce, as rows of their key."""
        new: list[Entity] = []
        names: set[str] = set()
        for item in discover_names([_passage(record) for record in records], stored_mentions):
            name = normal_form(item.name)
            # A name in the other number is found already by the known one.
            known = any(one in names or self._owner(one) is not None for one in (name, other_number(name)))
            if name and not known and not self._is_refused(item.name):
                aliases = {
                    alias
                    for alias in item.aliases
                    if alias != item.name and self.means(alias) is None and normal_form(alias) not in names
                }
                new.append(
                    Entity(entity_id(secret, name), key, item.name, tuple(sorted(aliases)), item.kind, at)
                )
                names.update(normal_form(one) for one in (item.name, *aliases))
        return new

    def _is_refused(self, name: str) -> bool:
        if self._refused is None:
            rows = (row for own in self._rows.values() for row in own if row[4] == "refused")
            self._refused = EntityMatcher(map(entity_from_row, rows))
        if not self._refused:
            return False
        return any((m.start, m.end) == (0, len(name)) for m in self._refused.match(name))

    def references(self, record: Record, at: int, key: str | None = None) -> list[Edge]:
        """Return the edges from a memory to the entities it mentions; 1, 2, 3 mentions weigh 1/2, 3/4, 7/8."""
        found = find_mentions(named_text(record), self._names, self._owners)
        ranked = sorted(found, key=lambda mention: (-mention.count, mention.concept))[:MAX_REFERENCES]
        edges = []
        for mention in ranked:
            weight = 1 - 0.5 ** min(mention.count, 20)
            edges.append(
                Edge(record.id, "references", mention.concept, key or record.key, weight, at, rule="name")
            )
        return edges


def _passage(record: Record) -> DiscoveryPassage:
    links = extract_links(record.content) if "[[" in record.content else ()
    pages = tuple(target.name for target in links if target.rule == "wikilink" and target.name)
    path = (
        f"{record.place.source}/{record.place.path}"
        if record.place is not None
        else record.session or record.id
    )
    return DiscoveryPassage(record.content, record.title, record.heading_path, record.tags, pages, path)


def _by_id(rows: Sequence[EntityRow]) -> dict[str, tuple[EntityRow, ...]]:
    found: dict[str, tuple[EntityRow, ...]] = {row[0]: (row,) for row in rows}
    if len(found) < len(rows):  # several keys know of one
        found = {}
        for row in rows:
            found[row[0]] = tuple(sorted((*found.get(row[0], ()), row)))
    return found


def _names_with_ids(rows: Iterable[EntityRow]) -> Iterator[tuple[str, str]]:
    for concept, _, name, aliases, _, _ in rows:
        yield name, concept
        if aliases:
            for alias in aliases:
                yield alias, concept


def cached_dictionary(reader: Reader, key: str, cache: DictionaryCache) -> EntityDictionary:
    """Return the dictionary of a key's viewers, which is updated only if their entities have changed."""
    mark = reader.concept_mark()
    cached_mark, dictionary = cache.get(key, (None, EntityDictionary()))
    if cached_mark != mark:
        successor = dictionary.successor(reader, mark)
        dictionary = successor if successor is not None else dictionary.updated(reader.concept_rows())
        cache[key] = mark, dictionary
    return dictionary
