"""Themes: records, concepts -> tuple[Theme, ...]. What records of one key refer to, by a name that stands in them.

A concept's name may be known to somebody whom a shared record does not reach; so only a name is used that stands in
the records themselves, and what is drawn tells nobody more than its sources do.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scrubjay.ingest.concepts.level import pattern, spread
from scrubjay.memory.concepts import Concept
from scrubjay.memory.records import Record


@dataclass(frozen=True, slots=True)
class Theme:
    """A concept, as some records speak of it.

    Attributes:
        concept: Its id.
        name: The first of its names that stands in most of them.
        names: All of them.
        records: Places of the records that refer to it, ascending.
        tells: How much it tells of a record, above zero: ln((records + 1) / records that refer to it).
    """

    concept: str
    name: str
    names: tuple[str, ...]
    records: tuple[int, ...]
    tells: float


def themes(
    records: Sequence[Record],
    references: Mapping[str, Iterable[str]],
    concepts: Mapping[str, Concept],
    least: int,
) -> tuple[Theme, ...]:
    """Return the themes of records, by concept id.

    Args:
        records: Of one visibility key.
        references: Id of a record to ids of the concepts that it refers to.
        concepts: By id, as those know them who see the key.
        least: Records that refer to a theme.
    """
    held: defaultdict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        for concept in set(references.get(record.id, ())) & concepts.keys():
            held[concept].append(place)
    texts = [spread("\n".join((record.title, *record.tags, record.content)))[0] for record in records]
    found = []
    for concept in sorted(concept for concept, places in held.items() if len(places) >= least):
        places = held[concept]
        name = _name(concepts[concept], [texts[place] for place in places])
        if name:
            tells = math.log((len(records) + 1) / len(places))
            found.append(
                Theme(
                    concept, name, (concepts[concept].name, *concepts[concept].aliases), tuple(places), tells
                )
            )
    return tuple(found)


def _name(concept: Concept, texts: Sequence[str]) -> str:
    """Return the name that stands in most texts, the concept's own of equals; "" where none stands in half."""
    names = (concept.name, *concept.aliases)
    marks = {name: pattern(name) for name in names}
    counts = {name: sum(mark in text for text in texts) if (mark := marks[name]) else 0 for name in names}
    best = max(names, key=lambda name: counts[name])  # the first of equals
    return best if 2 * counts[best] >= len(texts) else ""
