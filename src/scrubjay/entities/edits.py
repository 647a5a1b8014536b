"""Entity edits: import, rename, merge and remove entities, and link earlier mentions.

Rows are written before edges are moved and dropped after, in transactions of bounded size: an interrupted edit leaves
every memory with one of the two, and the same call completes it. An edge to an entity is visible to exactly those who
see both the memory and the entity, and it depends only on names that all of them know.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.entities.dictionary import DictionaryCache, EntityDictionary, cached_dictionary, normal_form
from scrubjay.entities.normalization import name_objection, normalize_name, required_case
from scrubjay.errors import InputError
from scrubjay.frozen import frozen
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Edge, Entity, merge_entities
from scrubjay.models.ids import entity_id
from scrubjay.models.records import STATUSES, Record, RecordFilter, Scope
from scrubjay.models.views import DictionaryReport
from scrubjay.redaction.redactor import redact_text
from scrubjay.storage.changes import Change, DropConcept, DropEdges, PutConcept, PutEdges
from scrubjay.storage.interface import Reader, Store, in_batches
from scrubjay.text.tokenizer import query_groups


@frozen
class EntityNames:
    """What a person calls one entity.

    Attributes:
        where: Prefix of errors about it (``line 7: ``), or an empty string.
    """

    name: str
    aliases: tuple[str, ...] = ()
    where: str = ""


LineErrors = list[tuple[str, str]]
"""Invalid lines or names, each with the reason."""

FEW_NAMES: Final = 200
"""Names that are looked up by their words; for more, every memory is read once."""
FEW_MEMORIES: Final = 2_000
"""Memories that are all read: it takes .1 s, and also finds names that occur as a tag alone."""
MANY_HOLDERS: Final = 20_000
"""Memories with a name's rarest word above which every memory is read instead."""
READ_BATCH: Final = 1_000
WRITE_BATCH: Final = 2_000
"""Rows or edges of one transaction, so that other writers wait some tens of milliseconds at most."""
EDIT_BATCH: Final = 1_000
"""Memories whose edges are moved in one transaction: two edges each, as many again with several keys."""


def parse_dictionary(data: bytes) -> tuple[list[EntityNames], LineErrors]:
    """Parse a CSV file of names with aliases; return the entities, and each invalid line with the reason."""
    found: list[EntityNames] = []
    errors: LineErrors = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = raw.decode("utf-8").strip()
            names = next(csv.reader([text], skipinitialspace=True, strict=True), [])
        except UnicodeDecodeError as error:
            errors.append((f"line {number}", f"it is not UTF-8 at byte {error.start}"))
            continue
        except csv.Error as error:
            errors.append((f"line {number}", f"it is not valid CSV: {error}"))
            continue
        if names and not text.startswith("#"):
            name, *aliases = map(tidy_name, names)
            found.append(EntityNames(name, tuple(filter(None, aliases)), f"line {number}: "))
    return found, errors


def parse_names(rows: Iterable[object]) -> list[EntityNames]:
    """Parse entities that are each a name, or a list of a name and its aliases.

    Raises:
        InputError: A row is neither.
    """
    found = []
    for row in rows:
        if isinstance(row, str):
            row = [row]
        names = list(row) if isinstance(row, list | tuple) else []
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
        return "it contains an unpaired surrogate"
    if not name.isprintable() and any(unicodedata.category(char) == "Cc" for char in name):
        return "it contains a control character"
    objection = name_objection(name, given=True)
    if objection is None and redact_text(name).counts:
        return "it contains a secret"
    return objection


def check_names(name: str) -> None:
    """Raise an `InputError` if a name is invalid."""
    why = name_refusal(name)
    if why is not None:
        raise InputError(f'"{name}" cannot be the name of a concept: {why}. Nothing was written.')


