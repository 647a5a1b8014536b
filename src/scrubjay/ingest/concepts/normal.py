"""Normal: str -> str. The form under which two spellings are one name, and which names are none."""

from __future__ import annotations

import re
from typing import Final, Literal

from scrubjay.ingest.concepts.common import COMMON, GENERIC
from scrubjay.ingest.concepts.level import is_plain, level
from scrubjay.ingest.concepts.ordinary import rank
from scrubjay.ingest.concepts.plural import singular
from scrubjay.text.languages import function_words

Care = Literal["any", "capital", "coded", "marked", "written"]

LONGEST: Final = 100
"""Longest name in characters; what is longer is a sentence."""

ORDINARY: Final = 5_000
"""Rank below which a word in backticks is a word in backticks (``created``, ``stable``)."""

_LONGEST_COMMON: Final = max(map(len, COMMON))

_GENERIC: Final = frozenset(map(singular, GENERIC))

_DIGITS = re.compile(r"[\W\d_]+")
_DATE = re.compile(
    r"\d{1,4}([./-])\d{1,2}\1\d{1,4}"
    r"|(?:[a-z]{3,9}\.? )?\d{1,2}(?:st|nd|rd|th)?,? (?:of )?[a-z]{3,9}\.?,? ?\d{2,4}"
    r"|[a-z]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?"
    r"|\d{1,2}:\d\d(?::\d\d)? ?(?:am|pm)?",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"(?:^|\W)(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez)", re.IGNORECASE
)


def normal(name: str) -> str:
    """Return the normal form of a name: folded words joined by one space, "" where there are none.

    Case, accents and width do not tell names apart, nor do a dash and a space. A call's brackets and the marks
    of Markdown fall off; a code name, a file name, an option stay whole.

    Example:
        >>> normal("**Retrieval-Augmented** Generation"), normal("foo_bar()"), normal("C++")
        ('retrieval augmented generation', 'foo_bar', 'c++')
    """
    return name.strip().lower() if is_plain(name) else " ".join(level(name).split())


def refused(name: str, *, given: bool = False, folded: str | None = None) -> str | None:
    """Return why a name cannot be a concept's, or None.

    Args:
        name: As written.
        given: Whether a person gave it. Then one capital letter ("C", "R") and capitals that fold to a common
            word ("IT", "Go", "THE WHO") are names; ``care`` says how they are matched.
        folded: Its normal form, where that is known.

    Returns:
        A clause for a person, as in ``"the" is refused: …``.
    """
    if len(name) > LONGEST:
        return f"it has {len(name)} characters; a name has at most {LONGEST}"
    folded = normal(name) if folded is None else folded
    if not folded:
        return "it holds no letter"
    if _DIGITS.fullmatch(folded):
        return "it holds digits only"
    if _is_date(name.strip()):
        return "it is a date"
    if len(folded) == 1 and folded.isascii() and not (given and name.strip() == folded.upper()):
        return "it is one letter"
    return _refused_words(name.strip(), folded, given)


def care(name: str, kind: str = "given") -> Care:
    """Return how much of a name's case must stand in a text for it to be meant there.

    ``written``: all of it. So it is for capitals that fold to common words ("IT" is not "it"), for one letter
    ("C"), and for a code name that is a capitalised word (``Option`` is not every option). ``capital``: its first
    letter, for what became known as a capitalised name (Slack is a product, slack is not) or is the title of a page
    in one word. ``marked``: any, but
    only as a link or a tag, for a page or tag that bears a generic word. ``coded``: any, but only in backticks, for
    code that is an ordinary word (``match``). ``any``: none.
    """
    if kind in ("page", "tag") and " " not in name and is_generic(normal(name)):
        return "marked"
    if kind == "code" and name.islower() and all(map(is_everyday, level(name).split())):
        return "coded"
    if name.islower():
        return "written" if len(name) == 1 else "any"
    if kind == "code" and name.isalpha() and name[1:].islower():
        return "written"
    long = name.isascii() and len(name) > _LONGEST_COMMON and name.isalpha()
    if not long and all(len(word) == 1 or is_common(word) for word in level(name).split()):
        return "written"
    careful = kind == "name" or (kind == "page" and name.isalpha())
    return "capital" if careful and name[:1].isupper() else "any"


def is_common(word: str) -> bool:
    """Tell whether a folded word is a function word of a known language or an ordinary English word."""
    return word in COMMON or word in function_words()


def is_generic(word: str) -> bool:
    """Tell whether a folded word names nothing by itself: a common one, or a noun of computing and work."""
    return singular(word) in _GENERIC or is_common(word)


def is_everyday(word: str) -> bool:
    """Tell whether a folded word is generic or among the commonest of English: in backticks alone it is a name."""
    return is_generic(word) or rank(word) <= ORDINARY


def _is_date(name: str) -> bool:
    found = _DATE.fullmatch(name)
    return found is not None and (not any(char.isalpha() for char in name) or _MONTH.search(name) is not None)


def _refused_words(name: str, folded: str, given: bool) -> str | None:
    words = folded.split(" ")
    if not all(word in function_words() or (not given and word in COMMON) for word in words):
        return None
    capital = name != name.lower()
    odd = name[1:] != name[1:].lower()
    if given and (odd or (capital and not all(word in function_words("en") for word in words))):
        return None
    return "it is a common word" if len(words) == 1 else "it is made of common words alone"
