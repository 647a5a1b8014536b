"""Lexicon: what the viewers of one key call things, and what new texts teach it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from scrubjay.ingest.concepts.discover import discover
from scrubjay.ingest.concepts.match import Claims, Matcher, claims, mentions
from scrubjay.ingest.concepts.names import Names, stems
from scrubjay.ingest.concepts.normal import normal
from scrubjay.ingest.concepts.plural import other_number, stem
from scrubjay.ingest.told import named_text, seen
from scrubjay.memory.concepts import Concept, Row, as_row, of_row, united
from scrubjay.memory.edges import Edge
from scrubjay.memory.ids import concept_id
from scrubjay.memory.records import Record
from scrubjay.store.base import Reader

MOST: Final = 32
"""Concepts that one memory refers to; more are a list of names, and each would say less."""

form = lru_cache(maxsize=4_096)(normal)
"""The normal form of a name; each step of learning a name asks for it again."""


class Lexicon:
    """The concepts of one key's viewers, ready to be found in texts.

    All names are kept as they stand in the store; what one means is worked out when first a text holds it, from
    the rows of the concepts that bear it.
    """

    def __init__(self, rows: Iterable[Concept] = ()) -> None:
        self._rows: dict[str, tuple[Row, ...]] = {}
        """Id to the concept's rows, by key."""
        self._names = Names()
        self._claims: dict[str, Claims] = {}
        self._refused: Matcher | None = None
        self._heir: tuple[int, Sequence[Concept], Lexicon] | None = None
        self.add(rows)

    def rows(self, concept: str) -> Sequence[Concept]:
        """Return the rows of a concept."""
        return [of_row(row) for row in self._rows.get(concept, ())]

    def means(self, name: str) -> str | None:
        """Return the id of the concept that a name means, also of one that was taken out, or None."""
        return self._owner(form(name))

    def _owner(self, folded: str) -> str | None:
        """Return whose a normal form is.

        What is shown goes before what was taken out, a name before an alias, then the smallest id.
        """
        rows = self._bearing(stem(folded))
        if not rows:
            return None
        shown = {concept.id for concept in united(rows)}
        rights = [
            (row.id not in shown, place > 0, row.id)
            for row in rows
            for place, name in enumerate((row.name, *row.aliases))
            if form(name) == folded
        ]
        return min(rights)[2] if rights else None

    def _bearing(self, of: str) -> list[Concept]:
        """Return all rows of the concepts that bear a name of a stem."""
        return [row for concept in self._names.bearers(of) for row in self.rows(concept)]

    def _claimed(self, of: str) -> Claims:
        if of not in self._claims:
            self._claims[of] = claims(united(self._bearing(of)))
        return self._claims[of]

    def grown(self, rows: Iterable[Concept]) -> Lexicon:
        """Return one that finds these too, beside this one, which stays as it is."""
        found = self._copied()
        found.add(rows)
        return found

    def renewed(self, rows: Sequence[Row]) -> Lexicon:
        """Return one of what the store holds now, of which only what has changed is read."""
        now = _by_id(rows)
        held = self._rows
        changed = (
            {concept: same for concept, same in now.items() if held.get(concept) != same} if held else now
        )
        found = self._copied()
        found._set(changed, held.keys() - now.keys())
        return found

    def add(self, rows: Iterable[Concept]) -> None:
        """Find these too, each instead of what its key called the concept before."""
        changed: dict[str, tuple[Row, ...]] = {}
        for row in map(as_row, rows):
            others = changed.get(row[0]) or self._rows.get(row[0], ())
            changed[row[0]] = tuple(sorted((*(other for other in others if other[1] != row[1]), row)))
        self._set(changed)

    def _copied(self) -> Lexicon:
        found = copy.copy(self)
        found._rows, found._claims, found._names = self._rows.copy(), self._claims.copy(), self._names.copy()
        found._heir = None
        return found

    def _set(self, changed: dict[str, tuple[Row, ...]], gone: Iterable[str] = ()) -> None:
        """Let concepts have these rows and no others, and some none."""
        before = [self._rows.pop(concept, ()) for concept in (*changed, *gone)] if self._rows else ()
        self._rows |= changed
        if self._claims:  # what a stem means depends on all who bear it
            for spelling, _ in _spellings(chain.from_iterable((*before, *changed.values()))):
                for of in stems(spelling):
                    self._claims.pop(of, None)
        self._refused = None
        self._names.learn(_spellings(chain.from_iterable(changed.values())))

    def promise(self, mark: int, rows: Sequence[Concept], heir: Lexicon) -> None:
        """Remember what this one will be when these rows are written, and the store's mark will then be this."""
        self._heir = mark, rows, heir

    def heir(self, reader: Reader, mark: int) -> Lexicon | None:
        """Return what was promised, if the store holds it: by its mark it then holds nothing else that is new."""
        if self._heir is None or self._heir[0] != mark:
            return None
        _, rows, heir = self._heir
        held = set(reader.concepts([row.id for row in rows]))
        return heir if held.issuperset(rows) else None

    def taught(
        self,
        records: Sequence[Record],
        secret: bytes,
        key: str,
        at: int,
        seen_before: Callable[..., Sequence[int]],
    ) -> list[Concept]:
        """Return the concepts that memories would teach, as rows of their key."""
        found = discover([seen(record) for record in records], seen_before)
        new: list[Concept] = []
        taken: set[str] = set()
        for item in found:
            named = form(item.name)
            # A name in the other number is found already by the one that is known.
            known = any(
                name in taken or self._owner(name) is not None for name in (named, other_number(named))
            )
            if named and not known and not self._taken_out(item.name):
                aliases = {a for a in item.aliases if self.means(a) is None and form(a) not in taken}
                aliases -= {item.name}
                new.append(
                    Concept(concept_id(secret, named), key, item.name, tuple(sorted(aliases)), item.kind, at)
                )
                taken.update(form(name) for name in (item.name, *aliases))
        return new

    def _taken_out(self, name: str) -> bool:
        """Tell whether a name is one that a person refused, in the singular or in the plural."""
        if self._refused is None:
            rows = (row for same in self._rows.values() for row in same if row[4] == "refused")
            self._refused = Matcher(map(of_row, rows))
        if not self._refused:
            return False
        return any((m.start, m.end) == (0, len(name)) for m in self._refused.match(name))

    def references(self, record: Record, at: int, key: str | None = None) -> list[Edge]:
        """Return the edges from a memory to the concepts it refers to, by name, heading or tag.

        The weight grows with every mention: 1/2, 3/4, 7/8.
        """
        found = mentions(named_text(record), self._names, self._claimed)
        ranked = sorted(found, key=lambda mention: (-mention.count, mention.concept))[:MOST]
        return [
            Edge(
                record.id,
                "references",
                mention.concept,
                key or record.key,
                1 - 0.5 ** min(mention.count, 20),
                at,
                rule="name",
            )
            for mention in ranked
        ]


