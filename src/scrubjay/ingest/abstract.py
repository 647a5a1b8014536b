"""Abstract: (title, content, heading_path) -> (L0, L1): a phrase and a paragraph taken from a memory itself.

Extractive: what is taken are sentences, list items, headings, a table's header, a fence's first line, in
their order and in the writer's words, without Markdown's marks. Nothing is generated, so nothing can be said
that the memory does not say. They are taken from the top, for there writers say what it is about; what brings
few words that were not said yet is passed over, and more code, more rows and exclamations come in only when
room is left.

Lengths count source words as ``tokens.terms`` does: a run of n characters of an unspaced script is n - 1.
A unit that is longer than all the room is cut between two words, never inside a grapheme; a word that is
itself too long is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import Final, NamedTuple
from unicodedata import category

from scrubjay.ingest.sentences import sentences
from scrubjay.text.folding import typographic, word_marks
from scrubjay.text.markdown import even
from scrubjay.text.scripts import holds_run, pieces
from scrubjay.text.tokens import words

L0_TOKENS: Final = 30
L1_TOKENS: Final = 120
CHARACTERS: Final = 12
"""Most characters a token of room: English has six, with the space; a blob or a data URL finds no place."""
SHORTEST: Final = 2
"""Least characters a word and the space behind it have."""
FEW: Final = 7
"""Characters a token: of a content with fewer for all of L1, words are counted before sentences are read."""
READ: Final = 8_000
"""Characters read: a passage has 1,250 on average, but an addition may be a pasted log of megabytes."""
NEW: Final = 0.34
"""Share of its words that a unit must bring which none before it brought."""
EMPTY: Final = 0.4
"""Share of the room that is not left empty: a sentence is cut rather."""
SHORT: Final = 3
"""A sentence of fewer tokens ("Certainly!") comes in only when room is left."""
HELD: Final = frozenset(("more code", "row"))
"""Kinds that come in only when room is left: lines of code after the first, rows after a table's header."""
CUT_MARK: Final = "…"

_ASCII = re.compile(r"[A-Za-z0-9]\w*+(?>(?:[.'\-]\w++)*)(?>(?:\+\+\d++)?)", re.ASCII)
"""Counts as ``tokens`` does, in a fourth of the time; a test holds the two together."""
_PAUSE = re.compile(r"[,;:.!?)](?=\s)|[，、；：。！？」』）؛،।]")
_ENDS = frozenset(".!?:;…。！？।؟۔｡：；")


class _Unit(NamedTuple):
    place: int
    kind: str
    text: str
    size: int


def abstract(title: str, content: str, heading_path: Sequence[str] = ()) -> tuple[str | None, str | None]:
    """Return L0, of at most 30 tokens, and L1, of at most 120; None where the content is no longer.

    Args:
        title: Its title; a heading in the content that says the same is passed over.
        content: The full text; marks of taken-out secrets stay as they are.
        heading_path: Headings above it, passed over like the title.

    >>> abstract("", "user: yes")
    (None, None)
    """
    if content.isascii() and len(content) < L0_TOKENS * SHORTEST:
        return None, None
    size = _count(content) if len(content) < L1_TOKENS * FEW else L1_TOKENS + 1
    if size <= L0_TOKENS:
        return None, None
    known = {name.casefold() for name in (title, *heading_path)}
    units, read = _read(content, known, L1_TOKENS if size > L1_TOKENS else L0_TOKENS)
    if size > L1_TOKENS >= read:  # all was read; what was passed over counts too
        size = _count(content)
    return (
        _chosen(units, L0_TOKENS) if size > L0_TOKENS else None,
        _chosen(units, L1_TOKENS) if size > L1_TOKENS else None,
    )


