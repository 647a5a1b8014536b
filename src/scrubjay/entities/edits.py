"""Entity edits: import, rename, merge and remove entities, and link earlier mentions.

Rows are written before edges are moved and dropped after, in transactions of bounded size: an interrupted edit leaves
every memory with one of the two, and the same call completes it. An edge to an entity is visible to exactly those who
see both the memory and the entity, and it depends only on names that all of them know.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.entities.dictionary import DictionaryCache, EntityDictionary, cached_dictionary, normal_form
from scrubjay.entities.normalization import name_objection, normalize_name, required_case
from scrubjay.errors import InputError
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Edge, Entity, merge_entities
from scrubjay.models.ids import entity_id
from scrubjay.models.records import STATUSES, Record, RecordFilter, Scope
from scrubjay.models.views import DictionaryReport
from scrubjay.redaction.redactor import redact_text
from scrubjay.storage.changes import Change, DropConcept, DropEdges, PutConcept, PutEdges
from scrubjay.storage.interface import Reader, Store
from scrubjay.text.tokenizer import query_groups


@dataclass(frozen=True, slots=True)
class EntityNames:
    """What a person calls one entity.

    Attributes:
        name: Its display name.
        aliases: Other names.
        where: Prefix of errors about it (``line 7: ``), or an empty string.
    """

    name: str
    aliases: tuple[str, ...] = ()
    where: str = ""


LineErrors = list[tuple[str, str]]
"""What was not taken, and why."""


def parse_dictionary(data: bytes) -> tuple[list[EntityNames], LineErrors]:
    """Parse a CSV file of names with aliases; return the entities, and each invalid line with the reason."""
    found: list[EntityNames] = []
    broken: LineErrors = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = raw.decode("utf-8").strip()
            names = next(csv.reader([text], skipinitialspace=True, strict=True), [])
        except UnicodeDecodeError as error:
            broken.append((f"line {number}", f"it is not UTF-8 at byte {error.start}"))
            continue
        except csv.Error as error:
            broken.append((f"line {number}", f"it is no CSV: {error}"))
            continue
        if names and not text.startswith("#"):
            name, *aliases = map(tidy_name, names)
            found.append(EntityNames(name, tuple(filter(None, aliases)), f"line {number}: "))
    return found, broken


def parse_names(rows: Iterable[object]) -> list[EntityNames]:
    """Parse entities that are each a name, or a list of a name and its aliases.

    Raises:
        InputError: A row is neither.
    """
    found = []
    for row in rows:
        names = [row] if isinstance(row, str) else list(row) if isinstance(row, list | tuple) else []
        if not names or not all(isinstance(name, str) for name in names):
            raise InputError(
                f"{row!r} is neither a name nor a list of a name and its aliases. Nothing was written."
            )
        name, *aliases = map(tidy_name, names)
        found.append(EntityNames(name, tuple(aliases)))
    return found


def tidy_name(name: str) -> str:
    return " ".join(name.split())


def name_refusal(name: str) -> str | None:
    """Return why a name that a person gives is invalid, or None.

    >>> name_refusal("the"), name_refusal("Kubernetes")
    ('it is a common word', None)
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return "it holds half a character"
    if not name.isprintable() and any(unicodedata.category(char) == "Cc" for char in name):
        return "it holds a control character"
    found = name_objection(name, given=True)
    if found is None and redact_text(name).counts:
        return "it holds a secret"
    return found


def check_names(name: str) -> None:
    """Raise an `InputError` if a name is invalid."""
    why = name_refusal(name)
    if why is not None:
        raise InputError(f'"{name}" cannot be the name of a concept: {why}. Nothing was written.')


FEW_NAMES: Final = 200
"""Names that are looked up by their words; for more, every memory is read once."""
FEW_MEMORIES: Final = 2_000
"""Memories that are all read whatever is looked for: it takes .1 s, and finds what bears a name as tag alone."""
MANY_HOLDERS: Final = 20_000
"""Memories that hold a name's rarest word above which every memory is read instead."""
READ_BATCH: Final = 1_000
"""Memories held in RAM at a time."""
LINK_BATCH: Final = 2_000
"""Edges of one transaction: others wait no longer than some tens of milliseconds for their turn."""


