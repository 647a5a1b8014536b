"""Distil: the records of a group -> Digest | None. Few of their sentences, that say most of what all of them say.

Sentences stand in the digest as they were said, in order, with who said them. Which ones is a question of cover
(``cover.py``): what is dense is taken, what repeats is not, and a person's own words come first.

All of a group's records can go once it has a digest. Session recall@5 of LongMemEval's 120 questions, the static
model and words (bench/oracle.py, bench/LOG.md): .960 by all turns; by digests alone .950 (-.010 [-.032 +.006]) when
every session is old, .943 (-.017 [-.041 +.005]) when half are, beside the turns of the others; by as much text in the
order of Kit's formula .825 and .855. With half of the turns kept, the person's, it is .951 and .972, so what is lost
is the finer grain of turns. Unlike Kit's, a digest knows who spoke: a person's own words are a seventh of a
conversation and most of what is asked for later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.cover import Unit, cover
from scrubjay.consolidate.order import order, over, time
from scrubjay.consolidate.verbatim import verbatim
from scrubjay.memory.dates import moment
from scrubjay.memory.records import Record
from scrubjay.memory.turns import PERSON
from scrubjay.text.size import tokens, weigh
from scrubjay.text.tokens import terms

SHARE: Final = 0.2
"""Most tokens of a digest for each token of its sources."""
MOST: Final = 512
"""Tokens of any digest: what a passage may have at most. Twice as many recall no more (.942 for .944 of sessions)."""
LEAST: Final = 12
"""Tokens below which a digest says too little to be a memory."""
VOICE: Final = 8.0
"""What a term is worth in a person's own words, in anyone else's 1. Session recall@5 of 60 questions with 1, 2, 4 is
.898, .931, .941, and with 4 and 8 in another run .933 and .958 (bench/LOG.md); 32 is like 8."""
READ: Final = 100_000
"""Characters of one record that are read: an addition may be a pasted log of megabytes."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a digest.

    Attributes:
        text: As it stands in its source, white space made even.
        sources: Ids of the records that it stands in, the earliest first.
    """

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """What a group of observations says in short.

    Attributes:
        text: The sentences in order of time, a line for each record, with who said it, and on which day where the
            records are of several.
        sentences: The same with their evidence.
        tags: All tags of the records, sorted.
        title: What most of the records are called, or an empty string.
        start: When the first record happened, UTC microseconds.
        end: When the last one was over.
    """

    text: str
    sentences: tuple[Sentence, ...]
    tags: tuple[str, ...]
    title: str
    start: int
    end: int


def distil(records: Sequence[Record], budget: int = MOST) -> Digest | None:
    """Return the digest of a group, or None where it would be too short to say anything.

    Args:
        records: The group, in any order: the digest is the same.
        budget: Most tokens (``text.size.tokens``); never more than ``SHARE`` of the records' are used.
    """
    told = sorted(records, key=order)
    room = min(budget, int(SHARE * sum(tokens(record.content) for record in told)))
    if room < LEAST:
        return None
    units, standing = _units(told)
    labels = _labels(told)
    chosen = cover(units, [weigh(label) for label in labels], 4 * room)
    text = _written(chosen, labels)
    if tokens(text) < LEAST:
        return None
    titles = Counter(record.title for record in told if record.title)
    return Digest(
        text,
        tuple(Sentence(unit.text, tuple(told[place].id for place in standing[unit.text])) for unit in chosen),
        tuple(sorted({tag for record in told for tag in record.tags})),
        min(titles, key=lambda title: (-titles[title], title), default=""),
        min(map(time, told)),
        max(map(over, told)),
    )


def _units(told: Sequence[Record]) -> tuple[list[Unit], dict[str, list[int]]]:
    """Return the sentences, each once, and the places of the records that each stands in."""
    standing: dict[str, list[int]] = {}
    units: list[Unit] = []
    for place, record in enumerate(told):
        voice = VOICE if record.role in PERSON else 1.0
        for text in verbatim(record.content[:READ]):
            if text not in standing:
                standing[text] = [place]
                # Words as they are, unstemmed: whose language it is need not be known.
                units.append(Unit(place, text, frozenset(terms(text, "").counts), weigh(text), voice))
            elif standing[text][-1] != place:
                standing[text].append(place)
    return units, standing


def _labels(told: Sequence[Record]) -> list[str]:
    """Return what stands before each record's sentences: its day where there are several, and who speaks."""
    days = [moment(time(record)).date().isoformat() for record in told]
    several = len(set(days)) > 1
    named = [
        (*((day,) if several else ()), record.role or "") for day, record in zip(days, told, strict=True)
    ]
    return [f"{name}: " if (name := " ".join(part for part in parts if part)) else "" for parts in named]


def _written(units: Sequence[Unit], labels: Sequence[str]) -> str:
    lines: dict[int, list[str]] = {}
    for unit in units:
        lines.setdefault(unit.record, []).append(unit.text)
    return "\n".join(labels[record] + " ".join(own) for record, own in lines.items())
