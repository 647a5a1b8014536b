"""Extractive summary: the sentences that cover most of a group of records.

A sentence is a verbatim span of its source, except for white space. The summary maximises

    value(S) = sum over terms of worth(term) * max over the sentences of S that hold it of weight(sentence)
    worth(term) = ln(its rank among English words / 50)

which is monotone and submodular, so greedy selection by gain per token comes near the best choice (Lin and Bilmes,
2010); gains only fall, so few are computed again (Minoux, 1978).
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

_SENTENCE_END = re.compile(
    r"[.!?…][\"'”’)\]*_]*+(?<![ (][A-Za-z]\.)(?<!\b[DMS][rt]\.)(?<!\bvs\.)(?<!\bMrs\.)(?<!\be\.g\.)(?<!\bi\.e\.)"
    r"\s++(?![a-z])"
    r"|[。！？｡؟۔।][”’」』）\"]*\s*"
)
_LINE_MARKS = re.compile(
    r"(?:[ \t]|>|(?:[-*+•]|[0-9]{1,9}[.)])(?=[ \t])(?:[ \t]+\[[ xX]\](?=[ \t]))?|#{1,6}(?=[ \t]))*"
)
"""Indentation, quote, list and task marks before the words of a line."""
_RULE = re.compile(r"[\s|:=*_+\-]*\Z")
_BOLD = re.compile(r"(\*\*|__)(?>(?:(?!\1).){1,60})\1")
"""A line in bold from end to end is a heading in all but name."""
_FENCES: Final = ("```", "~~~")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_PROSE: Final = frozenset(("paragraph", "list", "quote", "table", "html"))
WRAPPED: Final = 60
"""Characters from which a line may have been wrapped by an editor, so that its sentence continues in the next."""

ORDINARY_RANK: Final = 50
"""Rank of a word that everybody uses and that tells nothing."""
LENGTH_OFFSET: Final = 24
"""Quarter tokens added to a sentence's length, so that two rare words do not win by being short."""
MIN_NEW_SHARE: Final = 0.1
"""Share of its worth that a sentence must add, unless it adds a number. Session recall of LongMemEval with 0, .1 and
.2: .950, .950, .944 (bench/LOG.md)."""
MAX_SHARE: Final = 0.7
"""Most tokens of a digest for each token of its sources."""
MAX_DIGEST_TOKENS: Final = 512
MIN_DIGEST_TOKENS: Final = 12
PERSON_WEIGHT: Final = 0.7
"""Weight of a person's sentence, anyone else's 1: with 1 and 8 digests answer less (`bench digests`)."""
QUESTION_WEIGHT: Final = 0.5
"""Weight of an assistant's question: what it asks or offers is seldom what came of it."""
REQUEST_SHARE: Final = 0.1
"""Share of a digest reserved for what the person asked for first."""
MAX_CODE: Final = 400
"""Characters of the largest block of code that is used as a sentence."""
MEANINGFUL_RANK: Final = 3_000
"""Rank from which a word says something by itself."""
MAX_RECORD_TEXT: Final = 100_000
_ENDED: Final = re.compile(r"[.!?…:;,。！？｡؟۔।][\"'”’)\]*_`」』）]*\Z")


def verbatim_sentences(text: str, max_code: int = 0) -> Iterator[str]:
    r"""Yield the sentences of a text in order, with white space collapsed.

    A list item or a table row is a sentence. Headings, lines that introduce a list and front matter are skipped, and
    so are blocks of code of more than `max_code` characters; a smaller one is one sentence.

    >>> list(verbatim_sentences("# Seeds\n- **Oak** grows. Slowly!\n- See:\n```\ncode\n```\nDr. Mara\nagrees."))
    ['**Oak** grows.', 'Slowly!', 'Dr. Mara agrees.']
    """
    text = normalize_newlines(text)
    for block in parse_blocks(text):
        content = text[block.start : block.end]
        if block.kind in _PROSE:
            yield from _block_sentences(content, table=block.kind == "table")
        elif block.kind in ("fence", "code") and len(content) <= max_code:
            lines = [line for line in content.split("\n") if not (_FENCE.match(line) or _RULE.match(line))]
            if lines:
                yield " ".join(" ".join(lines).split())