def link_earlier_mentions(store: Store, scope: Scope, rows: Sequence[Entity], cache: DictionaryCache) -> int:
    """Link the visible memories that mention just written entities; return how many were not linked before.

    It may be interrupted and called again.
    """
    if not rows:
        return 0
    ids = {row.id for row in rows}
    keys = {row.key for row in rows}
    names = list(dict.fromkeys(name for row in rows for name in (row.name, *row.aliases)))
    linked = 0
    at = now_micros()
    for key in scope.keys:
        viewer = scope.seen_with(key)
        dictionary: EntityDictionary | None = None
        for records in _possible_mentions(store, viewer, names):
            records = [record for record in records if key in _edge_keys(record.key, keys, scope)]
            if records and dictionary is None:
                with store.reader(viewer) as reader:
                    dictionary = cached_dictionary(reader, key, cache)
            edges = [
                edge
                for record in records
                for edge in (dictionary.references(record, at, key) if dictionary else ())
                if edge.dst in ids
            ]
            missing, fresh = _missing_edges(store, scope, edges)
            linked += fresh
            for batch in in_batches(missing, WRITE_BATCH):
                store.write(scope, [PutEdges(tuple(batch))])
    return linked


def _possible_mentions(store: Store, scope: Scope, names: Sequence[str]) -> Iterator[list[Record]]:
    with store.reader(scope) as reader:
        ids = _ids_with_names(reader, names)
    if ids is None:
        after = ""
        while True:
            with store.reader(scope) as reader:
                records = reader.page(after, READ_BATCH)
            if not records:
                return
            yield records
            after = records[-1].id
    for batch in in_batches(ids, READ_BATCH):
        with store.reader(scope) as reader:
            records = list(reader.get(batch).values())
        yield records


def _ids_with_names(reader: Reader, names: Sequence[str]) -> list[str] | None:
    if len(names) > FEW_NAMES or reader.counts().memories <= FEW_MEMORIES:
        return None
    languages = reader.languages()
    found: dict[str, None] = {}
    for name in names:
        groups = query_groups(normalize_name(name), languages)
        counts = reader.frequencies(groups)
        least = min(counts, default=MANY_HOLDERS + 1)
        if least > MANY_HOLDERS:
            return None
        if least:
            rarest = groups[counts.index(least)]
            hits = reader.words([rarest], RecordFilter(statuses=STATUSES)).top(least)
            found |= dict.fromkeys(hit.id for hit in hits)
    return list(found)


def _edge_keys(key: str, entity_keys: Collection[str], scope: Scope) -> set[str]:
    """Return the keys of a memory's edges: its own if its viewers see the entity, else the entity's or the writer's."""
    if not set(entity_keys).isdisjoint(scope.seen_with(key).keys):
        return {key}
    return {entity_key for entity_key in entity_keys if key in scope.seen_with(entity_key).keys} or {
        scope.key()
    }


def _missing_edges(store: Store, scope: Scope, edges: list[Edge]) -> tuple[list[Edge], int]:
    if not edges:
        return [], 0
    with store.reader(scope) as reader:
        stored = reader.edges(list(dict.fromkeys(edge.src for edge in edges)), ["references"])
    weights = {(edge.src, edge.dst, edge.key): edge.weight for edge in stored}
    linked = {(edge.src, edge.dst) for edge in stored}
    missing = [edge for edge in edges if weights.get((edge.src, edge.dst, edge.key)) != edge.weight]
    return missing, len({edge.src for edge in missing if (edge.src, edge.dst) not in linked})


def teach_names(
    store: Store, scope: Scope, terms: Sequence[EntityNames], key: str, cache: DictionaryCache
) -> DictionaryReport:
    """Add entities to the dictionary of one visibility key, and link the memories that mention them.

    A name that is known already adds its aliases to that entity, and a removed entity comes back.

    Invalid names are reported.

    Raises:
        StoreConflictError: Others changed the entities meanwhile; the same holds for the other edits.
    """
    secret = store.secret(scope)  # outside of a reader: a new store creates it now
    with store.reader(scope.seen_with(key)) as reader:
        draft = _DictionaryDraft(cached_dictionary(reader, key, cache), key, secret)
    refused: LineErrors = []
    for term in terms:
        refused += draft.add(term)
    written = draft.changed_rows()
    drops = _drops_of_own_refusals(store, scope, draft.rows, key)
    for batch in in_batches(written, WRITE_BATCH):
        store.write(scope, [PutConcept(row, draft.stored(row)) for row in batch])
    if drops:
        store.write(scope, drops)
    linked = link_earlier_mentions(store, scope, list(draft.rows.values()), cache)
    return DictionaryReport(
        draft.added, len(written) - draft.added, linked, tuple(refused), tuple(draft.clashes)
    )


