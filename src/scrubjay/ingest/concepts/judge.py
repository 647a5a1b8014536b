"""Judge: Signs -> Found | None. Whether a phrase is a concept, what it is called, and how it became known."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.concepts.common import CALENDAR
from scrubjay.ingest.concepts.evidence import Signs
from scrubjay.ingest.concepts.normal import is_common, is_generic, refused
from scrubjay.ingest.concepts.ordinary import UNKNOWN, keyness, rank

TWICE: Final = 2
"""Passages in which a name must stand with its capital (or as code): once may be a slip, or an only mention."""
CODE_TIMES: Final = 3
"""Times that a plain word must stand in backticks: twice are often one listing and its explanation."""
TERM_PASSAGES: Final = 4
"""Passages that a lower-case phrase must stand in to be more than its author's turn of phrase."""
TERM_KEYNESS: Final = 15
"""A defined word (italic, and in a heading) must be used this many times as often as in English."""
TITLE_KEYNESS: Final = 50
"""The same for a word that headings alone speak for."""
OWN_KEYNESS: Final = 60
"""From here on a text's own use of a word outweighs the ordinary one, whatever its case."""
RARE: Final = 8_000
"""Rank from which on a word is hardly met in ordinary English."""
ORDINARY: Final = 5_000
"""Rank below which a word in backticks is a word in backticks (``created``, ``stable``)."""
_LONGEST_TERM: Final = 3

_NUMBERED: Final = re.compile(
    r"(?:listing|chapter|figure|step|part|section|appendix|table|phase|week|day|quarter|q|fy)s?(?: ?\d.*)?"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A name that texts use for something.

    Attributes:
        name: As it is mostly written.
        aliases: Its abbreviation, and itself in lower case where it is also written so; sorted.
        kind: One of ``memory.concepts.KINDS``.
        support: Passages of the window in which it stands.
    """

    name: str
    aliases: tuple[str, ...]
    kind: str
    support: int


def possible(form: str, signs: Signs) -> bool:
    """Tell whether a phrase could be a concept at all, before its passages are counted."""
    name = _commonest(signs.spelled, signs.spelled)
    if _NUMBERED.fullmatch(form) or form.endswith("n_t") or refused(name, given=True, folded=form):
        return False
    marked = "page" in signs.found or "tag" in signs.found or signs.aliases
    often = signs.found.get("code", 0) >= CODE_TIMES and name[:1].isupper()
    return bool(marked or often or not all(map(is_common, form.split(" "))))


def judge(form: str, signs: Signs, words: int, before: int = 0) -> Found | None:
    """Decide on one phrase.

    Args:
        form: Its normal form.
        signs: What speaks for it.
        words: Words of all texts, about.
        before: Memories of the store that hold it already, in whatever case.
    """
    name = _commonest(signs.spelled, signs.spelled)
    for kind in ("page", "tag"):
        if kind in signs.found:
            return _found(name, kind, signs)
    if signs.aliases:
        return _found(name, "name", signs)
    return _one_word(form, name, signs, words, before) if " " not in form else _phrase(form, name, signs)


def _found(name: str, kind: str, signs: Signs, *more: str) -> Found:
    aliases = sorted({*signs.aliases, *more} - {name})
    return Found(name, tuple(aliases), kind, signs.passages)


def _one_word(form: str, name: str, signs: Signs, words: int, before: int) -> Found | None:
    capitals = [spelling for spelling in signs.spelled if spelling != spelling.lower()]
    code, small, capital = _coded(signs), signs.small, signs.capital
    common = _is_plain(form)
    title = name.isalpha() and name[1:].islower() and name[0].isupper()
    ordinary, key = rank(form), keyness(form, signs.times, words)
    term = _is_term(form, signs, key)
    if common and not term and not (title and code >= CODE_TIMES):
        return None
    if term and small > capital:
        return _found(form, "heading", signs)
    own = ordinary > RARE and (key >= OWN_KEYNESS or (ordinary >= UNKNOWN and small <= 3 * capital))
    written = min(signs.found.get("capital", 0) + signs.found.get("odd", 0), signs.passages)
    named = written + code + (before if own else 0)
    if capitals and written and not common and named >= TWICE and (small <= capital or own):
        best = _commonest(capitals, signs.spelled)
        loose = small and (own or (2 * small <= capital and ordinary > 3_000))
        return _found(best, "name", signs, *((form,) if loose else ()))
    if title and code >= CODE_TIMES:
        return _found(name, "code", signs)
    special = not name.isalpha() or name[1:] != name[1:].lower()
    if (
        len(form) > 2
        and code + before >= (TWICE if special else CODE_TIMES)
        and code
        and (special or ordinary > ORDINARY)
    ):
        return _found(name, "code", signs)
    return _found(form, "heading", signs) if term else None


def _phrase(form: str, name: str, signs: Signs) -> Found | None:
    words = form.split(" ")
    plain = all(map(_is_plain, words))
    small, capital = signs.small, signs.capital
    capitals = [spelling for spelling in signs.spelled if spelling != spelling.lower()]
    written = signs.found.get("capital", 0) + signs.found.get("odd", 0)
    enough = CODE_TIMES if plain else TWICE
    if (
        capitals
        and written
        and written + _coded(signs) >= enough
        and small <= capital
        and min(map(len, words)) > 1
    ):
        best = _commonest(capitals, signs.spelled)
        return _found(best, "name", signs, *((form,) if small and 2 * small <= capital else ()))
    if _coded(signs) >= (CODE_TIMES if " " in name else TWICE):
        return _found(name, "code", signs)
    named = signs.headings or signs.found.get("italic", 0)
    if (
        named
        and len(words) <= _LONGEST_TERM
        and not _is_plain(words[0])
        and not _is_plain(words[-1])
        and signs.passages >= TERM_PASSAGES
    ):
        return _found(form, "heading", signs)
    return None


def _commonest(spellings: Collection[str], counts: Mapping[str, int]) -> str:
    if len(spellings) == 1:
        return next(iter(spellings))
    return max(spellings, key=lambda spelling: (counts[spelling], spelling))


def _coded(signs: Signs) -> int:
    return min(signs.found.get("code", 0), signs.code)


def _is_plain(word: str) -> bool:
    return word in CALENDAR or len(word) == 1 or word.isdigit() or is_generic(word)


def _is_term(form: str, signs: Signs, key: float) -> bool:
    """Tell whether an ordinary-looking word is one that these texts speak of as a thing."""
    if _is_plain(form) or form.endswith("ly") or signs.passages < CODE_TIMES:
        return False
    if signs.found.get("italic", 0) and signs.headings and key >= TERM_KEYNESS:
        return True
    return signs.found.get("capital", 0) > 0 and signs.headings >= TWICE and key >= TITLE_KEYNESS