def _block_sentences(text: str, *, table: bool) -> Iterator[str]:
    fence = ""
    paragraph: list[str] = []
    for number, line in enumerate(text.split("\n")):
        marks = _LINE_MARKS.match(line)
        start = marks.end() if marks else 0
        words = line[start:].rstrip()
        if fence or words.startswith(_FENCES):
            fence = "" if fence and words.startswith(fence) else fence or words[:3]
            words = ""
        if _RULE.match(words) or (table and number == 0):
            words = ""
        if paragraph and not _is_continuation(paragraph[-1], words, marked=bool(line[:start].strip())):
            yield from _split_sentences(" ".join(paragraph))
            paragraph = []
        if words:
            paragraph.append(words)
    if paragraph:
        yield from _split_sentences(" ".join(paragraph))


def _is_continuation(line: str, words: str, *, marked: bool) -> bool:
    if marked or not words or not words[0].isalpha():
        return False
    return words[0].islower() or len(line) >= WRAPPED


def _split_sentences(text: str) -> Iterator[str]:
    start = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
        sentence = " ".join(text[start:end].split())
        start = end
        if sentence and not sentence.rstrip("*_ ").endswith((":", "：")) and not _BOLD.fullmatch(sentence):
            yield sentence


@dataclass(frozen=True, slots=True)
class CoverageUnit:
    """One sentence that may be selected.

    Attributes:
        weight: Weight of its speaker, above zero.
    """

    record: int
    text: str
    terms: frozenset[str]
    size: int
    weight: float


def cover_sentences(
    units: Sequence[CoverageUnit], labels: Sequence[int], room: int, first: Sequence[int] = ()
) -> list[CoverageUnit]:
    """Return the selected sentences, in the order given.

    Args:
        units: Distinct sentences.
        labels: Quarter tokens that the first sentence of each record costs besides its own.
        room: Quarter tokens in all.
        first: Indexes of sentences that are selected before any other, as far as there is room.
    """
    worth = {term: _information(term) for unit in units for term in unit.terms}
    left = {
        weight: {term: weight * own for term, own in worth.items()}
        for weight in {unit.weight for unit in units}
    }  # weight to what each term can still gain in a sentence of that weight
    labelled: set[int] = set()
    selected: list[int] = []

    def gain(unit: CoverageUnit) -> float:
        return math.fsum(map(left[unit.weight].__getitem__, unit.terms))  # independent of the set's order

    def size(unit: CoverageUnit) -> int:
        return unit.size + (0 if unit.record in labelled else labels[unit.record])

    def select(index: int) -> None:
        unit = units[index]
        selected.append(index)
        labelled.add(unit.record)
        for weight, own in left.items():
            excess = max(0.0, weight - unit.weight)
            own |= {term: min(own[term], excess * worth[term]) for term in unit.terms}

    for index in first:
        needed = size(units[index])
        if needed <= room:
            select(index)
            room -= needed
    total = [gain(unit) for unit in units]
    heap = [
        (-own / (unit.size + LENGTH_OFFSET), index)
        for index, (own, unit) in enumerate(zip(total, units, strict=True))
    ]
    heapq.heapify(heap)
    while heap:
        best, index = heapq.heappop(heap)
        unit = units[index]
        needed, own = size(unit), gain(unit)
        if needed > room or own <= 0:
            continue
        if own < MIN_NEW_SHARE * total[index] and not _has_new_number(unit, left[unit.weight]):
            continue
        current = -own / (unit.size + LENGTH_OFFSET)
        if current > best and heap and current > heap[0][0]:
            heapq.heappush(heap, (current, index))
            continue
        select(index)
        room -= needed
    return [units[index] for index in sorted(selected)]


def _has_new_number(unit: CoverageUnit, left: Mapping[str, float]) -> bool:
    return any(left[term] > 0 and any(map(str.isdigit, term)) for term in unit.terms)


@lru_cache(maxsize=65_536)
def _information(term: str) -> float:
    return math.log(max(1.0, word_rank(term) / ORDINARY_RANK))


@dataclass(frozen=True, slots=True)
class DigestSentence:
    """One sentence of a digest.

    Attributes:
        sources: Ids of the records that contain it, the earliest first.
    """

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """Summary of a group of observations.

    Attributes:
        text: A line for each record in order of time: speaker, day if there are several, and sentences.
        tags: All tags of the records, sorted.
        title: The records' commonest title, or an empty string.
        start: When the first record happened, UTC microseconds.
    """

    text: str
    sentences: tuple[DigestSentence, ...]
    tags: tuple[str, ...]
    title: str
    start: int
    end: int