def _read(content: str, known: set[str], room: int) -> tuple[list[_Unit], int]:
    """Return the first units that say something new, more than fit, else also the ones held back."""
    read = even(content[:READ])
    runs = not typographic(read).isascii() and holds_run(read)
    units: list[_Unit] = []
    held: list[_Unit] = []
    said: set[str] = set()
    total = 0
    for place, (kind, text) in enumerate(sentences(read)):
        if kind in HELD:
            held.append(_Unit(place, kind, text, 0))
            continue
        found = _words(text)
        bag, before = set(found), len(said)
        said |= bag
        if kind == "heading":
            passed = text.casefold() in known
        else:
            passed = len(said) - before < NEW * len(bag)
        if passed or not found:
            continue
        size = _count(text) if runs else len(found)
        if kind == "text" and size < SHORT:
            held.append(_Unit(place, kind, text, size))
            continue
        units.append(_Unit(place, kind, text, size))
        total += size
        if total > room:
            return units, total
    sized = (unit._replace(size=_count(unit.text)) for unit in held[:room])
    return [*units, *(unit for unit in sized if unit.size)], total


def _words(text: str) -> list[str]:
    flat = typographic(text)
    if flat.isascii():
        return _ASCII.findall(flat)
    return [raw for raw in _unicode().findall(text) if raw.strip("_")]


def _word(text: str) -> re.Pattern[str]:
    return _ASCII if text.isascii() else _unicode()


@cache
def _unicode() -> re.Pattern[str]:
    word = rf"\w[\w{word_marks()}]*"
    return re.compile(rf"{word}(?:[.'\u2019\u2010\u2011\-]{word})*(?:\+\+\d+)?")


def _count(text: str) -> int:
    """Return the number of source words, or a few more: decomposed characters are counted one by one."""
    flat = typographic(text)
    if flat.isascii() or not holds_run(text):
        return len(_words(text))
    word = _unicode()
    return sum(
        max(1, end - start - 1) if run else sum(1 for raw in word.findall(text, start, end) if raw.strip("_"))
        for run, start, end in pieces(text)
    )


def _chosen(units: Sequence[_Unit], tokens: int) -> str | None:
    """Take units as long as there is room; the first that does not fit is cut where much room is left."""
    room, letters = tokens, tokens * CHARACTERS
    taken: list[_Unit] = []
    for unit in units:
        if unit.size > room or len(unit.text) > letters:
            cut = _cut(unit.text[:letters], room) if room > tokens * EMPTY else ""
            if cut:
                taken.append(unit._replace(text=cut))
                break
            if taken and unit.size > room:
                break
            continue
        taken.append(unit)
        room -= unit.size
        letters -= len(unit.text)
    return _joined(sorted(taken)) or None


def _joined(units: Sequence[_Unit]) -> str:
    """Write units one after another; what has no mark at its end gets one."""
    text = ""
    for unit in units:
        if text:
            text += "" if text[-1] in "。！？" else " " if text[-1] in _ENDS else "; "
        text += f"{unit.text}:" if unit.kind == "heading" and unit is not units[-1] else unit.text
    return text


def _cut(text: str, tokens: int) -> str:
    """Return the beginning of a text up to a pause in the second half of the room, else a word.

    Where no spaces show the words, a pause in the last two thirds will do.
    """
    runs = not text.isascii() and holds_run(text)
    if runs:
        ends = [word.end for word in islice(words(text), tokens + 1)]
    else:
        flat = typographic(text)  # offsets stay
        ends = [found.end() for found in islice(_word(flat).finditer(flat), tokens + 1)]
    if len(ends) < 2:
        return ""
    last = ends[-2]  # whether the last one found goes on behind the room is not known
    pauses = [pause.end() for pause in _PAUSE.finditer(text, ends[len(ends) // (3 if runs else 2)], last + 1)]
    return text[: pauses[-1] if pauses else _whole(text, last)].rstrip(" ,;:，、；：،") + CUT_MARK


def _whole(text: str, end: int) -> int:
    """Move a cut back to the edge of what is drawn as one character."""
    while end > 0 and (category(text[end])[0] == "M" or "\u200d" in text[end - 1 : end + 1]):
        end -= 1
    return end