def _by_id(rows: Sequence[Row]) -> dict[str, tuple[Row, ...]]:
    """Return the rows of each concept, by key."""
    found: dict[str, tuple[Row, ...]] = {row[0]: (row,) for row in rows}
    if len(found) < len(rows):  # several keys know of one
        found = {}
        for row in rows:
            found[row[0]] = tuple(sorted((*found.get(row[0], ()), row)))
    return found


def _spellings(rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """Yield the names and aliases of concepts, each with the id."""
    for concept, _, name, aliases, _, _ in rows:
        yield name, concept
        if aliases:
            for alias in aliases:
                yield alias, concept


Lexicons = dict[str, tuple[int, Lexicon]]
"""Visibility key to the store's mark and the lexicon that was made at it; kept from call to call."""


def lexicon(reader: Reader, key: str, kept: Lexicons) -> Lexicon:
    """Return the lexicon of a key's viewers, made anew only when their concepts have changed."""
    mark = reader.concept_mark()
    held = kept.get(key)
    if held is None:
        words = Lexicon().renewed(reader.concept_rows())
    elif held[0] == mark:
        return held[1]
    else:
        heir = held[1].heir(reader, mark)
        words = heir if heir is not None else held[1].renewed(reader.concept_rows())
    kept[key] = mark, words
    return words