class _DictionaryDraft:
    """Rows to write into the dictionary of one key.

    Attributes:
        rows: The row of every entity that was named, by id.
        clashes: Aliases that another entity already has, a sentence each.
    """

    def __init__(self, dictionary: EntityDictionary, key: str, secret: bytes) -> None:
        self._dictionary, self._key, self._secret, self._at = dictionary, key, secret, now_micros()
        self._ids: dict[str, str] = {}
        self.rows: dict[str, Entity] = {}
        self.added = 0
        self.clashes: list[str] = []

    def add(self, names: EntityNames) -> LineErrors:
        """Add one entity; return its invalid names with the reasons."""
        reason = name_refusal(names.name)
        if reason is not None:
            return [(f"{names.where}{names.name}", reason)]
        refused = {alias: why for alias in names.aliases if (why := name_refusal(alias)) is not None}
        normal = normal_form(names.name)
        entity = self._id_of(names.name) or entity_id(self._secret, normal)
        row = self.rows.get(entity) or self._row(entity, names.name)
        aliases = [alias for alias in names.aliases if alias not in refused]
        row = replace(
            row, aliases=tuple(sorted(_distinct_aliases(row.name, (*row.aliases, names.name, *aliases))))
        )
        self.rows[entity] = row
        self._ids[normal] = entity
        for alias in aliases:
            other = self._id_of(alias)
            rows: list[Entity] = []
            if other is not None and other != entity:
                rows = [self.rows[other]] if other in self.rows else [*self._dictionary.rows(other)]
            if known := merge_entities(rows):
                self.clashes.append(
                    f'"{alias}" already means {known[0].name}, so it does not find {row.name}.'
                )
            else:
                self._ids[normal_form(alias)] = entity
        return [(f"{names.where}{alias}", why) for alias, why in refused.items()]

    def _id_of(self, name: str) -> str | None:
        return self._ids.get(normal_form(name)) or self._dictionary.means(name)

    def _row(self, entity: str, name: str) -> Entity:
        rows = self._dictionary.rows(entity)
        known = merge_entities(rows)
        if not known:
            self.added += 1
            return Entity(entity, self._key, name, (), "given", self._at)
        (stored,) = known
        # A person's spelling replaces one that was found.
        respelled = stored.kind != "given" and normal_form(stored.name) == normal_form(name)
        displayed = name if respelled else stored.name
        own = [spelling for row in rows if row.key == self._key for spelling in (row.name, *row.aliases)]
        return Entity(entity, self._key, displayed, tuple(own), "given", self._at)

    def stored(self, row: Entity) -> tuple[Entity, ...]:
        """Return the row of the same key as it is stored, if there is one."""
        return tuple(old for old in self._dictionary.rows(row.id) if old.key == row.key)

    def changed_rows(self) -> list[Entity]:
        """Return the rows that differ from the stored ones."""
        return [
            row
            for row in self.rows.values()
            if not any(replace(old, at=row.at) == row for old in self._dictionary.rows(row.id))
        ]


def _distinct_aliases(name: str, aliases: Iterable[str]) -> set[str]:
    by_form: dict[object, str] = {(normal_form(name), "any"): name, name: name}
    for alias in aliases:
        loose = required_case(alias) == "any"
        by_form.setdefault((normal_form(alias), "any") if loose else alias, alias)
    return set(by_form.values()) - {name}


def _drops_of_own_refusals(store: Store, scope: Scope, concepts: Iterable[str], key: str) -> list[Change]:
    """Return the changes that drop the writer's own refusals of entities that they now share with others."""
    own = scope.key()
    if own == key:
        return []
    with store.reader(scope) as reader:
        rows = reader.concepts(list(concepts))
    return [DropConcept(row.id, own, (row,)) for row in rows if row.key == own and row.kind == "refused"]


