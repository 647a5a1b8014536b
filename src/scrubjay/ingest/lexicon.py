"""Lexicon: what the viewers of one key call things, and what new texts teach it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Final

from scrubjay.ingest.concepts.discover import discover
from scrubjay.ingest.concepts.match import Matcher
from scrubjay.ingest.concepts.normal import normal
from scrubjay.ingest.concepts.plural import other_number
from scrubjay.ingest.told import named_text, seen
from scrubjay.memory.concepts import Concept, united
from scrubjay.memory.edges import Edge
from scrubjay.memory.ids import concept_id
from scrubjay.memory.records import Record
from scrubjay.store.base import Reader

MOST: Final = 32
"""Concepts that one memory refers to; more are a list of names, and each would say less."""
MATCHERS: Final = 8
"""Small automata kept beside the large one before they are made into one."""
SMALL: Final = 10
"""Parts of all concepts, one of which they may hold together before the large one is made anew too."""

form = lru_cache(maxsize=4_096)(normal)
"""The normal form of a name; each step of learning a name asks for it again."""


class Lexicon:
    """The concepts of one key's viewers, ready to be found in texts."""

    def __init__(self, rows: Sequence[Concept]) -> None:
        self._set(rows)

    def _set(self, rows: Sequence[Concept]) -> None:
        self._by_id: dict[str, list[Concept]] = {}
        for row in rows:
            self._by_id.setdefault(row.id, []).append(row)
        shown = {concept.id for concept in united(rows)}
        self._known: dict[str, str] = {}
        self._name([row for row in rows if row.id in shown])
        self._name([row for row in rows if row.id not in shown])
        self._matchers: list[Matcher] = []
        self._recent: list[Concept] = []
        self._heir: tuple[int, Sequence[Concept], Lexicon] | None = None
        self._refused = Matcher(row for row in rows if row.kind == "refused")

    def _name(self, rows: Sequence[Concept]) -> None:
        """Let names mean their concepts, then aliases; of several with one right, that of the smallest id."""
        ranked = sorted(rows, key=lambda row: row.id)
        for row in ranked:
            self._known.setdefault(form(row.name), row.id)
        for row in ranked:
            for alias in row.aliases:
                self._known.setdefault(form(alias), row.id)

    def rows(self, concept: str) -> Sequence[Concept]:
        """Return the rows of a concept."""
        return self._by_id.get(concept, ())

    def means(self, name: str) -> str | None:
        """Return the id of the concept that a name means, also of one that was taken out, or None."""
        return self._known.get(form(name))

    def grown(self, rows: Sequence[Concept]) -> Lexicon:
        """Return one that finds these too, beside this one, which stays as it is; automata are shared."""
        self._automata()
        found = copy(self)
        found._by_id, found._known = dict(self._by_id), dict(self._known)
        found._matchers, found._recent, found._heir = [*self._matchers], [*self._recent], None
        found.add(rows)
        return found

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

    def renewed(self, rows: Sequence[Concept]) -> Lexicon:
        """Return one of what the store holds now; what was only added costs little."""
        held = {row for same in self._by_id.values() for row in same}
        if held <= set(rows):
            return self.grown([row for row in rows if row not in held])
        return Lexicon(rows)

    def learn(
        self,
        records: Sequence[Record],
        secret: bytes,
        key: str,
        at: int,
        seen_before: Callable[..., Sequence[int]],
    ) -> list[Concept]:
        """Return the concepts that memories teach, as rows of their key; from now on they are found."""
        new = self.taught(records, secret, key, at, seen_before)
        self.add(new)
        return new

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
            known = any(name in self._known or name in taken for name in (named, other_number(named)))
            if named and not known and not self._taken_out(item.name):
                aliases = {a for a in item.aliases if form(a) not in self._known and form(a) not in taken}
                aliases -= {item.name}
                new.append(
                    Concept(concept_id(secret, named), key, item.name, tuple(sorted(aliases)), item.kind, at)
                )
                taken.update(form(name) for name in (item.name, *aliases))
        return new

    def add(self, rows: Sequence[Concept]) -> None:
        """Find these too."""
        if not rows:
            return
        if any(
            row.kind == "refused" or row.id in self._by_id or self.means(row.name) not in (None, row.id)
            for row in rows
        ):
            # What another key calls a known concept, that it is none, or that another bears as its name what was
            # its alias, changes what the known names mean.
            self._set([*(row for same in self._by_id.values() for row in same), *rows])
            return
        self._by_id |= {row.id: [row] for row in rows}
        self._name(rows)
        if self._matchers:
            self._recent += rows
            self._matchers.append(Matcher(self._found_by(row) for row in rows))

    def _found_by(self, row: Concept) -> Concept:
        """Return a row without the aliases that another concept has already."""
        return replace(row, aliases=tuple(alias for alias in row.aliases if self.means(alias) == row.id))

    def _automata(self) -> list[Matcher]:
        """Return the automata, made when first a text is read."""
        if len(self._matchers) > MATCHERS and len(self._recent) * SMALL < len(self._by_id):
            self._matchers[1:] = [Matcher(self._found_by(row) for row in self._recent)]
        elif not 0 < len(self._matchers) <= MATCHERS:
            self._matchers = [Matcher(united(row for same in self._by_id.values() for row in same))]
            self._recent = []
        return self._matchers

    def _taken_out(self, name: str) -> bool:
        """Tell whether a name is one that a person refused, in the singular or in the plural."""
        return any((m.start, m.end) == (0, len(name)) for m in self._refused.match(name))

    def references(self, record: Record, at: int, key: str | None = None) -> list[Edge]:
        """Return the edges from a memory to the concepts it refers to, by name, heading or tag.

        The weight grows with every mention: 1/2, 3/4, 7/8.
        """
        text = named_text(record)
        counts: dict[str, int] = {}
        for matcher in self._automata():
            for mention in matcher.match(text):
                counts[mention.concept] = counts.get(mention.concept, 0) + mention.count
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST]
        return [
            Edge(
                record.id,
                "references",
                concept,
                key or record.key,
                1 - 0.5 ** min(count, 20),
                at,
                rule="name",
            )
            for concept, count in ranked
        ]


Lexicons = dict[str, tuple[int, Lexicon]]
"""Visibility key to the store's mark and the lexicon that was made at it; kept from call to call."""


def lexicon(reader: Reader, key: str, kept: Lexicons) -> Lexicon:
    """Return the lexicon of a key's viewers, made anew only when their concepts have changed."""
    mark = reader.concept_mark()
    held = kept.get(key)
    if held is None:
        words = Lexicon(reader.concepts())
    elif held[0] == mark:
        return held[1]
    else:
        heir = held[1].heir(reader, mark)
        words = heir if heir is not None else held[1].renewed(reader.concepts())
    kept[key] = mark, words
    return words
