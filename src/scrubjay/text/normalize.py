"""Normalization: fold case, accents and typography, and split scripts that are written without spaces.

Words are folded one at a time, because NFKC changes lengths and offsets must stay those of the text. Han, kana,
Hangul, Thai, Lao, Khmer and Burmese are indexed as character bigrams: most have no spaces, Korean glues particles to
nouns, and dictionaries would be larger than this package.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

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
_UNACCENTED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
)

# Most of the texts that are not ASCII hold nothing else besides.
_TYPOGRAPHIC = (
    ("\u2019", "'"),
    *((mark, " ") for mark in "\u201c\u201d\u2014\u2013\u2026\u00a0\u2018\u2022\u2192"),
)


def fold(word: str) -> str:
    """Return the spelling under which a word is indexed and asked for; "" where nothing of it is left.

    NFKC, casefold, NFKC again; then only letters, digits, combining marks and ``TERM_MARKS`` are kept.
    """
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold().translate(_FOLDS))
    return folded if folded.isalpha() else "".join(map(_keep_char, folded))


def normalize_typography(text: str) -> str:
    """Return a text with common typographic marks in ASCII; word boundaries and offsets stay."""
    for mark, ascii_mark in _TYPOGRAPHIC:
        if text.isascii():
            break
        text = text.replace(mark, ascii_mark)
    return text


def strip_accents(word: str) -> str:
    """Return a folded word without Latin, Greek and Cyrillic accents, but й; other marks are sounds of their own."""
    if word.isascii():
        return word
    parts = ("й" if c == "й" else _base_letter(c) for c in word)
    return "".join(parts).translate(_UNACCENTED)


@cache
def word_marks() -> str:
    r"""Return the combining marks that continue a word, as ranges for a regular-expression class.

    Python's ``\w`` leaves them out and would cut Hindi at every vowel sign. Emoji's marks are left out.
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


def _keep_char(char: str) -> str:
    if char.isascii():
        return char if char.isalnum() or char in _ASCII_MARKS else ""
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    return char if char.isalnum() or char == "\u2044" or unicodedata.category(char)[0] == "M" else ""  # 1⁄2


def _base_letter(char: str) -> str:
    if char.isascii():
        return char
    decomposed = unicodedata.normalize("NFD", char)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f"))


_RUN_CLASS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u109d\uaa60-\uaa7f\u1780-\u17d3"  # Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318e\ua960-\ua97c\uac00-\ud7fb"  # Hangul, composed or not
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)
# What NFKC may compose into one character: kana and its voicing mark, the parts of a Hangul syllable.
_CLUSTER = "[\u1100-\u115f\ua960-\ua97c][\u1160-\u11a7]?[\u11a8-\u11ff]?|.[\u3099\u309a\uff9e\uff9f]?"


def has_unspaced(text: str) -> bool:
    return _unspaced_pattern().search(text) is not None


def split_scripts(text: str) -> Iterator[tuple[bool, int, int]]:
    """Yield whether a piece is a run of an unspaced script, its start and its end."""
    for match in _piece_pattern().finditer(text):
        yield match.lastgroup == "run", match.start(), match.end()


def bigrams(run: str) -> list[tuple[tuple[str, ...], int, int]]:
    """Return the folded bigrams of a run, each with the terms it emits and its offsets within the run.

    The first term is the bigram (or the only character). A Han or Hangul character is also a term of the bigram that it
    begins, the last one of the last bigram, so each occurrence counts once.
    """
    if fold(run) == run:
        chars = [(char, i, i + 1) for i, char in enumerate(run)]
    else:
        clusters = re.finditer(_CLUSTER, run, re.DOTALL)
        chars = [(char, match.start(), match.end()) for match in clusters for char in fold(match.group())]
    if len(chars) == 1:
        return [((chars[0][0],), chars[0][1], chars[0][2])]
    found = [(_bigram_terms(a, a + b), start, end) for (a, start, _), (b, _, end) in pairwise(chars)]
    if found and _is_word_by_itself(chars[-1][0]):
        emitted, start, end = found[-1]
        found[-1] = (tuple(dict.fromkeys((*emitted, chars[-1][0]))), start, end)
    return found


def _bigram_terms(first: str, gram: str) -> tuple[str, ...]:
    return (gram, first) if _is_word_by_itself(first) else (gram,)


def _is_word_by_itself(char: str) -> bool:
    """Han and Hangul characters are often words; kana and Thai are not."""
    return char >= "\u3400" and not "\uff66" <= char <= "\uff9f"


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_RUN_CLASS}]")


@cache
def _piece_pattern() -> re.Pattern[str]:
    return re.compile(f"(?P<run>[{_RUN_CLASS}]+)|[^{_RUN_CLASS}]+")


def latin_share(query: str) -> float:
    """Return the share of a query's letters that are Latin, 1 where it has none."""
    letters = [character for character in query if character.isalpha()]
    if not letters:
        return 1.0
    return sum(1 for character in letters if ord(character) < 0x250) / len(letters)


def normalize_content(text: str) -> str:
    """Return a text as it is compared: NFC, one blank between words."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


CUT_MARK = "…"
"""Marks where a text was cut."""


def inside_grapheme(content: str, place: int) -> bool:
    """Return whether ``place`` is inside a grapheme cluster, such as an accented letter, a flag or a family emoji."""
    if not 0 < place < len(content):
        return False
    before, after = content[place - 1], content[place]
    if (
        unicodedata.category(after)[0] == "M"
        or "\u200d" in (before, after)
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    ):
        return True
    flags = 0  # regional indicators are read in pairs
    while flags < place and "\U0001f1e6" <= content[place - 1 - flags] <= "\U0001f1ff":
        flags += 1
    return flags % 2 == 1 and "\U0001f1e6" <= after <= "\U0001f1ff"
