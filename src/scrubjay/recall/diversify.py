"""Diversify: candidates and their records -> candidates of which none says only what one before it says.

Two texts are copies when their words are equal in their order but for case, marks and a few small words
(`text.said`), or when one stands whole in the other and is most of it. No share of words is enough: "30 seconds" is
no copy of "90 seconds", "cannot" none of "can", "staging" none of "production", however long the texts are. A copy is
not lost: the one that is kept says how many there are, and which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record
from scrubjay.text.said import said
from scrubjay.text.vouched import NEGATIONS

LEAST: Final = 2
"""Words from which on texts are compared by what they say; of fewer, only equal ones are copies."""
MOST_OF_IT: Final = 0.5
"""Share of a text that what stands in it must be to be its copy: one sentence of a page is found by itself."""
SHINGLE: Final = 4
"""Words in a row by which the texts are found that may hold another; a shorter one is no sentence."""
_BOUNDS: Final = NEGATIONS | frozenset(
    ("if", "unless", "until", "till", "when", "whenever", "would", "could", "should", "might", "may", "maybe", "only",
     "except", "perhaps", "instead", "?", "false", "wrong", "untrue", "incorrect", "longer", "former", "formerly")
)  # fmt: skip
"""Words that bound or take back what stands beside them: where one of them is left over, nothing is a copy."""


@dataclass(frozen=True, slots=True)
class Diversified:
    """Candidates after folding.

    Attributes:
        candidates: Those that are kept, in the order in which they came.
        copies: Kept candidate to those that say the same, in that order.
    """

    candidates: tuple[Candidate, ...]
    copies: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Text:
    record: Record
    words: tuple[str, ...]
    heading: tuple[str, ...]


def diversify(candidates: Sequence[Candidate], records: Mapping[str, Record]) -> Diversified:
    """Keep the best of memories that say the same: a copy of a note answers nothing more."""
    kept: dict[str, Candidate] = {}
    copies: dict[str, list[str]] = {}
    seen: dict[tuple[str, ...], list[_Text]] = {}
    for candidate in candidates:
        text = _text(records[candidate.id])
        same = next((one for one in _near(text, seen) if _copy(text, one)), None)
        if same is not None:
            copies.setdefault(same.record.id, []).append(candidate.id)
            continue
        kept[candidate.id] = candidate
        for key in {(text.record.content_hash,), text.words, *_shingles(text.words)}:
            seen.setdefault(key, []).append(text)
    return Diversified(tuple(kept.values()), {memory: tuple(ids) for memory, ids in copies.items()})


def _text(record: Record) -> _Text:
    heading = record.heading_path or ((record.title,) if record.place is None else ())
    return _Text(record, said(record.content), said(" ".join(heading)))


def _shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)}


def _near(text: _Text, seen: Mapping[tuple[str, ...], list[_Text]]) -> list[_Text]:
    """Return those seen before that are equal, else of equal words, else hold its first words."""
    equal = seen.get((text.record.content_hash,), [])
    if equal or len(text.words) < LEAST:
        return equal
    return seen.get(text.words) or seen.get(text.words[:SHINGLE], [])


def _copy(text: _Text, better: _Text) -> bool:
    """Return whether a text says only what a better one says, under the same heading and as truly now."""
    if better.record.status != text.record.status and better.record.status != "active":
        return False
    if text.heading and better.heading and text.heading != better.heading:
        return False
    return text.record.content_hash == better.record.content_hash or _within(text.words, better.words)


def _within(words: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    if words == whole:
        return True
    if not MOST_OF_IT * len(whole) <= len(words) < len(whole):
        return False
    for at in range(len(whole) - len(words) + 1):
        if whole[at : at + len(words)] == words:
            return _BOUNDS.isdisjoint((*whole[:at], *whole[at + len(words) :]))
    return False
