"""Judge: Signs -> Found | None. Whether a phrase is a concept, what it is called, and how it became known."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from scrubjay.ingest.concepts.common import CALENDAR
from scrubjay.ingest.concepts.normal import is_common, is_everyday, is_generic, refused
from scrubjay.ingest.concepts.ordinary import UNKNOWN, keyness, rank
from scrubjay.ingest.concepts.signs import Found, Signs

TWICE: Final = 2
"""Passages in which a name must stand with its capital (or as code): once may be a slip, or an only mention."""
THRICE: Final = 3
"""Passages for what has less to speak for it: a plain word in backticks, a phrase in small letters."""
TERM_KEYNESS: Final = 12
"""A defined word (italic, and in a heading) must be used this many times as often as in English."""
OWN_KEYNESS: Final = 100
"""From here on a text's own use of a word outweighs the ordinary one, whatever its case."""
CLOSING: Final = 0.25
"""Share of a noun's occurrences that end a phrase: thread .63, string .27, immutable .23, internal .11."""
SLOPPY: Final = 4
"""Small letters that a name may have for one capital, or one link: git is also written so, flavor is no name."""
RARE: Final = 8_000
"""Rank from which on a word is hardly met in ordinary English."""
PLAIN_CODE: Final = 10
"""Times in backticks from which on even ``Result`` is a name; it is then looked for as written."""
EVERYDAY: Final = 3_000
"""Rank below which capitals are often mere emphasis ("Director", "Blue"): five of six must be written so."""
_SHORT: Final = 3
_LONGEST_TERM: Final = 3

_NUMBERED: Final = re.compile(
    r"(?:listing|chapter|figure|step|part|section|appendix|table|phase|week|day|quarter|q|fy)s?(?: ?\d.*)?"
)


def possible(form: str, signs: Signs) -> bool:
    """Tell whether a phrase could be a concept at all, before its passages are counted."""
    name = _commonest(signs.spelled, signs.spelled)
    often = signs.found.get("code", 0) >= (THRICE if name[:1].isupper() else PLAIN_CODE)
    refusal = not often and refused(name, given=True, folded=form)
    if _NUMBERED.fullmatch(form) or form.endswith("n_t") or refusal:
        return False
    marked = "page" in signs.found or "tag" in signs.found or signs.aliases
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
    if "page" in signs.found:
        own = keyness(form, signs.times, words) >= OWN_KEYNESS
        return _found(name, "page", signs, *((form,) if own and name.isalpha() else ()))
    if "tag" in signs.found:
        return _found(name, "tag", signs)
    addressed = signs.small <= SLOPPY * signs.found.get("link", 0) and not all(
        map(_is_plain, form.split(" "))
    )
    if "link" in signs.found and addressed and (rank(form) > RARE or name != name.lower()):
        return _found(name, "name", signs, *((form,) if signs.small else ()))
    if signs.aliases:
        return _found(name, "name", signs)
    if "bare" in signs.found and _times(signs, "bare", "code") + before >= TWICE:
        return _found(name, "code", signs)
    if " " in form:
        return _phrase(form, name, signs, before)
    return _one_word(form, name, signs, words, before)


def _found(name: str, kind: str, signs: Signs, *more: str) -> Found:
    aliases = sorted({*signs.aliases, *more} - {name})
    return Found(name, tuple(aliases), kind, signs.passages)


def _one_word(form: str, name: str, signs: Signs, words: int, before: int) -> Found | None:
    times = keyness(form, signs.times, words)
    if _is_term(form, signs, times) and signs.small > signs.capital:
        return _found(_term_name(signs), "heading", signs)
    named, coded = _capitalised(form, signs, times, before), _code(form, name, signs, before)
    if named and coded and form in signs.spelled and signs.code >= signs.small:
        return _found(named.name, "name", signs, form)  # Cargo is what `cargo` runs
    return named or coded


