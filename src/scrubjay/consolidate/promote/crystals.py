"""Crystals: digests, vectors, concepts -> tuple[Drawn, ...]. What several sessions came to about one thing, dated.

A cluster is what refers to one telling concept and points the same way: all in all, and each of its digests, is
nearer to the others' middle than to the middle of what is not in the cluster. A concept of too many digests is no
narrative; two of them together may be. Told are sentences that name the thing; which of them is the digests' own
question of cover (``cover.py``), and each stands in its crystal as it was said.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from scrubjay.consolidate.cover import Unit, cover
from scrubjay.consolidate.order import order, time
from scrubjay.consolidate.promote.drawn import Drawn, drawn, source, span, usable
from scrubjay.consolidate.promote.themes import Theme, themes
from scrubjay.consolidate.verbatim import verbatim
from scrubjay.ingest.concepts.level import pattern, spread
from scrubjay.memory.concepts import Concept
from scrubjay.memory.dates import moment
from scrubjay.memory.records import Record
from scrubjay.memory.turns import PERSON
from scrubjay.text.size import tokens, weigh
from scrubjay.text.tokens import terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST: Final = 3
"""Digests of a crystal."""
LEAST_SOURCES: Final = 2
"""Sessions, documents or days in which a person speaks of it, or a note: what only a model brings up is its own."""
MOST_MEMBERS: Final = 24
"""Digests of one crystal: of more, a passage's length says too little of each."""
TELLING: Final = 0.35
"""What a concept must tell: it stands in at most two thirds of the digests."""
MOST: Final = 512
"""Tokens of a crystal: what a passage may have at most."""
SHARE: Final = 0.3
"""Most tokens of a crystal for each token of its digests."""
ROOM: Final = 128
"""Tokens that any crystal may have: what a few short digests say of one thing is short already."""
VOICE: Final = 8.0
"""What a term is worth in a person's own words or a note's, in anyone else's 1; the same as in a digest."""

_LABEL = re.compile(r"(?:(\d{4}-\d\d-\d\d)(?= |: ) ?)?(?:([\w.-]{1,20}))?: (?=\S)")


def crystals(
    records: Iterable[Record],
    vectors: Mapping[str, NDArray[np.float32]],
    references: Mapping[str, Iterable[str]],
    concepts: Mapping[str, Concept],
) -> tuple[Drawn, ...]:
    """Return the crystals of digests, sorted by key, project and title; a digest is in one at most.

    Args:
        records: Digests or episodes, of any keys, in any order.
        vectors: Id to its unit row in one model; a record without one is in no crystal.
        references: Id to ids of the concepts that it refers to.
        concepts: By id, as those know them who see the records' key.
    """
    by_key: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        if usable(record) and record.id in vectors:
            by_key[record.key].append(record)
    found: list[Drawn] = []
    for key in sorted(by_key):
        own = sorted(by_key[key], key=order)
        known = themes(own, references, concepts, LEAST)
        titles: set[str] = set()
        for theme, members in _clusters(own, vectors, known):
            one = _drawn(theme, [own[place] for place in members])
            if one is not None and theme.name not in titles:
                titles.add(theme.name)
                found.append(one)
    return tuple(sorted(found, key=lambda one: (one.key, one.project or "", one.title)))


def _clusters(
    records: Sequence[Record], vectors: Mapping[str, NDArray[np.float32]], known: Sequence[Theme]
) -> Iterator[tuple[Theme, tuple[int, ...]]]:
    """Yield theme and members of each cluster, the one that tells most first; no record twice."""
    import numpy as np

    rows = np.array([vectors[record.id] for record in records], dtype=np.float64)
    total = rows.sum(axis=0)
    told = [theme for theme in _split(known) if theme.tells >= TELLING or len(theme.records) == len(records)]
    told.sort(key=lambda theme: (-len(theme.records) * theme.tells, theme.concept))
    free = np.ones(len(records), dtype=bool)
    for theme in told:
        places = [place for place in theme.records if free[place]]
        members = _near(rows, total, places) if len(places) >= LEAST else []
        of = {source(records[place]) for place in members}
        if len(members) >= LEAST and len(of) >= LEAST_SOURCES:
            free[members] = False
            yield theme, tuple(members)


