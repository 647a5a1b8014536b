"""Extractive summary: the sentences that cover most of a group of records.

A sentence is a verbatim span of its source, except for white space. Headings, lines that introduce a list, code fences
and front matter are left out; a list item or a table row counts as a sentence.

The summary maximises the information of the terms that it covers,

    value(S) = sum over terms of worth(term) * max over the sentences of S that hold it of voice(sentence)
    worth(term) = ln(its rank among English words / 50)

The function is monotone and submodular, so greedy selection by gain per token comes near the best choice (Lin and
Bilmes, 2010); gains only fall, so few are computed again (Minoux, 1978).

Sentences stay in their order, with their speaker; the person's request comes first. A short block of code is one
sentence. Sentences without two informative words ("ok, great") are left out, and an assistant's questions count half.

Of 60 questions about 20 sessions, digests of a fifth of the tokens answered .183, these answer .883
(`python -m bench digests`, on the set that they were fitted to).
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scrubjay.consolidation.context import chronological_key, ended_at, occurred_at
from scrubjay.models.dates import to_datetime
from scrubjay.models.records import PERSON_ROLES, Record
from scrubjay.text.display import estimate_tokens, quarter_tokens
from scrubjay.text.language import detect_language, function_words
from scrubjay.text.markdown import normalize_newlines, parse_blocks
from scrubjay.text.tokenizer import index_terms
from scrubjay.text.word_frequency import word_rank

_END = re.compile(
    r"[.!?…][\"'”’)\]*_]*+(?<![ (][A-Za-z]\.)(?<!\b[DMS][rt]\.)(?<!\bvs\.)(?<!\bMrs\.)(?<!\be\.g\.)(?<!\bi\.e\.)"
    r"\s++(?![a-z])"
    r"|[。！？｡؟۔।][”’」』）\"]*\s*"
)
_MARKS = re.compile(
    r"(?:[ \t]|>|(?:[-*+•]|[0-9]{1,9}[.)])(?=[ \t])(?:[ \t]+\[[ xX]\](?=[ \t]))?|#{1,6}(?=[ \t]))*"
)
"""What stands before the words of a line: indentation, quote, list and task marks."""
_DASHES = re.compile(r"[\s|:=*_+\-]*\Z")
_BOLD = re.compile(r"(\*\*|__)(?>(?:(?!\1).){1,60})\1")
"""A line in bold from end to end is a heading in all but name."""
_FENCES: Final = ("```", "~~~")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_CODE: Final = frozenset(("fence", "code"))
WRAPPED: Final = 60
"""Characters from which a line may be one that an editor wrapped, so that its sentence goes on in the next."""
_PROSE: Final = frozenset(("paragraph", "list", "quote", "table", "html"))


def verbatim_sentences(text: str, code: int = 0) -> Iterator[str]:
    r"""Yield the sentences of a text in order, white space made even.

    Args:
        text: The text.
        code: Most characters of a block of code that is yielded too, as a whole; 0 for none.

    >>> list(verbatim_sentences("# Seeds\n- **Oak** grows. Slowly!\n- See:\n```\ncode\n```\nDr. Mara\nagrees."))
    ['**Oak** grows.', 'Slowly!', 'Dr. Mara agrees.']
    """
    text = normalize_newlines(text)
    for block in parse_blocks(text):
        if block.kind in _PROSE:
            yield from _of_block(text[block.start : block.end], table=block.kind == "table")
        elif block.kind in _CODE and block.end - block.start <= code:
            yield from _of_code(text[block.start : block.end])


def _of_code(text: str) -> Iterator[str]:
    lines = [line for line in text.split("\n") if not (_FENCE.match(line) or _DASHES.match(line))]
    if lines:
        yield " ".join(" ".join(lines).split())


def _of_block(text: str, *, table: bool) -> Iterator[str]:
    """Yield the sentences of one block: those of each line, joined where an editor wrapped it."""
    fence = ""
    held: list[str] = []
    for place, line in enumerate(text.split("\n")):
        marks = _MARKS.match(line)
        start = marks.end() if marks else 0
        words = line[start:].rstrip()
        if fence or words.startswith(_FENCES):
            fence = "" if fence and words.startswith(fence) else fence or words[:3]
            words = ""
        if _DASHES.match(words) or (table and place == 0):
            words = ""
        if held and not _goes_on(held[-1], words, marked=bool(line[:start].strip())):
            yield from _cut(" ".join(held))
            held = []
        if words:
            held.append(words)
    if held:
        yield from _cut(" ".join(held))


def _goes_on(line: str, words: str, *, marked: bool) -> bool:
    """Tell whether a line's sentence goes on in the next: one that is wrapped begins with a letter."""
    if marked or not words or not words[0].isalpha():
        return False
    return words[0].islower() or len(line) >= WRAPPED