def _capitalised(form: str, signs: Signs, times: float, before: int) -> Found | None:
    """A word that has a capital within sentences, and mostly so."""
    capitals = [spelling for spelling in signs.spelled if spelling != spelling.lower()]
    capital = signs.found.get("capital", 0) + signs.found.get("odd", 0)
    if not capitals or not capital or _is_plain(form):
        return None
    name, place = _commonest(capitals, signs.spelled), rank(form)
    odd = min(signs.found.get("odd", 0), signs.passages) if name[0].islower() else 0  # macOS
    small, code = max(0, signs.small - odd), _coded(signs)
    own = place > RARE and times >= OWN_KEYNESS and small <= SLOPPY * capital and not name.isupper()
    own = own or (place >= UNKNOWN and code > 0 and small <= 2 * capital)
    known = min(capital, signs.passages) + code + (before if place > RARE else 0)
    share = 5 if place < EVERYDAY else 1
    if known < TWICE or (small * share > capital and not own):
        return None
    short = name.isupper() and len(name) <= _SHORT  # TS is TypeScript, ts is somebody's variable
    loose = small and not short and (own or (2 * small <= capital and place > RARE))
    return _found(name, "name", signs, *((form,) if loose else ()))


def _code(form: str, name: str, signs: Signs, before: int) -> Found | None:
    """A name that stands in backticks."""
    code = _coded(signs)
    if not code:
        return None
    title = name.isalpha() and name[0].isupper() and name[1:].islower()
    if title:
        enough = PLAIN_CODE if _is_plain(form) else THRICE
    elif form.isalpha():
        if is_generic(form) and not is_common(form):
            return None
        if is_everyday(form):
            enough = PLAIN_CODE
        elif rank(form) < UNKNOWN and signs.small > 2 * signs.code:
            return None
        else:
            enough = PLAIN_CODE if len(form) < _SHORT else TWICE if rank(form) > RARE else THRICE
    else:
        enough = THRICE if name.islower() else TWICE  # user_name, index.html: often one example's own
    # Memories of before hold the word, as code or not: of an everyday word that says nothing.
    stored = 0 if form.isalpha() and is_everyday(form) else before
    return _found(name, "code", signs) if code + stored >= enough else None


def _phrase(form: str, name: str, signs: Signs, before: int) -> Found | None:
    words = form.split(" ")
    plain = [_is_plain(word) for word in words]
    capitals = [spelling for spelling in signs.spelled if spelling != spelling.lower()]
    within = signs.found.get("capital", 0) + signs.found.get("odd", 0)
    written = within + (0 if any(plain) else signs.found.get("title", 0))
    enough = THRICE if all(plain) else TWICE
    # A part of longer headings that are quoted in full: "Run Code Simultaneously".
    quoted = len(words) > TWICE and signs.headings and "heading" not in signs.found
    if (
        capitals
        and not quoted
        and written
        and written + _coded(signs) + before >= enough
        and signs.small <= written
        and min(map(len, words)) > 1
    ):
        loose = (form,) if signs.small and within else ()
        return _found(_commonest(capitals, signs.spelled), "name", signs, *loose)
    if _coded(signs) >= (THRICE if " " in name else TWICE):
        return _found(name, "code", signs)
    if len(words) > _LONGEST_TERM or all(plain) or signs.passages < THRICE or signs.closing < CLOSING:
        return None
    if not any(map(is_common, words)) and ("italic" in signs.found or (signs.headings and not plain[-1])):
        return _found(_term_name(signs), "heading", signs)
    return None


def _term_name(signs: Signs) -> str:
    """Return the commonest spelling in lower case, else the commonest there is."""
    small = [spelling for spelling in signs.spelled if spelling.islower()]
    return _commonest(small or signs.spelled, signs.spelled)


def _commonest(spellings: Collection[str], counts: Mapping[str, int]) -> str:
    if len(spellings) == 1:
        return next(iter(spellings))
    return max(spellings, key=lambda spelling: (counts[spelling], spelling))


def _times(signs: Signs, *kinds: str) -> int:
    """Return how often there is evidence of some kinds, once a passage at most."""
    return min(sum(signs.found.get(kind, 0) for kind in kinds), signs.passages)


def _coded(signs: Signs) -> int:
    return min(signs.found.get("code", 0), signs.code)


def _is_plain(word: str) -> bool:
    return word in CALENDAR or len(word) == 1 or word.isdigit() or is_generic(word)


def _is_term(form: str, signs: Signs, times: float) -> bool:
    """Tell whether an ordinary-looking word is one that these texts speak of as a thing."""
    if _is_plain(form) or rank(form) < EVERYDAY or signs.closing < CLOSING or signs.passages < THRICE:
        return False
    return bool(signs.found.get("italic", 0) and signs.headings and times >= TERM_KEYNESS)