def merge_entity(store: Store, scope: Scope, source: str, into: str) -> None:
    """Merge the entity ``source`` into another, with its names and references."""
    now = now_micros()
    with store.reader(scope) as reader:
        rows = reader.concepts([source, into])
    rows_of_source = [row for row in rows if row.id == source and row.kind != "refused"]
    merged = [
        PutConcept(
            _merged_row(row, into, rows, scope, now),
            tuple(other for other in rows if (other.id, other.key) == (into, row.key)),
        )
        for row in rows_of_source
    ]
    store.write(scope, merged)
    present = {(edge.src, edge.key): edge for edge in _inward_references(store, scope, into)}
    memories: dict[str, list[Edge]] = {}
    for edge in _inward_references(store, scope, source):
        old = present.get((edge.src, edge.key))
        # The mentions of both names together: 1/2 and 3/4 are one and two, three are 7/8.
        weight = edge.weight if old is None else 1 - (1 - edge.weight) * (1 - old.weight)
        memories.setdefault(edge.src, []).append(replace(edge, dst=into, weight=weight, at=now))
    moves = list(memories.items())
    for batch in in_batches(moves, EDIT_BATCH):
        put = PutEdges(tuple(edge for _, edges in batch for edge in edges))
        store.write(scope, [put, DropEdges(tuple((src, "references", source) for src, _ in batch))])
    store.write(scope, [DropConcept(source, row.key, (row,)) for row in rows_of_source])


def _merged_row(row: Entity, into: str, rows: Sequence[Entity], scope: Scope, now: int) -> Entity:
    """Return the other entity's row of the same key, with the names of this one.

    Where the key has none, its name is what viewers of the key know: a merge does not reveal a name to others.
    """
    visible = scope.seen_with(row.key).keys
    existing = [other for other in rows if other.id == into and other.key == row.key]
    known = merge_entities(other for other in rows if other.id == into and other.key in visible)
    if existing:
        base = replace(existing[0], kind=row.kind if existing[0].kind == "refused" else existing[0].kind)
    elif known:
        base = Entity(into, row.key, known[0].name, (), known[0].kind)
    else:
        base = Entity(into, row.key, row.name, (), row.kind)
    names = {*base.aliases, row.name, *row.aliases} - {base.name}
    return replace(base, aliases=tuple(sorted(names)), at=now)


def _inward_references(store: Store, scope: Scope, concept: str) -> list[Edge]:
    found: list[Edge] = []
    for key in scope.keys:
        with store.reader(scope.seen_with(key)) as reader:
            edges = reader.edges([concept], ["references"], inward=True)
        found += [edge for edge in edges if edge.key == key]
    return found


def rename_entity(store: Store, scope: Scope, concept: str, to: str, cache: DictionaryCache) -> None:
    """Rename an entity; the old name becomes an alias, and the id stays.

    Raises:
        InputError: The new name is invalid, or another entity has it.
    """
    to = tidy_name(to)
    check_names(to)
    now = now_micros()
    with store.reader(scope) as reader:
        dictionary = cached_dictionary(reader, scope.key(), cache)
    rows = [row for row in dictionary.rows(concept) if row.kind != "refused"]
    owner = dictionary.means(to)
    others = merge_entities(dictionary.rows(owner)) if owner is not None and owner != concept else []
    for other in others:
        raise InputError(
            f'"{to}" already means {other.name} ({other.id}). Nothing was written.',
            hint=f"the two become one with `scrubjay concepts merge {concept} {other.id}`",
        )
    renamed = [
        replace(row, name=to, aliases=tuple(sorted({row.name, *row.aliases} - {to})), kind="given", at=now)
        for row in rows
    ]
    store.write(scope, [PutConcept(new, (old,)) for new, old in zip(renamed, rows, strict=True)])
    link_earlier_mentions(store, scope, renamed, cache)


def remove_entity(store: Store, scope: Scope, concept: str) -> None:
    """Remove an entity from the dictionary with its references; it is not discovered again."""
    now = now_micros()
    with store.reader(scope) as reader:
        rows = reader.concepts([concept])
        edges = reader.edges([concept], ["references"], inward=True)
    refused: list[Change] = [
        PutConcept(replace(row, kind="refused", at=now), (row,)) for row in rows if row.kind != "refused"
    ]
    if refused:
        store.write(scope, refused)
    names = [(edge.src, edge.kind, edge.dst) for edge in edges]
    for batch in in_batches(names, EDIT_BATCH):
        store.write(scope, [DropEdges(tuple(batch))])
