"""Teach: tuple[Terms, ...] -> Learned. What a person calls things, into the store and linked at once.

A name that is known already, in whatever case, means the concept that bears it: it gets the aliases, and no
twin is made. What was removed before comes back. Rows are written first and then linked, each in transactions of
bounded size; stopped in between, the same call does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.ingest.concepts.normal import care, normal
from scrubjay.ingest.dictionary import Refusals, Terms, refusal
from scrubjay.ingest.lexicon import Lexicon, Lexicons
from scrubjay.ingest.lookback import look_back
from scrubjay.memory.concepts import Concept, united
from scrubjay.memory.dates import now_micros
from scrubjay.memory.ids import concept_id
from scrubjay.memory.scope import Scope
from scrubjay.memory.webs import Learned
from scrubjay.store.base import Store
from scrubjay.store.changes import Change, DropConcept, PutConcept

PUT_AT_ONCE: Final = 2_000
"""Concepts of one transaction."""


def teach(store: Store, scope: Scope, terms: Sequence[Terms], key: str, kept: Lexicons) -> Learned:
    """Add concepts to the dictionary of one visibility key, and link what was stored before.

    Args:
        store: Where.
        scope: Who gives the names.
        terms: The names; what cannot be one is left out and told.
        key: Who shall know them, one of the scope's.
        kept: Lexicons of the scope.

    Returns:
        What it did; nothing is told twice when the same is taught again.
    """
    with store.reader(scope.seen_with(key)) as reader:
        book = _Book(reader.concepts(), key, store.secret(scope))
    refused: Refusals = []
    for one in terms:
        refused += book.take(one)
    written = book.written()
    hidden = _hidden(store, scope, book.touched.keys(), key)
    for first in range(0, len(written), PUT_AT_ONCE):
        store.write(scope, [PutConcept(row) for row in written[first : first + PUT_AT_ONCE]])
    if hidden:
        store.write(scope, hidden)
    linked = look_back(store, scope, list(book.touched.values()), kept)
    return Learned(
        book.added,
        len(written) - book.added,
        linked,
        tuple(refused),
        _clashes(store, scope, key, kept, book.touched) if book.touched else (),
    )


class _Book:
    """The dictionary of one key as its viewers know it, while it is written on."""

    def __init__(self, rows: Sequence[Concept], key: str, secret: bytes) -> None:
        self._key, self._secret, self._at = key, secret, now_micros()
        self._before = {row.id: row for row in rows if row.key == key}
        self._known = {concept.id: concept for concept in united(rows)}
        self._means: dict[str, str] = {}
        for row in rows:
            if row.id not in self._known:  # refused: what is given again by that name is the same concept
                self._bear(row)
        for concept in reversed(self._known.values()):  # of several, the smallest id: as names are matched
            self._bear(concept, over=True)
        for concept in reversed(self._known.values()):
            self._means[normal(concept.name)] = concept.id
        self.touched: dict[str, Concept] = {}
        self.added = 0

    def _bear(self, row: Concept, *, over: bool = False) -> None:
        for name in (row.name, *row.aliases):
            if over or normal(name) not in self._means:
                self._means[normal(name)] = row.id

    def take(self, terms: Terms) -> Refusals:
        """Add what a person calls one concept; return what cannot be a name, and why."""
        refused = [(name, why) for name in (terms.name, *terms.aliases) if (why := refusal(name)) is not None]
        told = [(f"{terms.where}{name}", why) for name, why in refused]
        out = {name for name, _ in refused}
        if terms.name in out:
            return told
        named = normal(terms.name)
        identity = self._means.get(named) or concept_id(self._secret, named)
        row = self._row(identity, terms.name)
        aliases = [alias for alias in terms.aliases if alias not in out]
        names = _distinct(row.name, (*row.aliases, terms.name, *aliases))
        if identity not in self.touched and identity not in self._known:
            self.added += 1
        self.touched[identity] = replace(row, aliases=tuple(sorted(names)))
        self._means[named] = identity
        self._bear(self.touched[identity])
        return told

    def _row(self, identity: str, name: str) -> Concept:
        """Return the key's row of a concept, given, as it is before a name is added."""
        if identity in self.touched:
            return self.touched[identity]
        known, before = self._known.get(identity), self._before.get(identity)
        if known is None:
            return Concept(identity, self._key, name, (), "given", self._at)
        # A person's spelling goes before one that was found.
        found = known.kind != "given" and normal(known.name) == normal(name)
        aliases = before.aliases if before is not None else ()
        if before is not None and before.name not in (known.name, name):
            aliases = (*aliases, before.name)
        return Concept(identity, self._key, name if found else known.name, aliases, "given", self._at)

    def written(self) -> list[Concept]:
        """Return the rows that are not as they were."""
        return [
            row
            for row in self.touched.values()
            if (old := self._before.get(row.id)) is None or replace(old, at=row.at) != row
        ]


def _distinct(name: str, aliases: Iterable[str]) -> set[str]:
    """Return the aliases that find anything beyond a name and each other."""
    kept: dict[object, str] = {(normal(name), "any"): name, name: name}
    for alias in aliases:
        loose = care(alias) == "any"
        kept.setdefault((normal(alias), "any") if loose else alias, alias)
    return set(kept.values()) - {name}


def _hidden(store: Store, scope: Scope, concepts: Iterable[str], key: str) -> list[Change]:
    """Return what takes back the writer's own refusals of concepts that they now share with others."""
    own = scope.key()
    if own == key:
        return []
    with store.reader(scope) as reader:
        rows = reader.concepts(list(concepts))
    return [DropConcept(row.id, own) for row in rows if row.key == own and row.kind == "refused"]


def _clashes(
    store: Store, scope: Scope, key: str, kept: Lexicons, touched: dict[str, Concept]
) -> tuple[str, ...]:
    """Return, a sentence each, the names of these concepts that others claim too."""
    with store.reader(scope.seen_with(key)) as reader:
        words = (
            kept[key][1] if kept.get(key, (-1,))[0] == reader.concept_mark() else Lexicon(reader.concepts())
        )
        ids = {one for clash in words.clashes for one in (clash.kept, *clash.others)}
        names = {concept.id: concept.name for concept in united(reader.concepts(list(ids)))} if ids else {}
    return tuple(
        f'"{clash.spelling}" means {names[clash.kept]}; '
        f"{', '.join(names[other] for other in clash.others)} cannot be found by it."
        for clash in words.clashes
        if not touched.keys().isdisjoint((clash.kept, *clash.others))
    )
