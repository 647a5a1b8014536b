"""Distil: the records of a group -> Digest | None. Those of their sentences that say most of what all of them say.

Sentences stand in the digest as they were said, in order, with who said them; a short block of code is one.
What a person asked for first comes first. The rest is a question of cover (``cover.py``): what is dense is taken, what
repeats is not. Sentences without two words that say something ("ok, great") are left out, and what an assistant asks
counts half: answers, causes, figures and commands mostly stand in what an assistant says.

A digest is not shorter than it has to be: of 60 questions asked of 20 sessions, digests of a fifth of the tokens, the
person's words first, answered .183, these answer .883 (`bench digests`, a set that they were fitted to).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.cover import Unit, cover
from scrubjay.consolidate.order import order, over, time
from scrubjay.consolidate.verbatim import verbatim
from scrubjay.ingest.concepts.ordinary import rank
from scrubjay.memory.dates import moment
from scrubjay.memory.records import Record
from scrubjay.memory.turns import PERSON
from scrubjay.text.languages import function_words, language
from scrubjay.text.size import tokens, weigh
from scrubjay.text.tokens import terms

SHARE: Final = 0.7
"""Most tokens of a digest for each token of its sources."""
MOST: Final = 512
"""Tokens of any digest: a context holds a few of them."""
LEAST: Final = 12
"""Tokens below which a digest says too little to be a memory."""
VOICE: Final = 0.7
"""What a term is worth in a person's words, in anyone else's 1: with 1 and 8 digests answer less (`bench digests`)."""
ASKED: Final = 0.5
"""The same of an assistant's question: what it asks or offers is seldom what came of it."""
REQUEST: Final = 0.1
"""Share of a digest's room that what the person asked for first may take before anything else."""
CODE: Final = 400
"""Characters of the largest block of code that is read as a sentence."""
SAYS: Final = 3_000
"""Rank from which a word says something by itself."""
_ENDED: Final = re.compile(r"[.!?…:;,。！？｡؟۔।][\"'”’)\]*_`」』）]*\Z")
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
    chosen = cover(units, [weigh(label) for label in labels], 4 * room, _request(told, units, room))
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
    small = function_words(language("\n".join(record.content for record in told)))
    for place, record in enumerate(told):
        person = record.role in PERSON
        for text in verbatim(record.content[:READ], CODE):
            if text not in standing:
                own = frozenset(terms(text, "").counts) - small  # words as they are, unstemmed
                if not _says_something(own):
                    continue
                standing[text] = [place]
                units.append(Unit(place, text, own, _size(text), _voice(text, person=person)))
            elif standing[text][-1] != place:
                standing[text].append(place)
    return units, standing


def _request(told: Sequence[Record], units: Sequence[Unit], room: int) -> list[int]:
    """Return the places of what the person asked for first, as far as it is short: a digest says what it is about."""
    record = next((unit.record for unit in units if told[unit.record].role in PERSON), None)
    found: list[int] = []
    size = 0
    for place, unit in enumerate(units):
        if unit.record == record and size + unit.size <= 4 * room * REQUEST:
            found.append(place)
            size += unit.size
    return found


def _says_something(words: frozenset[str]) -> bool:
    """Tell whether a sentence says anything by itself: "ok, great", "do that" and "I'll look" do not."""
    return sum(rank(word) > SAYS for word in words) >= 2 or any(any(map(str.isdigit, word)) for word in words)


def _voice(text: str, *, person: bool) -> float:
    if person:
        return VOICE
    return ASKED if text.rstrip("*_ ").endswith(("?", "？")) else 1.0


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
    return "\n".join(labels[record] + _joined(own) for record, own in lines.items())


def _size(text: str) -> int:
    return weigh(text if _ENDED.search(text) else f"{text};")


def _joined(sentences: Sequence[str]) -> str:
    """Join sentences; what ends in no mark, as an item of a list, is set off by a semicolon."""
    return " ".join(
        text if at + 1 == len(sentences) or _ENDED.search(text) else f"{text};"
        for at, text in enumerate(sentences)
    )
