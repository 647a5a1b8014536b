"""Words: str -> tuple[Word, ...], alike for what a person says of themselves and what is said of them.

"I'm", "I am" and "the user is" are read as the same words. Only forms that cannot change what is said are made alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple


def bag(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


ME: Final = "<me>"
MINE: Final = "<mine>"
"""A person, and what is theirs, whoever speaks."""
WIDE: Final = 60
"""Characters of a line that may go on in the next; a shorter one ends what it says."""

_MARKS: Final = {ord(a): b for a, b in zip("’‘ʼ“”„«»–—−\u00a0", '\'\'\'"""""--- ', strict=True)}
_PIECE: Final = re.compile(r"\S+")
_OPENING: Final = "([{\"'*_~`<¿¡"
_CLOSING: Final = ")]}\"'*_~`>"
_BREAKS: Final = ",:"
_STOPS: Final = ".!?;…"
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s")

_FILLERS: Final = bag("a an the oh yeah ok okay btw fyi actually honestly uh um")
"""Words without which the same is said, denied or not. Never "just", "really", "well": "I don't sleep well"."""
_ARTICLES: Final = bag("a an the")
_MINE: Final = frozenset(("my", "mine", "our", "ours"))
_ME: Final = frozenset(("i", "me", "we", "us"))
_USERS: Final = frozenset(("user's", "users'"))
_BARE: Final = {
    "im": ("i", "am"), "ive": ("i", "have"), "dont": ("do", "not"), "doesnt": ("does", "not"),
    "didnt": ("did", "not"), "cant": ("can", "not"), "cannot": ("can", "not"), "wont": ("will", "not"),
    "isnt": ("is", "not"), "arent": ("are", "not"), "havent": ("have", "not"), "hasnt": ("has", "not"),
    "wouldnt": ("would", "not"), "can't": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not"),
}  # fmt: skip
_PARTS: Final = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
_OF_ME: Final = frozenset(("he", "she", "they", "him", "her", "them"))
_OF_MINE: Final = frozenset(("his", "her", "their", "theirs", "hers"))
_THIRD: Final = {"am": "is", "are": "is", "have": "has", "do": "does", "go": "goes", "were": "was"}
_BETWEEN: Final = bag("always never usually often mostly now still generally normally regularly mainly")
"""What may stand between "I" and the verb."""
_JOINED: Final = bag(
    """live work like love prefer use want need play speak own run drive study teach eat drink read write have
    keep make take hate enjoy"""
)
"""Verbs that follow "and" without a subject of their own: "I live and work in Porto"."""


class Word(NamedTuple):
    """One word of a text.

    Attributes:
        text: In small letters, without the marks around it; ``ME`` and ``MINE`` for a person.
        start: First character in the text.
        end: The one after its last.
        lead: First character of the article before it, else ``start``.
        breaks: Whether a mark behind it may end a clause.
        begins: Whether a sentence begins with it.
        asks: Whether a question ends with it.
    """

    text: str
    start: int
    end: int
    lead: int
    breaks: bool
    begins: bool
    asks: bool


def words(text: str, *, person: bool = True, claim: bool = False) -> tuple[Word, ...]:
    """Return the words of a text, without articles and fillers.

    Args:
        text: The text.
        person: Whether who says "I" is the user.
        claim: Whether it speaks of the user by that name; a person's own "the user" is somebody else.
    """
    found: list[Word] = []
    begins = True
    article: int | None = None
    for bare, start, end, tail in _pieces(text.translate(_MARKS)):
        named = _named(bare, claim=claim) if person else (bare,)
        parts = [part for one in named for part in _parted(one)]
        parts = [_who(part) if person else part for part in parts if part not in _FILLERS]
        for part in parts:
            lead = start if article is None else article
            found.append(Word(part, start, end, lead, breaks=False, begins=begins, asks=False))
            begins, article = False, None
        stops = any(mark in _STOPS for mark in tail) or "\n" in tail
        if found and (stops or any(mark in _BREAKS + "-()" for mark in tail)):
            found[-1] = found[-1]._replace(breaks=True, asks=found[-1].asks or "?" in tail)
        begins = begins or stops
        article = start if bare in _ARTICLES and not tail else None
    return tuple(found)


def reworded(claimed: str, said: Sequence[Word], at: int) -> bool:
    """Tell whether a word of a claim is the said word at a place, as it is said of somebody else."""
    word = said[at].text
    if word == ME:
        return claimed in _OF_ME
    if word == MINE:
        return claimed in _OF_MINE
    before = [one.text for one in said[max(0, at - 2) : at]]
    verb = before[-1:] == [ME] or (before[:1] == [ME] and before[-1] in _BETWEEN)
    verb = verb or (before[-1:] == ["and"] and word in _JOINED)
    return verb and claimed in _thirds(word)


def _thirds(verb: str) -> tuple[str, ...]:
    if verb in _THIRD:
        return (_THIRD[verb],)
    if not verb.isalpha():
        return ()
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return (verb[:-1] + "ies",)
    return (verb + "es",) if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else (verb + "s",)


def _pieces(text: str) -> Iterator[tuple[str, int, int, str]]:
    """Yield each word in small letters, where it stands, and the marks between it and the next."""
    found = list(_PIECE.finditer(text))
    for number, one in enumerate(found):
        whole = one[0]
        head = len(whole) - len(whole.lstrip(_OPENING))
        bare = whole[head:].rstrip(_CLOSING + _BREAKS + _STOPS)
        start, end = one.start() + head, one.start() + head + len(bare)
        last = number + 1 == len(found)
        gap = "" if last else text[one.end() : found[number + 1].start()]
        tail = text[end : one.end()] + ("\n" if "\n" in gap and _over(text, one.end(), gap) else "")
        tail += "," if "\n" in gap or (not last and found[number + 1][0][0] == "(") else ""
        if bare.strip("-|>=•*+") == "":
            yield "", start, end, "-" + tail
        else:
            yield bare.casefold(), start, end, tail


def _over(text: str, at: int, gap: str) -> bool:
    """Tell whether the line that ends here ends what is said."""
    line = at - (text.rfind("\n", 0, at) + 1)
    return gap.count("\n") > 1 or line < WIDE or _ITEM.match(text, at + gap.index("\n") + 1) is not None


def _named(word: str, *, claim: bool) -> tuple[str, ...]:
    if claim and word in _USERS:
        return (MINE,)
    return (ME,) if claim and word == "user" else (word,)


def _parted(word: str) -> tuple[str, ...]:
    """Return a contraction's words."""
    if not word:
        return ()
    if word in _BARE:
        return _BARE[word]
    if word.endswith("n't"):
        return (word[:-3], "not")
    cut = word.find("'")
    if cut > 0 and word[cut:] in _PARTS:
        return (word[:cut], _PARTS[word[cut:]])
    return (word,)


def _who(word: str) -> str:
    return ME if word in _ME else MINE if word in _MINE else word