def link_earlier_mentions(store: Store, scope: Scope, rows: Sequence[Entity], kept: DictionaryCache) -> int:
    """Link the visible memories that mention just written entities; return how many were not linked before.

    It may be interrupted and called again.

    Args:
        store: The store.
        scope: Who named them.
        rows: The rows.
        kept: Dictionaries of the scope.
    """
    if not rows:
        return 0
    concepts = {row.id for row in rows}
    keys = {row.key for row in rows}
    names = list(dict.fromkeys(name for row in rows for name in (row.name, *row.aliases)))
    words: dict[str, EntityDictionary] = {}
    linked = 0
    at = now_micros()
    for key in scope.keys:
        viewer = scope.seen_with(key)
        for records in _memories(
            store, viewer, names
        ):  # chosen among what the edge's viewers see, as it is judged
            bearing = [record for record in records if key in _seen_under(record.key, keys, scope)]
            if bearing and key not in words:
                with store.reader(viewer) as reader:
                    words[key] = cached_dictionary(reader, key, kept)
            found = [e for r in bearing for e in words[key].references(r, at, key) if e.dst in concepts]
            edges, fresh = _missing(store, scope, found)
            linked += fresh
            for first in range(0, len(edges), LINK_BATCH):
                store.write(scope, [PutEdges(tuple(edges[first : first + LINK_BATCH]))])
    return linked


def _memories(store: Store, scope: Scope, names: Sequence[str]) -> Iterator[list[Record]]:
    with store.reader(scope) as reader:
        ids = _holding(reader, names)
    if ids is None:
        after = ""
        while True:
            with store.reader(scope) as reader:
                records = reader.page(after, READ_BATCH)
            if not records:
                return
            yield records
            after = records[-1].id
    for first in range(0, len(ids), READ_BATCH):
        with store.reader(scope) as reader:
            records = list(reader.get(ids[first : first + READ_BATCH]).values())
        yield records


def _holding(reader: Reader, names: Sequence[str]) -> list[str] | None:
    tongues = reader.languages()
    if len(names) > FEW_NAMES or reader.counts().memories <= FEW_MEMORIES:
        return None
    found: dict[str, None] = {}
    for name in names:
        asked = query_groups(normalize_name(name), tongues)
        counts = reader.frequencies(asked)
        least = min(counts, default=MANY_HOLDERS + 1)
        if least > MANY_HOLDERS:
            return None
        if least:
            rarest = asked[counts.index(least)]
            hits = reader.words([rarest], RecordFilter(statuses=STATUSES)).top(least)
            found |= dict.fromkeys(hit.id for hit in hits)
    return list(found)


def _seen_under(key: str, concepts: Collection[str], scope: Scope) -> set[str]:
    if not set(concepts).isdisjoint(scope.seen_with(key).keys):
        return {key}
    return {each for each in concepts if key in scope.seen_with(each).keys} or {scope.key()}


def _missing(store: Store, scope: Scope, edges: list[Edge]) -> tuple[list[Edge], int]:
    if not edges:
        return [], 0
    with store.reader(scope) as reader:
        there = reader.edges(list(dict.fromkeys(edge.src for edge in edges)), ["references"])
    weights = {(edge.src, edge.dst, edge.key): edge.weight for edge in there}
    linked = {(edge.src, edge.dst) for edge in there}
    missing = [edge for edge in edges if weights.get((edge.src, edge.dst, edge.key)) != edge.weight]
    return missing, len({edge.src for edge in missing if (edge.src, edge.dst) not in linked})


TEACH_BATCH: Final = 2_000
"""Concepts of one transaction."""


def teach_names(
    store: Store, scope: Scope, terms: Sequence[EntityNames], key: str, kept: DictionaryCache
) -> DictionaryReport:
    """Add entities to the dictionary of one visibility key, and link the memories that mention them.

    A name that is known already adds its aliases to that entity, and a removed entity comes back.

    Args:
        store: The store.
        scope: Who gives the names.
        terms: The names; invalid ones are reported.
        key: The key, one of the scope's.
        kept: Dictionaries of the scope.
    """
    secret = store.secret(scope)  # not within a reader: of a new store it is made now
    with store.reader(scope.seen_with(key)) as reader:
        page = _DictionaryPage(cached_dictionary(reader, key, kept), key, secret)
    refused: LineErrors = []
    for one in terms:
        refused += page.take(one)
    written = page.written()
    hidden = _hidden(store, scope, page.rows, key)
    for first in range(0, len(written), TEACH_BATCH):
        store.write(scope, [PutConcept(row) for row in written[first : first + TEACH_BATCH]])
    if hidden:
        store.write(scope, hidden)
    linked = link_earlier_mentions(store, scope, list(page.rows.values()), kept)
    return DictionaryReport(
        page.added, len(written) - page.added, linked, tuple(refused), tuple(page.clashes)
    )


