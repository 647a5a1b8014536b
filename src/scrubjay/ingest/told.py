"""Told: what memories say of names, and how often stored ones have said it before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from scrubjay.ingest.concepts.discover import Seen
from scrubjay.ingest.concepts.match import Matcher
from scrubjay.ingest.concepts.normal import normal
from scrubjay.ingest.links import links
from scrubjay.memory.concepts import Concept
from scrubjay.memory.records import Record, Where
from scrubjay.store.base import Reader
from scrubjay.text.tokens import TermGroup, groups

MOST_EARLIER: Final = 500
"""Stored memories that are looked through for the name of a concept which has just been found."""

AT_ONCE: Final = 200
"""Words that are asked for together."""


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
    # In its normal form: "docker-compose" is also meant where "Docker Compose" stands.
    names = {normal(name) for row in rows for name in (row.name, *row.aliases)}
    looked_up = (frequency(reader, name, tongues) for name in names)
    rarest = {word: count for word, count in looked_up if word is not None}
    few = [word for word, count in rarest.items() if count <= MOST_EARLIER]
    # Of a word that is in few memories all are wanted, so many such words are asked for at once.
    asked = [(few[first : first + AT_ONCE], AT_ONCE * MOST_EARLIER) for first in range(0, len(few), AT_ONCE)]
    asked += [([word], MOST_EARLIER) for word, count in rarest.items() if count > MOST_EARLIER]
    found: dict[str, None] = {}
    for words, most in asked:
        found |= dict.fromkeys(hit.id for hit in reader.words(words, Where()).top(most))
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


class Before:
    """What is stored already and speaks for a name."""

    def __init__(self, reader: Reader, replaced: Sequence[Record]) -> None:
        """Args: what a key's viewers see, and what of it is about to be written anew: it does not count twice."""
        self._reader = reader
        self._replaced = replaced
        self._tongues = reader.languages() or ("en",)

    def count(self, names: Sequence[str]) -> list[int]:
        """Return how many stored memories hold every word of each name, at most."""
        held = [frequency(self._reader, name, self._tongues)[1] for name in names]
        if not self._replaced:
            return held
        again = told_before(self._replaced, names)
        return [max(0, count - twice) for count, twice in zip(held, again, strict=True)]
