"""Lexicon: what the viewers of one key call things, and what new texts teach it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Final

from scrubjay.ingest.concepts.discover import Seen, discover
from scrubjay.ingest.concepts.match import Matcher
from scrubjay.ingest.concepts.normal import normal
from scrubjay.ingest.links import links
from scrubjay.memory.concepts import Concept, united
from scrubjay.memory.edges import Edge
from scrubjay.memory.ids import concept_id
from scrubjay.memory.records import Record, Where
from scrubjay.store.base import Reader
from scrubjay.text.tokens import TermGroup, groups

MOST: Final = 32
"""Concepts that one memory refers to; more are a list of names, and each would say less."""
MOST_EARLIER: Final = 500
"""Stored memories that are looked through for the name of a concept which has just been found."""
MATCHERS: Final = 8
"""Small automata kept beside the large one before they are made into one."""

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

    def fork(self) -> Lexicon:
        """Return one that knows the same and learns without this one's learning it; automata are shared."""
        self._automata()
        found = copy(self)
        found._by_id, found._known, found._matchers = dict(self._by_id), dict(self._known), [*self._matchers]
        return found

    def renew(self, rows: Sequence[Concept]) -> None:
        """Take over what the store holds now; what was only added costs little."""
        held = {row for same in self._by_id.values() for row in same}
        if held <= set(rows):
            self.add([row for row in rows if row not in held])
        else:
            self._set(rows)

    def learn(
        self,
        records: Sequence[Record],
        secret: bytes,
        key: str,
        at: int,
        seen_before: Callable[..., Sequence[int]],
    ) -> list[Concept]:
        """Return the concepts that memories teach, as rows of their key; from now on they are found."""
        found = discover([seen(record) for record in records], seen_before)
        new: dict[str, Concept] = {}
        for item in found:
            named = form(item.name)
            if named and named not in self._known and not self._taken_out(item.name):
                identity = concept_id(secret, named)
                aliases = tuple(sorted({a for a in item.aliases if form(a) not in self._known} - {item.name}))
                new[identity] = Concept(identity, key, item.name, aliases, item.kind, at)
                self._name([new[identity]])
        self.add(list(new.values()))
        return list(new.values())

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
            self._matchers.append(Matcher(self._found_by(row) for row in rows))

    def _found_by(self, row: Concept) -> Concept:
        """Return a row without the aliases that another concept has already."""
        return replace(row, aliases=tuple(alias for alias in row.aliases if self.means(alias) == row.id))

    def _automata(self) -> list[Matcher]:
        """Return the automata, made when first a text is read."""
        if not 0 < len(self._matchers) <= MATCHERS:
            self._matchers = [Matcher(united(row for same in self._by_id.values() for row in same))]
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
    if key not in kept:
        kept[key] = mark, Lexicon(reader.concepts())
    elif kept[key][0] != mark:
        words = kept[key][1].fork()  # another thread may read in the one that is kept
        words.renew(reader.concepts())
        kept[key] = mark, words
    return kept[key][1]


def seen(record: Record) -> Seen:
    """Return a memory as discovery reads it."""
    found = links(record.content) if "[[" in record.content else ()
    pages = tuple(target.name for target in found if target.rule == "wikilink" and target.name)
    path = (
        f"{record.place.source}/{record.place.path}"
        if record.place is not None
        else record.session or record.id
    )
    return Seen(record.content, record.title, record.heading_path, record.tags, pages, path)


def named_text(record: Record) -> str:
    """Return all that names a memory: the headings it stands under, its text, its tags."""
    headings = [
        name for name in dict.fromkeys((*record.heading_path, record.title)) if name not in record.content
    ]
    return "\n\n".join((*headings, record.content, *record.tags))


def earlier(reader: Reader, rows: Sequence[Concept]) -> list[Record]:
    """Return stored memories that may name concepts which have just become known."""
    tongues = reader.languages()
    if not tongues:
        return []
    found: dict[str, None] = {}
    # In its normal form: "docker-compose" is also meant where "Docker Compose" stands.
    for name in {form(name) for row in rows for name in (row.name, *row.aliases)}:
        rarest, count = frequency(reader, name, tongues)
        if rarest is not None:
            hits = reader.words([rarest], Where()).top(min(count, MOST_EARLIER))
            found |= dict.fromkeys(hit.id for hit in hits)
    return list(reader.get(list(found)).values())


def frequency(reader: Reader, name: str, tongues: Sequence[str]) -> tuple[TermGroup | None, int]:
    """Return the rarest word of a name and how many stored memories hold it; None and 0 where one is in none."""
    rarest, least = None, 0
    for group in groups(name, tongues):
        (count,) = reader.frequencies([group])
        if count == 0:
            return None, 0
        if rarest is None or count < least:
            rarest, least = group, count
    return rarest, least


def told_before(records: Sequence[Record], names: Sequence[str]) -> list[int]:
    """Return how many of some memories hold each of these names."""
    matcher = Matcher(Concept(str(number), "", name) for number, name in enumerate(names))
    held = Counter(mention.concept for record in records for mention in matcher.match(named_text(record)))
    return [held[str(number)] for number in range(len(names))]
