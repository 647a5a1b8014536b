"""Spell: a topic's central memories, what terms tell of it -> the words that people wrote for these terms.

What nobody wrote as a word is none: parts of addresses, paths, file names, attributes and identifiers, slugs,
codes and numbers. A term that stands in such only has no spelling.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Final

from scrubjay.ingest.topics.leaf import Leaf
from scrubjay.text.folding import typographic
from scrubjay.text.languages import function_words
from scrubjay.text.scripts import holds_run
from scrubjay.text.tokens import find

CENTRAL: Final = 12
"""Members that are read."""
READ: Final = 2_000
"""Characters of each that are read."""
DISTINCT: Final = 200
"""Different pieces between spaces above which only those that come twice are looked at."""
LONGEST: Final = 40
"""Characters of one word: a hash is no name."""

PARTICLES: Final = frozenset(
    "的了是在和与也就都而及着之这那我你他她它们不一をはがにのでともへやかなるたてすし"
)
"""Characters that are mostly grammar: a bigram with one of them is no name."""

_WORD = re.compile(r"[^\W\d_](?>(?:[^\W_]|['’-](?=[^\W_]))*)(?:\.js|\+\+|#)?")
_EDGES = ".,;:!?…()[]{}\"'“”‘’«»*_"
"""What may stand at either side of a word; anything else makes it part of an address, a path, a call, a tag."""
_CODE = re.compile(
    r"[a-z]{3,}[A-Z][a-z]|[a-z]+\d+-|[^\n-]*+-[^\n-]*+-|[^\n\d]*+\d.*[a-z]\d|.*\d{3}|.*['’][a-z]"
)
"""Written for machines: camels with a small head, slugs, hashes. And "can't", which names nothing either."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the central memories of a topic say.

    Attributes:
        text: Their titles and texts.
        runs: Whether any of it is in a script without spaces.
        spellings: Term to the spelling most used, the most telling first.
        weights: Word as it is written to what the best of its terms tells.
    """

    text: str
    runs: bool
    spellings: Mapping[str, str]
    weights: Mapping[str, float]


def said(central: Sequence[Leaf], worth: Mapping[str, float]) -> Said:
    """Return how the central memories spell what tells of their topic.

    Args:
        central: The topic's memories, the most central first.
        worth: What each term tells of it, the best first.
    """
    texts = [f"{leaf.title}\n{leaf.text[:READ]}" for leaf in central[:CENTRAL]]
    language = Counter(leaf.language for leaf in central).most_common(1)[0][0]
    text = "\n".join(texts)
    runs = not typographic(text).isascii() and holds_run(text)
    plain = _function_words(language)
    spelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, term, times in chain(_in_words(text, worth), _in_runs(texts, worth, language) if runs else ()):
        if term not in plain:
            spelled[term][word] += times
    best = {term: _most_used(spelled[term]) for term in worth if term in spelled}
    weights = {word: worth[term] for term, words in spelled.items() for word in words}
    return Said(text, runs, best, weights)


def _most_used(words: Counter[str]) -> str:
    return min(words, key=lambda word: (-words[word], word)) if len(words) > 1 else next(iter(words))


def _in_words(text: str, worth: Mapping[str, float]) -> Iterator[tuple[str, str, int]]:
    """Yield each word that is a telling term, that term, and how often it comes."""
    pieces = Counter(text.split())
    several = len(pieces) > DISTINCT
    for piece, times in pieces.items():
        if times > several:
            word = piece.strip(_EDGES)
            term = word.casefold()
            if term in worth and _WORD.fullmatch(word) and not piece.endswith("::"):
                yield word, term, times


def _in_runs(
    texts: Sequence[str], worth: Mapping[str, float], language: str
) -> Iterator[tuple[str, str, int]]:
    """Yield each piece of a script without spaces that is a telling term."""
    for text in texts:
        for start, end, forms in find(text, worth, language):
            if holds_run(text[start:end]):
                yield from ((text[start:end], form, 1) for form in forms)


@cache
def _function_words(language: str) -> frozenset[str]:
    return function_words("en") | function_words(language)


def telling(word: str) -> bool:
    """Tell whether a word can be a name: no hash or slug, of two letters only an acronym."""
    if len(word) > LONGEST or not any(letter.isalpha() for letter in word):
        return False
    if word.isascii():
        if _CODE.match(word):
            return False
        return word[0].isalpha() and (
            len(word) > 2 or (len(word) == 2 and word.isalpha() and word.isupper()) or word[1:2] in ("#", "+")
        )
    return len(word) > 2 or (len(word) == 2 and not PARTICLES & set(word))
