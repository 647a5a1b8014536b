"""Sentences: where they end, and which full stops do not end one.

A cut within a statement changes its meaning, so in doubt the text stays whole: after an abbreviation,
before a lower-case word, and in brackets.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from scrubjay.text.normalize import word_set

MIN_WRAPPED_LINE: Final = 60
"""Characters from which a line may have been wrapped, so that its sentence continues in the next."""
ABBREVIATIONS: Final = word_set(
    "st nr dr prof mr mrs ms jr sr approx ca etc vs eg ie cf al inc ltd dept tel max min vol est betw resp incl excl "
    "bzw usw evtl ggf inkl exkl zzgl abzgl abt geb mio mrd vgl sog ing dipl bd bspw str hr fr kd mwst "
    "mme mlle pág sra"
)
"""Words that end in a full stop wherever they are."""
BEFORE_NUMBERS: Final = word_set(
    "no best art fig ext ed gen rev co av pos bestellnr kto pp ch sec jan feb mar apr jun jul aug sep sept oct okt nov "
    "dec dez mon tue wed thu fri sat sun"
)
"""Words that are also whole ones: short only before a number ("Feb. 2019", "no. 5", "Best. HK-19877")."""
ORDINAL_MONTHS: Final = word_set(
    "januar jänner februar feber märz april mai juni juli august september oktober november dezember"
)
"""German months, before which a full stop makes a day of a number ("3. Januar"); other languages that write days so
do not capitalise their months, and a sentence goes on before a lower-case word."""
_ORDINAL: Final = re.compile(r"(?:\d{1,2}\./)?\d{1,2}")
_DOTTED_LETTERS: Final = re.compile(r"[^\W\d_]{1,2}(?:\.[^\W\d_]{1,2})+")
"""Such as "a.m", "z.B" and "e.g"."""
_BRACKETED: Final = re.compile(r"\([^()\n]{1,200}\)|\[[^\[\]\n]{1,200}\]")
_CLOSING: Final = "\"'”’)]*_"
_PUNCTUATION: Final = ".,;:!?" + _CLOSING
_MAX_WORD: Final = 40
"""Characters in which the word before a full stop is searched."""
_SENTENCE_END: Final = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)|[。！？]|\n|$")
_DAY_NUMBER: Final = re.compile(r"\d{1,2}(?:\.\d{1,2})?")
"""Numbers whose full stop may end no sentence: "am 1. Dezember", "am 24.12."."""
_NEXT_WORD: Final = re.compile(r"\s{0,40}([^\s]{0,40})")
_OPENING: Final = "\"'“„‘’([*_"


def bracketed_ranges(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _BRACKETED.finditer(text)] if "(" in text or "[" in text else []


def is_abbreviated(word: str, following: str) -> bool:
    """Return whether a word before a full stop is an abbreviation; ``following`` is the next word.

    >>> pairs = (("Feb", "2019"), ("Feb", "We"), ("Hauptstr", "5"), ("Kd.-Nr", "A7"), ("a.m", ""), ("3", "Januar"))
    >>> [is_abbreviated(*pair) for pair in pairs]
    [True, False, True, True, True, True]
    """
    last = word.lstrip(_OPENING).rpartition("-")[2].lower()
    if last in BEFORE_NUMBERS:
        return any(char.isdigit() for char in following)
    if _ORDINAL.fullmatch(last):
        return following.rstrip(_PUNCTUATION).lower() in ORDINAL_MONTHS
    return (
        (len(last) == 1 and last.isalpha())
        or last in ABBREVIATIONS
        or last.endswith("str")
        or _DOTTED_LETTERS.fullmatch(last) is not None
    )


def continues_after(text: str, at: int, brackets: Sequence[tuple[int, int]] = ()) -> bool:
    """Return whether a sentence goes on after the marks that end at ``at``.

    >>> text = "I'm free betw. 9 and 11 a.m. on Mondays. Call me."
    >>> [continues_after(text, place) for place in (len("I'm free betw."), text.index(" Call"))]
    [True, False]
    """
    place = bisect_left(brackets, (at,)) - 1
    if place >= 0 and at < brackets[place][1]:
        return True
    before = text[max(0, at - _MAX_WORD) : at].rstrip(_CLOSING)
    if not before.endswith(".") or before.endswith(".."):
        return False
    behind = _NEXT_WORD.match(text, at)
    following = behind[1].lstrip(_OPENING) if behind else ""
    if not following:
        return False
    words = before[:-1].split()
    return following[0].islower() or (bool(words) and is_abbreviated(words[-1], following))


def ends_sentence(text: str, at: int, brackets: Sequence[tuple[int, int]] = ()) -> bool:
    """Return whether a sentence ends at ``at``, or with a full stop there."""
    if text[at : at + 1] == ".":
        at += 1
    if continues_after(text, at, brackets):
        return False
    words = text[max(0, at - _MAX_WORD) : at].split()
    word = words[-1].rstrip(".").lstrip("(\"'„“").rpartition("-")[2] if words else ""
    return text[at - 1 : at] != "." or not _DAY_NUMBER.fullmatch(word) or not text[at:].strip()


def sentence_ends(text: str, brackets: Sequence[tuple[int, int]], start: int = 0) -> Iterator[int]:
    """Yield where the sentences behind ``start`` end; the last one ends with the text."""
    for found in _SENTENCE_END.finditer(text, start):
        if ends_sentence(text, found.end(), brackets):
            yield found.end()
