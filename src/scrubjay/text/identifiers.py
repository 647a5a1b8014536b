"""Split: one source word -> its spellings and its parts.

``test_tokens.py`` is itself, ``test_tokens``, ``test``, ``tokens`` and ``py``. Cut at dots, then dashes, then
underscores, then changes of case, keeping what each cut yields, so that a name is found by whichever piece
of it someone remembers. The rules and their reasons stand in ``scrubjay.text.tokens``.
"""

from __future__ import annotations

import re
from itertools import islice

from scrubjay.text.folding import fold

LONGEST_SPLIT = 40
"""A piece longer than this is not split at case: it is a hash or base64, whose pieces would be noise."""

_BEGINNINGS = 3  # of a compound number such as a version or an address; nobody asks for more of one
_JOINERS = str.maketrans("\u2019\u2010\u2011", "'--")
_CASE = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER = re.compile(r"[vV]?\d+[.\-]")
_MARK = re.compile(r"[.\-]")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)[Tt]\d")
_ENGLISH_ENDINGS = frozenset(("s", "d", "m", "ll", "re", "ve"))


def split(word: str) -> dict[str, tuple[str, ...]]:
    """Return the whole and the parts of a source word, each folded, each with all its spellings.

    Args:
        word: A source word as written; its case tells where to cut.

    Returns:
        Folded piece to its spellings, the piece itself among them, the whole first. Empty if the word folds
        to nothing.

    Example:
        >>> split("HTTPServer")
        {'httpserver': ('httpserver',), 'http': ('http',), 'server': ('server',)}
    """
    parts: dict[str, tuple[str, ...]] = {}
    _cut(word.translate(_JOINERS), parts)
    return parts


def _cut(piece: str, parts: dict[str, tuple[str, ...]]) -> None:
    piece = piece.strip("_")
    folded = fold(piece)
    if not folded or folded in parts:
        return
    if folded.isalnum() and piece[1:] == folded[1:] and folded[0] != "v":
        parts[folded] = (folded,)  # most parts: nothing to cut, spelled one way
    else:
        parts[folded] = _spellings(folded)
        _take_apart(piece, parts)


def _take_apart(piece: str, parts: dict[str, tuple[str, ...]]) -> None:
    for mark in ".-_":
        if mark in piece:
            for part in _at_mark(piece, mark):
                _cut(part, parts)
            return
    base, plus, version = piece.partition("++")
    if plus:
        for part in (base if len(base) > 1 else "", base + plus if version else ""):
            _cut(part, parts)
    elif len(piece) <= LONGEST_SPLIT and "'" not in piece:
        for part in _CASE.split(piece):
            if len(part) > 1:
                parts.setdefault(fold(part), (fold(part),))


def _at_mark(piece: str, mark: str) -> list[str]:
    """Return what a mark separates, and before that the beginnings of a number of several parts."""
    pieces = piece.split(mark)
    if mark == "." and _is_initials(pieces):
        return []
    beginnings = []
    if _NUMBER.match(piece):
        ends = [match.start() for match in islice(_MARK.finditer(piece), 1, 1 + _BEGINNINGS)]
        beginnings = [piece[:end] for end in reversed(ends)]
    return [m.group(1) for m in _DAY.finditer(piece)] + beginnings + pieces


def _spellings(folded: str) -> tuple[str, ...]:
    spellings = [folded]
    if "." in folded:
        pieces = folded.split(".")
        if _is_initials(pieces):
            spellings.append("".join(pieces))
    elif not folded.isalnum() and any(c.isalpha() for c in folded):
        spellings.append(folded.replace("-", "").replace("_", ""))
        if folded.count("'") and spellings[-1] == folded:
            spellings += _sides(folded)
    if folded[0] == "v" and folded[1:2].isdigit():
        spellings.append(folded[1:])
    return tuple(dict.fromkeys(spellings))


def _sides(folded: str) -> list[str]:
    """Return what an apostrophe joins: an article and its noun, a name and its case ending."""
    *heads, tail = folded.split("'")
    if tail == "t":  # don't, isn't: no word ends where the apostrophe stands
        return []
    if tail not in _ENGLISH_ENDINGS:
        heads.append(tail)
    return [side for side in heads if len(side) > 1]


def _is_initials(pieces: list[str]) -> bool:
    return len(pieces) > 1 and all(len(piece) == 1 and piece.isalpha() for piece in pieces)