def distil_digest(records: Sequence[Record], budget: int = MAX_DIGEST_TOKENS) -> Digest | None:
    """Return the digest of a group, or None if it would be too short to say anything.

    Args:
        records: The group, in any order.
        budget: Most tokens; never more than ``MAX_SHARE`` of the records' are used.
    """
    records = sorted(records, key=chronological_key)
    room = min(budget, int(MAX_SHARE * sum(estimate_tokens(record.content) for record in records)))
    if room < MIN_DIGEST_TOKENS:
        return None
    units, containing = _coverage_units(records)
    labels = _labels(records)
    selected = cover_sentences(
        units, [quarter_tokens(label) for label in labels], 4 * room, _first_request(records, units, room)
    )
    lines: dict[int, list[str]] = {}
    for unit in selected:
        lines.setdefault(unit.record, []).append(unit.text)
    text = "\n".join(labels[record] + _join_sentences(own) for record, own in lines.items())
    if estimate_tokens(text) < MIN_DIGEST_TOKENS:
        return None
    titles = Counter(record.title for record in records if record.title)
    return Digest(
        text,
        tuple(
            DigestSentence(unit.text, tuple(records[index].id for index in containing[unit.text]))
            for unit in selected
        ),
        tuple(sorted({tag for record in records for tag in record.tags})),
        min(titles, key=lambda title: (-titles[title], title), default=""),
        min(map(occurred_at, records)),
        max(map(ended_at, records)),
    )


def _coverage_units(records: Sequence[Record]) -> tuple[list[CoverageUnit], dict[str, list[int]]]:
    """Return the distinct sentences, and the indexes of the records that contain each."""
    containing: dict[str, list[int]] = {}
    units: list[CoverageUnit] = []
    common = function_words(detect_language("\n".join(record.content for record in records)))
    for index, record in enumerate(records):
        for text in verbatim_sentences(record.content[:MAX_RECORD_TEXT], MAX_CODE):
            if text not in containing:
                terms = frozenset(index_terms(text, "").counts) - common  # unstemmed
                if not _is_informative(terms):
                    continue
                containing[text] = [index]
                if record.role in PERSON_ROLES:
                    weight = PERSON_WEIGHT
                else:
                    weight = QUESTION_WEIGHT if text.rstrip("*_ ").endswith(("?", "？")) else 1.0
                size = quarter_tokens(text if _ENDED.search(text) else f"{text};")
                units.append(CoverageUnit(index, text, terms, size, weight))
            elif containing[text][-1] != index:
                containing[text].append(index)
    return units, containing


def _is_informative(terms: frozenset[str]) -> bool:
    """Tell whether a sentence says anything by itself: "ok, great" and "I'll look" do not."""
    return sum(word_rank(term) > MEANINGFUL_RANK for term in terms) >= 2 or any(
        any(map(str.isdigit, term)) for term in terms
    )


def _first_request(records: Sequence[Record], units: Sequence[CoverageUnit], room: int) -> list[int]:
    """Return the indexes of the sentences of the person's first turn, as far as they are short."""
    record = next((unit.record for unit in units if records[unit.record].role in PERSON_ROLES), None)
    found: list[int] = []
    size = 0
    for index, unit in enumerate(units):
        if unit.record == record and size + unit.size <= 4 * room * REQUEST_SHARE:
            found.append(index)
            size += unit.size
    return found


def _labels(records: Sequence[Record]) -> list[str]:
    """Return each line's label: the day, if there are several, and the speaker."""
    days = [to_datetime(occurred_at(record)).date().isoformat() for record in records]
    if len(set(days)) == 1:
        days = [""] * len(records)
    names = [f"{day} {record.role or ''}".strip() for day, record in zip(days, records, strict=True)]
    return [f"{name}: " if name else "" for name in names]


def _join_sentences(sentences: Sequence[str]) -> str:
    """Join sentences with spaces, after a semicolon where one ends without punctuation."""
    *others, last = sentences
    return " ".join([*(text if _ENDED.search(text) else f"{text};" for text in others), last])
