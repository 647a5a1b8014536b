"""Stem: str -> str.

Snowball stems of folded words. The stemmer is imported when first asked for, since most commands of the
CLI never stem a word.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Protocol, cast

SNOWBALL: dict[str, str] = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Snowball's name of each language that ``languages.language`` can answer and Snowball can stem."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


_LOCK = Lock()  # a Snowball stemmer works in a buffer of its own and is not re-entrant


def stem(word: str, language: str) -> str:
    """Return the Snowball stem of a folded word.

    Args:
        word: A folded word; any string that can be written as UTF-8.
        language: ISO 639-1 code. A language without a Snowball stemmer leaves the word as it is.

    Returns:
        The stem, or ``word`` where there is no stemmer or the stemmer leaves nothing.
    """
    stemmer = _stemmer(language)
    if stemmer is None:
        return word
    with _LOCK:
        return stemmer.stemWord(word) or word


@cache
def _stemmer(language: str) -> _Stemmer | None:
    name = SNOWBALL.get(language)
    if name is None:
        return None
    import Stemmer

    # The library's own cache of 10,000 words is off: ``tokens`` keeps the forms of every word it met.
    return cast(_Stemmer, Stemmer.Stemmer(name, 0)) if name in Stemmer.algorithms() else None
