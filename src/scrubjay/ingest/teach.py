"""Teach: tuple[Terms, ...] -> Learned. What a person calls things, into the store and linked at once.

A name that is known already, in whatever case, means the concept that bears it: it gets the aliases, and no
twin is made. What was removed before comes back. Rows are written first and then linked, each in transactions of
bounded size; stopped in between, the same call does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.ingest.concepts.normal import care
from scrubjay.ingest.dictionary import Refusals, Terms, refusal
from scrubjay.ingest.lexicon import Lexicon, Lexicons, form, lexicon
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
    secret = store.secret(scope)  # not within a reader: of a new store it is made now
    with store.reader(scope.seen_with(key)) as reader:
        page = _Page(lexicon(reader, key, kept), key, secret)
    refused: Refusals = []
    for one in terms:
        refused += page.take(one)
    written = page.written()
    hidden = _hidden(store, scope, page.rows, key)
    for first in range(0, len(written), PUT_AT_ONCE):
        store.write(scope, [PutConcept(row) for row in written[first : first + PUT_AT_ONCE]])
    if hidden:
        store.write(scope, hidden)
    linked = look_back(store, scope, list(page.rows.values()), kept)
    return Learned(page.added, len(written) - page.added, linked, tuple(refused), tuple(page.clashes))


class _Page:
    """What is written into the dictionary of one key, as its viewers know it.

    Attributes:
        rows: Every concept that was named, as its row shall be.
        added: How many of them are new.
        clashes: Aliases that another concept has already, a sentence each.
    """

    def __init__(self, words: Lexicon, key: str, secret: bytes) -> None:
        self._words, self._key, self._secret, self._at = words, key, secret, now_micros()
        self._means: dict[str, str] = {}
        self.rows: dict[str, Concept] = {}
        self.added = 0
        self.clashes: list[str] = []

    def take(self, terms: Terms) -> Refusals:
        """Add what a person calls one concept; return what cannot be a name, and why."""
        why = refusal(terms.name)
        if why is not None:
            return [(f"{terms.where}{terms.name}", why)]
        out = {alias: why for alias in terms.aliases if (why := refusal(alias)) is not None}
        named = form(terms.name)
        identity = self._meant(terms.name) or concept_id(self._secret, named)
        row = self.rows.get(identity) or self._row(identity, terms.name)
        aliases = [alias for alias in terms.aliases if alias not in out]
        names = _distinct(row.name, (*row.aliases, terms.name, *aliases))
        self.rows[identity] = replace(row, aliases=tuple(sorted(names)))
        self._means[named] = identity
        for alias in aliases:
            self._claim(alias, self.rows[identity])
        return [(f"{terms.where}{alias}", why) for alias, why in out.items()]

    def _meant(self, name: str) -> str | None:
        return self._means.get(form(name)) or self._words.means(name)

    def _claim(self, alias: str, row: Concept) -> None:
        """Let an alias mean a concept, unless it means another that is there."""
        other = self._meant(alias)
        rows = (
            []
            if other is None
            else united([self.rows[other]] if other in self.rows else self._words.rows(other))
        )
        if rows and other != row.id:
            self.clashes.append(f'"{alias}" means {rows[0].name} already; it does not find {row.name}.')
        else:
            self._means[form(alias)] = row.id

    def _row(self, identity: str, name: str) -> Concept:
        """Return the key's row of a concept, given, as it is before a name is added."""
        rows = self._words.rows(identity)
        known = united(rows)
        if not known:
            self.added += 1
            return Concept(identity, self._key, name, (), "given", self._at)
        (one,) = known
        # A person's spelling goes before one that was found.
        shown = name if one.kind != "given" and form(one.name) == form(name) else one.name
        own = [each for row in rows if row.key == self._key for each in (row.name, *row.aliases)]
        return Concept(identity, self._key, shown, tuple(own), "given", self._at)

    def written(self) -> list[Concept]:
        """Return the rows that are not as they were."""
        return [
            row
            for row in self.rows.values()
            if not any(replace(old, at=row.at) == row for old in self._words.rows(row.id))
        ]


def _distinct(name: str, aliases: Iterable[str]) -> set[str]:
    """Return the aliases that find anything beyond a name and each other."""
    kept: dict[object, str] = {(form(name), "any"): name, name: name}
    for alias in aliases:
        loose = care(alias) == "any"
        kept.setdefault((form(alias), "any") if loose else alias, alias)
    return set(kept.values()) - {name}


def _hidden(store: Store, scope: Scope, concepts: Iterable[str], key: str) -> list[Change]:
    """Return what takes back the writer's own refusals of concepts that they now share with others."""
    own = scope.key()
    if own == key:
        return []
    with store.reader(scope) as reader:
        rows = reader.concepts(list(concepts))
    return [DropConcept(row.id, own) for row in rows if row.key == own and row.kind == "refused"]
