"""Fold: str -> str.

One spelling for what a reader takes for one word: compatibility forms, case, Arabic vowel marks and alef
forms, Hebrew points, foreign digits, typographic apostrophes and dashes. ``plain`` goes further and drops
accents; it makes an additional form and replaces none, so "resume" and "résumé" find each other and yet
stay two terms.

Folding works on one word at a time, because NFKC changes lengths ("㎏", "ﬁ") and offsets must stay those
of the original text. It does not know what a word is; ``scrubjay.text.tokens`` does.
"""

from __future__ import annotations

import unicodedata
from functools import cache

TERM_MARKS = "#'+-._"
"""The only ASCII characters besides letters and digits that a term may hold; a store must not split there."""

_ASCII_MARKS = frozenset(TERM_MARKS)

# What is dropped: soft hyphen, zero-width (non-)joiner, Hebrew points, Arabic tatweel, vowel and Koran marks,
# and the dot that casefolding leaves of a Turkish capital İ.
_DROPPED = (
    "\u00ad\u200c\u200d\u0307\u0640\u0670"
    + "".join(chr(c) for c in range(0x0591, 0x05C8) if c not in (0x05BE, 0x05C0, 0x05C3, 0x05C6))
    + "".join(map(chr, range(0x064B, 0x0660)))
    + "".join(map(chr, range(0x06D6, 0x06DD)))
    + "".join(map(chr, range(0x06DF, 0x06E5)))
)
_FOLDS = str.maketrans(
    dict.fromkeys(_DROPPED, "")
    | dict.fromkeys("\u0622\u0623\u0625\u0671", "\u0627")  # alef with madda, hamza or wasla -> alef
    | {"\u0649": "\u064a"}  # alef maqsura -> yeh
    | dict.fromkeys("\u2018\u2019\u02bc", "'")
    | dict.fromkeys("\u2010\u2011", "-")
)
# Letters that no decomposition turns into a base letter, though readers type the base letter.
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"})

# Most of the texts that are not ASCII hold nothing else besides.
_TYPOGRAPHIC = (
    ("\u2019", "'"),
    *((mark, " ") for mark in "\u201c\u201d\u2014\u2013\u2026\u00a0\u2018\u2022\u2192"),
)


def fold(word: str) -> str:
    """Return the one spelling under which a word is indexed and asked for.

    NFKC, casefold, NFKC again; then letters, digits, combining marks and ``TERM_MARKS`` are kept and
    everything else is dropped (some letters decompose into phrases with spaces).

    Args:
        word: One word of any script; any string is allowed.

    Returns:
        The folded word; empty if nothing of it is a letter, digit, mark or term mark.
    """
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold().translate(_FOLDS))
    return folded if folded.isalpha() else "".join(map(_kept, folded))


def typographic(text: str) -> str:
    """Return a text with the marks of typesetters written in ASCII: each parts words as it did, offsets stay.

    What is still not ASCII then has letters or marks of its own. It is asked of every text, so it only looks
    for the marks that are common.
    """
    for mark, ascii_mark in _TYPOGRAPHIC:
        if text.isascii():
            break
        text = text.replace(mark, ascii_mark)
    return text


def plain(word: str) -> str:
    """Return a folded word without accents ("café" -> "cafe"), or the word itself where it has none.

    Only marks of the Latin, Greek and Cyrillic block are dropped: in Indic scripts and kana a mark is a
    sound of its own. й keeps its breve, since и is another letter.
    """
    if word.isascii():
        return word
    parts = ("й" if c == "й" else _base(c) for c in word)
    return "".join(parts).translate(_PLAIN)


@cache
def word_marks() -> str:
    r"""Return the combining marks that continue a word, as ranges for a regular-expression class.

    Python's ``\w`` leaves them out and would cut Hindi at every vowel sign. Variation selectors and keycap
    marks belong to emoji and are left out. Only the basic plane is scanned (about 2 ms, once, and only when
    a text is not ASCII).
    """
    blocks = ((0x0300, 0x1E00), (0x302A, 0x3100), (0xA66F, 0xAC00), (0xFB1E, 0xFB1F), (0xFE20, 0xFE30))
    ranges: list[list[int]] = []
    for first, last in blocks:
        for code in range(first, last):
            if unicodedata.category(chr(code))[0] != "M":
                continue
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "\u00ad\u200c\u200d" + "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


def _kept(char: str) -> str:
    if char.isascii():
        return char if char.isalnum() or char in _ASCII_MARKS else ""
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    return char if char.isalnum() or char == "\u2044" or unicodedata.category(char)[0] == "M" else ""  # 1⁄2


def _base(char: str) -> str:
    if char.isascii():
        return char
    decomposed = unicodedata.normalize("NFD", char)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f"))