def _cut(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        yield from _told(text[start : end.end()])
        start = end.end()
    yield from _told(text[start:])


def _told(sentence: str) -> Iterator[str]:
    told = " ".join(sentence.split())
    if told and not told.rstrip("*_ ").endswith((":", "：")) and not _BOLD.fullmatch(told):
        yield told


ORDINARY_RANK: Final = 50
"""Rank of a word that everybody uses, and that so tells nothing."""
LENGTH_OFFSET: Final = 24
"""Quarter tokens added to a sentence's length, so that two telling words do not win by being short."""
MIN_NEW_SHARE: Final = 0.1
"""Share of its worth that a sentence must bring which none before it brought, unless that is a number: of two
sentences that differ in a usual word one is enough, of two that differ in a name or a number both are needed.
Session recall of LongMemEval is alike with 0, .1 and .2 (.950, .950, .944; bench/LOG.md)."""


@dataclass(frozen=True, slots=True)
class CoverageUnit:
    """One sentence that may be taken.

    Attributes:
        record: Place of its record in the group.
        text: As it stands there.
        terms: Its words.
        size: Quarter tokens.
        voice: What its speaker counts, above zero.
    """

    record: int
    text: str
    terms: frozenset[str]
    size: int
    voice: float


def cover_sentences(
    units: Sequence[CoverageUnit], labels: Sequence[int], room: int, first: Sequence[int] = ()
) -> list[CoverageUnit]:
    """Return the sentences taken, in the order given.

    Args:
        units: Sentences, each text once.
        labels: Quarter tokens that the first sentence of a record costs besides its own, by the record's place.
        room: Quarter tokens that may be taken in all.
        first: Places of sentences that are taken before any other, as far as there is room.
    """
    worth = _worths(units)
    left = {voice: {t: voice * own for t, own in worth.items()} for voice in {unit.voice for unit in units}}
    opened: set[int] = set()
    taken: list[int] = []

    def gain(unit: CoverageUnit) -> float:
        return math.fsum(map(left[unit.voice].__getitem__, unit.terms))  # a set has no order, nor has fsum

    for place in first:
        size = units[place].size + (0 if units[place].record in opened else labels[units[place].record])
        if size <= room:
            taken.append(place)
            opened.add(units[place].record)
            room -= size
            _cover(left, units[place], worth)
    whole = [gain(unit) for unit in units]
    heap = [
        (-own / (unit.size + LENGTH_OFFSET), place)
        for place, (own, unit) in enumerate(zip(whole, units, strict=True))
    ]
    heapq.heapify(heap)
    while heap:
        best, place = heapq.heappop(heap)
        unit = units[place]
        size = unit.size + (0 if unit.record in opened else labels[unit.record])
        own = gain(unit)
        if (
            size > room
            or own <= 0
            or (own < MIN_NEW_SHARE * whole[place] and not _counts(unit, left[unit.voice]))
        ):
            continue
        now = -own / (unit.size + LENGTH_OFFSET)
        if now > best and heap and now > heap[0][0]:
            heapq.heappush(heap, (now, place))
            continue
        taken.append(place)
        opened.add(unit.record)
        room -= size
        _cover(left, unit, worth)
    return [units[place] for place in sorted(taken)]


def _counts(unit: CoverageUnit, left: Mapping[str, float]) -> bool:
    """Tell whether a sentence holds a number that none before it holds."""
    return any(left[term] > 0 and any(map(str.isdigit, term)) for term in unit.terms)


def _cover(left: Mapping[float, dict[str, float]], unit: CoverageUnit, worth: Mapping[str, float]) -> None:
    """Take from what each voice could still gain what has now been said."""
    for voice, own in left.items():
        over_it = max(0.0, voice - unit.voice)
        own |= {term: min(own[term], over_it * worth[term]) for term in unit.terms}


def _worths(units: Sequence[CoverageUnit]) -> dict[str, float]:
    return {term: _information(term) for unit in units for term in unit.terms}


@lru_cache(maxsize=65_536)
def _information(term: str) -> float:
    return math.log(max(1.0, word_rank(term) / ORDINARY_RANK))


MAX_SHARE: Final = 0.7
"""Most tokens of a digest for each token of its sources."""
MAX_DIGEST_TOKENS: Final = 512
"""Tokens of any digest: a context holds a few of them."""
MIN_DIGEST_TOKENS: Final = 12
"""Tokens below which a digest says too little to be a memory."""
PERSON_WEIGHT: Final = 0.7
"""What a term is worth in a person's words, in anyone else's 1: with 1 and 8 digests answer less (`bench digests`)."""
QUESTION_WEIGHT: Final = 0.5
"""The same of an assistant's question: what it asks or offers is seldom what came of it."""
REQUEST_SHARE: Final = 0.1
"""Share of a digest's room that what the person asked for first may take before anything else."""
MAX_CODE: Final = 400
"""Characters of the largest block of code that is read as a sentence."""
MEANINGFUL_RANK: Final = 3_000
"""Rank from which a word says something by itself."""
_ENDED: Final = re.compile(r"[.!?…:;,。！？｡؟۔।][\"'”’)\]*_`」』）]*\Z")
MAX_RECORD_TEXT: Final = 100_000
"""Characters of one record that are read: an addition may be a pasted log of megabytes."""


@dataclass(frozen=True, slots=True)
class DigestSentence:
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
    sentences: tuple[DigestSentence, ...]
    tags: tuple[str, ...]
    title: str
    start: int
    end: int


def distil_digest(records: Sequence[Record], budget: int = MAX_DIGEST_TOKENS) -> Digest | None:
    """Return the digest of a group, or None where it would be too short to say anything.

    Args:
        records: The group, in any order: the digest is the same.
        budget: Most tokens (``text.size.tokens``); never more than ``MAX_SHARE`` of the records' are used.
    """
    told = sorted(records, key=chronological_key)
    room = min(budget, int(MAX_SHARE * sum(estimate_tokens(record.content) for record in told)))
    if room < MIN_DIGEST_TOKENS:
        return None
    units, standing = _units(told)
    labels = _labels(told)
    chosen = cover_sentences(
        units, [quarter_tokens(label) for label in labels], 4 * room, _request(told, units, room)
    )
    text = _written(chosen, labels)
    if estimate_tokens(text) < MIN_DIGEST_TOKENS:
        return None
    titles = Counter(record.title for record in told if record.title)
    return Digest(
        text,
        tuple(
            DigestSentence(unit.text, tuple(told[place].id for place in standing[unit.text]))
            for unit in chosen
        ),
        tuple(sorted({tag for record in told for tag in record.tags})),
        min(titles, key=lambda title: (-titles[title], title), default=""),
        min(map(occurred_at, told)),
        max(map(ended_at, told)),
    )


def _units(told: Sequence[Record]) -> tuple[list[CoverageUnit], dict[str, list[int]]]:
    """Return the sentences, each once, and the places of the records that each stands in."""
    standing: dict[str, list[int]] = {}
    units: list[CoverageUnit] = []
    small = function_words(detect_language("\n".join(record.content for record in told)))
    for place, record in enumerate(told):
        person = record.role in PERSON_ROLES
        for text in verbatim_sentences(record.content[:MAX_RECORD_TEXT], MAX_CODE):
            if text not in standing:
                own = frozenset(index_terms(text, "").counts) - small  # words as they are, unstemmed
                if not _says_something(own):
                    continue
                standing[text] = [place]
                units.append(CoverageUnit(place, text, own, _size(text), _voice(text, person=person)))
            elif standing[text][-1] != place:
                standing[text].append(place)
    return units, standing


def _request(told: Sequence[Record], units: Sequence[CoverageUnit], room: int) -> list[int]:
    """Return the places of what the person asked for first, as far as it is short: a digest says what it is about."""
    record = next((unit.record for unit in units if told[unit.record].role in PERSON_ROLES), None)
    found: list[int] = []
    size = 0
    for place, unit in enumerate(units):
        if unit.record == record and size + unit.size <= 4 * room * REQUEST_SHARE:
            found.append(place)
            size += unit.size
    return found


def _says_something(words: frozenset[str]) -> bool:
    """Tell whether a sentence says anything by itself: "ok, great", "do that" and "I'll look" do not."""
    return sum(word_rank(word) > MEANINGFUL_RANK for word in words) >= 2 or any(
        any(map(str.isdigit, word)) for word in words
    )


def _voice(text: str, *, person: bool) -> float:
    if person:
        return PERSON_WEIGHT
    return QUESTION_WEIGHT if text.rstrip("*_ ").endswith(("?", "？")) else 1.0


def _labels(told: Sequence[Record]) -> list[str]:
    """Return what stands before each record's sentences: its day where there are several, and who speaks."""
    days = [to_datetime(occurred_at(record)).date().isoformat() for record in told]
    several = len(set(days)) > 1
    named = [
        (*((day,) if several else ()), record.role or "") for day, record in zip(days, told, strict=True)
    ]
    return [f"{name}: " if (name := " ".join(part for part in parts if part)) else "" for parts in named]


def _written(units: Sequence[CoverageUnit], labels: Sequence[str]) -> str:
    lines: dict[int, list[str]] = {}
    for unit in units:
        lines.setdefault(unit.record, []).append(unit.text)
    return "\n".join(labels[record] + _joined(own) for record, own in lines.items())


def _size(text: str) -> int:
    return quarter_tokens(text if _ENDED.search(text) else f"{text};")


def _joined(sentences: Sequence[str]) -> str:
    """Join sentences; what ends in no mark, as an item of a list, is set off by a semicolon."""
    return " ".join(
        text if at + 1 == len(sentences) or _ENDED.search(text) else f"{text};"
        for at, text in enumerate(sentences)
    )
