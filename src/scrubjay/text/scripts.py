"""Scripts: str -> runs of writing without spaces, and the rest.

Han, kana, Hangul, Thai, Lao, Khmer and Burmese are indexed as character bigrams: most of them write no
spaces, and a dictionary for each would be larger than this package. Korean does write spaces, but glues
its particles to the noun ("학교에서" holds "학교"); bigrams find the noun without a morphological analyser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from scrubjay.text.folding import fold

_RUN_CLASS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u109d\uaa60-\uaa7f\u1780-\u17d3"  # Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318e\ua960-\ua97c\uac00-\ud7fb"  # Hangul, composed or not
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)
# What NFKC may compose into one character: kana and its voicing mark, the parts of a Hangul syllable.
_CLUSTER = "[\u1100-\u115f\ua960-\ua97c][\u1160-\u11a7]?[\u11a8-\u11ff]?|.[\u3099\u309a\uff9e\uff9f]?"


def holds_run(text: str) -> bool:
    """Tell whether any character is of these scripts."""
    return _run().search(text) is not None


def pieces(text: str) -> Iterator[tuple[bool, int, int]]:
    """Cut a text at every change into or out of these scripts.

    Yields:
        Whether the piece is such a run, its start and its end.
    """
    for match in _piece().finditer(text):
        yield match.lastgroup == "run", match.start(), match.end()


def bigrams(run: str) -> list[tuple[tuple[str, ...], int, int]]:
    """Return the folded bigrams of a run, each with the terms it emits and its offsets within the run.

    The first term is the bigram (of a run of one character, that character). A Han or Hangul character,
    which may be a whole query, is a further term of the bigram that it begins; the last bigram answers for
    both of its characters. So each occurrence of a character is counted once.
    """
    if fold(run) == run:
        chars = [(char, i, i + 1) for i, char in enumerate(run)]
    else:
        clusters = re.finditer(_CLUSTER, run, re.DOTALL)
        chars = [(char, match.start(), match.end()) for match in clusters for char in fold(match.group())]
    if len(chars) == 1:
        return [((chars[0][0],), chars[0][1], chars[0][2])]
    found = [(_terms(a, a + b), start, end) for (a, start, _), (b, _, end) in pairwise(chars)]
    if found and _stands_alone(chars[-1][0]):
        emitted, start, end = found[-1]
        found[-1] = (tuple(dict.fromkeys((*emitted, chars[-1][0]))), start, end)
    return found


def _terms(first: str, gram: str) -> tuple[str, ...]:
    return (gram, first) if _stands_alone(first) else (gram,)


def _stands_alone(char: str) -> bool:
    """Tell whether a character is commonly a word by itself: Han and Hangul are, kana and Thai are not."""
    return char >= "\u3400" and not "\uff66" <= char <= "\uff9f"


@cache
def _run() -> re.Pattern[str]:
    return re.compile(f"[{_RUN_CLASS}]")


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(f"(?P<run>[{_RUN_CLASS}]+)|[^{_RUN_CLASS}]+")


def latin_share(query: str) -> float:
    """Return the share of a query's letters that are Latin, 1 where it has none.

    >>> latin_share("naïve café"), latin_share("東京 tokyo"), latin_share("42")
    (1.0, 0.7142857142857143, 1.0)
    """
    letters = [character for character in query if character.isalpha()]
    if not letters:
        return 1.0
    return sum(1 for character in letters if ord(character) < 0x250) / len(letters)
