"""Repeated: (a memory, those told so far) -> the one of them of which it says nothing more, or None.

Two texts are copies when their words are equal in their order but for case, marks and a few small words
(`text.said`), or when one stands whole in the other and is most of it. No share of words is enough: "30 seconds" is
no copy of "90 seconds", "cannot" none of "can", "staging" none of "production", however long the texts are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from scrubjay.memory.records import Record
from scrubjay.text.said import said, vocabulary
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
class _Text:
    record: Record
    words: tuple[str, ...]
    held: frozenset[str]
    heading: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What was told so far, found again by what it says."""

    _by: dict[tuple[str, ...], list[_Text]] = field(default_factory=dict)
    _all: list[_Text] = field(default_factory=list)

    def repeated(self, record: Record) -> str | None:
        """Return the memory of which this one says nothing more; where there is none, it is told from now on."""
        text = _text(record)
        same = next((one for one in self._near(text) if _copy(text, one)), None)
        if same is not None:
            return same.record.id
        for key in {(record.content_hash,), text.words}:
            self._by.setdefault(key, []).append(text)
        self._all.append(text)
        return None

    def _near(self, text: _Text) -> list[_Text]:
        """Return those told before that are equal, else of equal words, else hold its first words."""
        equal = self._by.get((text.record.content_hash,), [])
        if equal or len(text.words) < LEAST:
            return equal
        alike = self._by.get(text.words, [])
        if len(text.words) < SHINGLE or (alike and len(text.words) > SHINGLE):
            return alike
        # Looking costs less than an index of all their words in a row: most hold not even these words.
        first = text.words[:SHINGLE]
        return [one for one in self._all if one.held.issuperset(first) and _stands(first, one.words)]


def _text(record: Record) -> _Text:
    heading = record.heading_path or ((record.title,) if record.place is None else ())
    return _Text(record, said(record.content), vocabulary(record.content), said(" ".join(heading)))


def _stands(first: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Return whether words stand in a text in a row."""
    at = -1
    for _ in range(words.count(first[0])):
        at = words.index(first[0], at + 1)
        if words[at : at + len(first)] == first:
            return True
    return False


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