class _DictionaryPage:
    """Rows to write into the dictionary of one key.

    Attributes:
        rows: The row of every entity that was named, by id.
        added: Number of new ones.
        clashes: Aliases that another entity already has, a sentence each.
    """

    def __init__(self, words: EntityDictionary, key: str, secret: bytes) -> None:
        self._words, self._key, self._secret, self._at = words, key, secret, now_micros()
        self._means: dict[str, str] = {}
        self.rows: dict[str, Entity] = {}
        self.added = 0
        self.clashes: list[str] = []

    def take(self, terms: EntityNames) -> LineErrors:
        """Add one entity; return its invalid names with the reasons."""
        why = name_refusal(terms.name)
        if why is not None:
            return [(f"{terms.where}{terms.name}", why)]
        out = {alias: why for alias in terms.aliases if (why := name_refusal(alias)) is not None}
        named = normal_form(terms.name)
        identity = self._meant(terms.name) or entity_id(self._secret, named)
        row = self.rows.get(identity) or self._row(identity, terms.name)
        aliases = [alias for alias in terms.aliases if alias not in out]
        names = _distinct(row.name, (*row.aliases, terms.name, *aliases))
        self.rows[identity] = replace(row, aliases=tuple(sorted(names)))
        self._means[named] = identity
        for alias in aliases:
            self._claim(alias, self.rows[identity])
        return [(f"{terms.where}{alias}", why) for alias, why in out.items()]

    def _meant(self, name: str) -> str | None:
        return self._means.get(normal_form(name)) or self._words.means(name)

    def _claim(self, alias: str, row: Entity) -> None:
        other = self._meant(alias)
        rows = (
            []
            if other is None
            else merge_entities([self.rows[other]] if other in self.rows else self._words.rows(other))
        )
        if rows and other != row.id:
            self.clashes.append(f'"{alias}" means {rows[0].name} already; it does not find {row.name}.')
        else:
            self._means[normal_form(alias)] = row.id

    def _row(self, identity: str, name: str) -> Entity:
        rows = self._words.rows(identity)
        known = merge_entities(rows)
        if not known:
            self.added += 1
            return Entity(identity, self._key, name, (), "given", self._at)
        (one,) = known
        # A person's spelling goes before one that was found.
        shown = name if one.kind != "given" and normal_form(one.name) == normal_form(name) else one.name
        own = [each for row in rows if row.key == self._key for each in (row.name, *row.aliases)]
        return Entity(identity, self._key, shown, tuple(own), "given", self._at)

    def written(self) -> list[Entity]:
        """Return the rows that differ from the stored ones."""
        return [
            row
            for row in self.rows.values()
            if not any(replace(old, at=row.at) == row for old in self._words.rows(row.id))
        ]


def _distinct(name: str, aliases: Iterable[str]) -> set[str]:
    kept: dict[object, str] = {(normal_form(name), "any"): name, name: name}
    for alias in aliases:
        loose = required_case(alias) == "any"
        kept.setdefault((normal_form(alias), "any") if loose else alias, alias)
    return set(kept.values()) - {name}


def _hidden(store: Store, scope: Scope, concepts: Iterable[str], key: str) -> list[Change]:
    """Return the changes that drop the writer's own refusals of entities that they now share with others."""
    own = scope.key()
    if own == key:
        return []
    with store.reader(scope) as reader:
        rows = reader.concepts(list(concepts))
    return [DropConcept(row.id, own) for row in rows if row.key == own and row.kind == "refused"]


EDIT_BATCH: Final = 1_000
"""Memories whose edges are moved in one transaction: two edges each, as many again where keys are several."""


