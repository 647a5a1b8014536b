"""Spelling: which words of a vocabulary a mistyped word may mean, by edit distance and word frequency."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from scrubjay.text.language import is_general
from scrubjay.text.tokenizer import UNKNOWN_RANK, TermGroup, word_rank

MIN_MISSPELLED: Final = 5
"""Shortest word that is respelled: shorter ones are mostly function words with too many neighbours (when: then,
hen)."""
MAX_MISSPELLED: Final = 100
"""Longest word that is respelled: nobody mistypes longer ones, and each of its trigrams is looked up."""
MIN_TWO_ERRORS: Final = 10
"""Letters from which a word may have two typing errors; shorter ones have one. Algolia has 8 and Lucene 6, by which
the German vergütung is read as vermutung, verdienst as verdunst."""
MIN_STEM: Final = 6
"""Shortest stem of a query word that is compared: nachb, of nachbar by another language's rules, is near nach."""
MIN_PART: Final = 5
"""Shortest part of a compound that is searched in its place."""
MIN_REST: Final = 4
"""Minimum number of letters that a compound has beyond its part: prefixes of verbs (bekommen, verstehen) have three at
most."""

_NAME: Final = re.compile(r"[\d-]")
"""Signs of a name that the store lacks rather than a misspelling, such as "rank-rankl" or "beta5" (bench/LOG.md)."""
_REGIONAL: Final = re.compile(r"our|[iy]s(?=e|i|a)|tre\b|ogue\b|ence\b")
_AMERICAN: Final = {"our": "or", "is": "iz", "ys": "yz", "tre": "ter", "ogue": "og", "ence": "ense"}


def misspelled_part(group: TermGroup) -> str:
    """Return the letters of a query word that may be mistyped: without an elided article or a possessive ending.

    It is empty for a word of another length than is respelled, and for a name.

    >>> misspelled_part(TermGroup("l'adrese", ("l'adrese",)))
    'adrese'
    """
    part = max(group.word.split("'"), key=len)
    return part if MIN_MISSPELLED <= len(part) <= MAX_MISSPELLED and not _NAME.search(group.word) else ""


def respellings(group: TermGroup, near: Iterable[str]) -> tuple[str, ...]:
    """Return those of the terms near a query word that it may be a misspelling of: all of the fewest typing errors.

    A common word and its inflections are spelled right, whatever is near them; of them only the American or British
    spelling is returned. Stems are compared, too: strakturen may mean struktur. A word without misspelling is read as
    the parts of a compound, or as the compounds it is part of.

    >>> respellings(TermGroup("kettel", ("kettel",)), ["kettle", "settle", "kettles"])
    ('kettle',)
    >>> respellings(TermGroup("colour", ("colour",)), ["colon", "color"])
    ('color',)
    >>> respellings(TermGroup("kaffeemaschine", ("kaffeemaschine",)), ["maschine", "kaffee", "mine"])
    ('maschine', 'kaffee')
    """
    word = misspelled_part(group)
    stems = [form for form in group.forms if len(form) >= MIN_MISSPELLED - 1 and word.startswith(form)]
    terms = tuple(near)
    known = [form for form in (word, *stems) if word_rank(form) < UNKNOWN_RANK]
    if is_general(word) or known:
        return tuple(term for term in terms if _american(term) == _american(word))
    for form in (word, *(stem for stem in stems if len(stem) >= MIN_STEM)):
        errors = {term: typing_errors(form, term) for term in terms}
        least = min(errors.values(), default=len(form))
        if least <= (2 if len(form) >= MIN_TWO_ERRORS else 1):
            return tuple(term for term in terms if errors[term] == least)
    return tuple(term for term in terms if _is_compound(word, term) or _is_compound(term, word))


def typing_errors(word: str, term: str) -> int:
    """Return how many letters were left out, added, replaced or changed over with the next; the first counts twice.

    >>> [typing_errors("kettel", term) for term in ("kettle", "kettles", "settle")]
    [1, 2, 3]
    """
    before: list[int] = []
    above = list(range(len(term) + 1))
    for i, letter in enumerate(word, 1):
        row = [i]
        for j, other in enumerate(term, 1):
            least = min(above[j] + 1, row[-1] + 1, above[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == term[j - 2] and word[i - 2] == other:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        before, above = above, row
    return above[-1] + (word[:1] != term[:1])


def _is_compound(word: str, part: str) -> bool:
    edge = word.startswith(part) or word.endswith(part)
    return edge and len(part) >= MIN_PART and len(word) - len(part) >= MIN_REST


def _american(word: str) -> str:
    return _REGIONAL.sub(lambda match: _AMERICAN[match[0]], word)