def _split(known: Sequence[Theme]) -> Iterator[Theme]:
    """Yield the themes of few enough records, and in the place of broader ones what two of them share."""
    broad = []
    for theme in known:
        if len(theme.records) <= MOST_MEMBERS:
            yield theme
        else:
            broad.append(theme)
    broad.sort(key=lambda theme: (-theme.tells, theme.concept))
    for one, other in combinations(broad[:MOST_MEMBERS], 2):
        both = tuple(sorted(set(one.records) & set(other.records)))
        if LEAST <= len(both) <= MOST_MEMBERS:
            name = f"{one.name}, {other.name}"
            concept, names = f"{one.concept} {other.concept}", (*one.names, *other.names)
            yield Theme(concept, name, names, both, one.tells + other.tells)


def _near(rows: NDArray[np.float64], total: NDArray[np.float64], places: Sequence[int]) -> list[int]:
    """Return those of some rows that are nearer to the others' middle than to the middle of all the rest, if most are.

    Args:
        rows: Of all records, (n, d).
        total: Their sum, (d,).
        places: Of those.
    """
    import numpy as np

    inside = rows[list(places)]
    sums = inside.sum(axis=0)
    rest = total - sums
    if len(places) == len(rows):
        return list(places)
    outside = rest / max(float(np.linalg.norm(rest)), 1e-9)
    nearer = []
    for row in inside:
        others = sums - row
        within = float(row @ others) / max(float(np.linalg.norm(others)), 1e-9)
        nearer.append(round(within - float(row @ outside), 6))
    if math.fsum(nearer) <= 0:  # a word that many things share: "Dr", "America"
        return []
    return [place for place, more in zip(places, nearer, strict=True) if more > 0]


def _drawn(theme: Theme, members: Sequence[Record]) -> Drawn | None:
    units, labels, of = _units(theme, members)
    told = [members[place] for place in sorted(set(of))]
    own = {source(members[of[unit.record]]) for unit in units if unit.voice == VOICE}
    if len(told) < LEAST or len(own) < LEAST_SOURCES:
        return None
    room = min(MOST, max(ROOM, int(SHARE * sum(tokens(record.content) for record in told))))
    chosen = cover(units, [weigh(label) for label in labels], 4 * room)
    lines: dict[int, list[str]] = {}
    brought = dict.fromkeys(
        sorted(set(of)), 1.0
    )  # one whose sentences others said as well still bears it out
    for unit in chosen:
        lines.setdefault(unit.record, []).append(unit.text)
        brought[of[unit.record]] += unit.size
    text = "\n".join(labels[line] + " ".join(own) for line, own in sorted(lines.items()))
    if len({source(members[of[line]]) for line in lines}) < LEAST_SOURCES:
        return None
    return drawn("crystal", text, theme.name, told, span(told), list(brought.values()))


def _units(theme: Theme, members: Sequence[Record]) -> tuple[list[Unit], list[str], list[int]]:
    """Return the sentences about a theme, each once; what stands before each line; and whose line it is."""
    units: list[Unit] = []
    labels: list[str] = []
    of: list[int] = []
    seen: set[str] = set()
    for place, record in enumerate(members):
        day = moment(time(record)).date().isoformat()
        for line in record.content.split("\n"):
            label = _LABEL.match(line)
            about = _about(theme, line[label.end() :] if label else line)
            if not about:
                continue
            speaker = (label[2] or "") if label else ""
            before = f"{(label[1] if label else '') or day} {speaker}".rstrip() + ": "
            if not of or labels[-1] != before or of[-1] != place:
                labels.append(before)
                of.append(place)
            voice = VOICE if not speaker or speaker in PERSON else 1.0
            for text in about:
                if text not in seen:
                    seen.add(text)
                    units.append(
                        Unit(len(of) - 1, text, frozenset(terms(text, "").counts), weigh(text), voice)
                    )
    return units, labels, of


def _about(theme: Theme, line: str) -> list[str]:
    """Return the sentences of a line that name a theme."""
    marks = [mark for mark in map(pattern, theme.names) if mark]
    return [text for text in verbatim(line) if any(mark in spread(text)[0] for mark in marks)]