def merge_entity(store: Store, scope: Scope, one: str, into: str) -> None:
    """Make one entity part of another, with its names and references.

    Args:
        store: The store.
        scope: Who merges.
        one: Id of the entity that ends.
        into: Id of the other.
    """
    now = now_micros()
    with store.reader(scope) as reader:
        rows = reader.concepts([one, into])
    ended = [row for row in rows if row.id == one and row.kind != "refused"]
    store.write(scope, [PutConcept(_with_names_of(row, into, rows, scope, now)) for row in ended])
    moved = _edges(store, scope, one)
    there = {(edge.src, edge.key): edge for edge in _edges(store, scope, into)}
    memories: dict[str, list[Edge]] = {}
    for edge in moved:
        old = there.get((edge.src, edge.key))
        # The mentions of both names together: 1/2 and 3/4 are one and two, three are 7/8.
        weight = edge.weight if old is None else 1 - (1 - edge.weight) * (1 - old.weight)
        memories.setdefault(edge.src, []).append(replace(edge, dst=into, weight=weight, at=now))
    waiting = list(memories.items())
    for first in range(0, len(waiting), EDIT_BATCH):
        batch = waiting[first : first + EDIT_BATCH]
        put = PutEdges(tuple(edge for _, edges in batch for edge in edges))
        store.write(scope, [put, DropEdges(tuple((src, "references", one) for src, _ in batch))])
    store.write(scope, [DropConcept(one, row.key) for row in ended])


def _with_names_of(row: Entity, into: str, rows: Sequence[Entity], scope: Scope, now: int) -> Entity:
    """Return the other entity's row of the same key, with the names of this one.

    Where the key has none, its name is what viewers of the key know: a merge does not reveal a name to others.
    """
    seen = scope.seen_with(row.key).keys
    held = [other for other in rows if other.id == into and other.key == row.key]
    known = merge_entities(other for other in rows if other.id == into and other.key in seen)
    if held:
        base = replace(held[0], kind=row.kind if held[0].kind == "refused" else held[0].kind)
    elif known:
        base = Entity(into, row.key, known[0].name, (), known[0].kind)
    else:
        base = Entity(into, row.key, row.name, (), row.kind)
    names = {*base.aliases, row.name, *row.aliases} - {base.name}
    return replace(base, aliases=tuple(sorted(names)), at=now)


def _edges(store: Store, scope: Scope, concept: str) -> list[Edge]:
    found: list[Edge] = []
    for key in scope.keys:
        with store.reader(scope.seen_with(key)) as reader:
            edges = reader.edges([concept], ["references"], inward=True)
        found += [edge for edge in edges if edge.key == key]
    return found


def rename_entity(store: Store, scope: Scope, concept: str, to: str, kept: DictionaryCache) -> None:
    """Rename an entity; the old name becomes an alias, and the id stays.

    Raises:
        InputError: The new name is invalid, or another entity has it.
    """
    to = tidy_name(to)
    check_names(to)
    now = now_micros()
    with store.reader(scope) as reader:
        words = cached_dictionary(reader, scope.key(), kept)
    rows = [row for row in words.rows(concept) if row.kind != "refused"]
    meant = words.means(to)
    others = merge_entities(words.rows(meant)) if meant is not None and meant != concept else []
    for other in others:
        raise InputError(
            f'"{to}" already means {other.name} ({other.id}). Nothing was written.',
            hint=f"the two become one with `scrubjay concepts merge {concept} {other.id}`",
        )
    renamed = [
        replace(row, name=to, aliases=_without(to, (row.name, *row.aliases)), kind="given", at=now)
        for row in rows
    ]
    store.write(scope, [PutConcept(row) for row in renamed])
    link_earlier_mentions(store, scope, renamed, kept)


def _without(name: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({each for each in names if each != name}))


def remove_entity(store: Store, scope: Scope, concept: str) -> None:
    """Remove an entity from the dictionary with its references; it is not discovered again."""
    now = now_micros()
    with store.reader(scope) as reader:
        rows = reader.concepts([concept])
        edges = reader.edges([concept], ["references"], inward=True)
    refused: list[Change] = [
        PutConcept(replace(row, kind="refused", at=now)) for row in rows if row.kind != "refused"
    ]
    if refused:
        store.write(scope, refused)
    names = [(edge.src, edge.kind, edge.dst) for edge in edges]
    for first in range(0, len(names), EDIT_BATCH):
        store.write(scope, [DropEdges(tuple(names[first : first + EDIT_BATCH]))])
