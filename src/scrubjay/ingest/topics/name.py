"""Name: the memories of each topic -> its name, in words that people wrote.

A term tells of a topic by how many of its memories hold it and how few of the others do,

    share inside * log(share inside / share outside) * (1 + share of the topic's titles that hold it)

(a term's part of the divergence between the two). The name is the best three, each in the spelling most used
in the topic's central memories, and longer where one word nearly always stands next to another: "GitHub
Actions", "数据库". Two topics never have the same name.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import lru_cache
from itertools import count
from typing import Final

from scrubjay.ingest.topics.leaf import Leaf
from scrubjay.text.languages import function_words
from scrubjay.text.scripts import holds_run
from scrubjay.text.tokens import emitted, find

WORDS: Final = 3
"""Words or phrases in a name."""
CANDIDATES: Final = 30
"""Terms whose spelling is looked up; those that repeat a chosen one are passed over."""
CENTRAL: Final = 8
"""Members that spellings are read from."""
READ: Final = 2_000
"""Characters of each that are read."""
ALWAYS: Final = 0.6
"""Share of its uses in which a word must stand next to another to be named together with it."""
LEAST_USES: Final = 3
"""Uses together that make two words one name."""
LONGEST: Final = 40
"""Characters of one word or phrase: a hash is no name."""

BESIDE: Final = 0.2
"""Worth that a neighbour must have, as a share of the best term's."""

PARTICLES: Final = frozenset(
    "的了是在和与也就都而及着之这那我你他她它们不一をはがにのでともへやかなるたてすし"
)
"""Characters that are mostly grammar: a bigram with one of them is no name."""

_NEXT, _LAST = re.compile(r"[ \-]\w[\w]*"), re.compile(r"\w[\w]*[ \-]\Z")
_NEXT_LETTER, _LAST_LETTER = re.compile(r"\w"), re.compile(r"\w\Z")

_FILE = re.compile(r"[./_\\]|-.*-|\d-")
"""What stands in the names of files, pages and variables: a person would not call a topic so."""

Worth = dict[str, float]


def worths(groups: Sequence[Sequence[Leaf]], others: Iterable[Leaf] = ()) -> list[Worth]:
    """Return what each term tells of each topic, above zero, the best terms first.

    Args:
        groups: Each topic's memories; none empty.
        others: Memories in none of the groups: what they say too is not distinctive.
    """
    inside = [Counter(term for leaf in group for term in leaf.terms) for group in groups]
    everywhere: Counter[str] = Counter()
    total = sum(len(group) for group in groups)
    for leaf in others:
        everywhere.update(leaf.terms.keys())
        total += 1
    for held in inside:
        everywhere.update(held)
    return [_worth(group, held, everywhere, total) for group, held in zip(groups, inside, strict=True)]


def _worth(group: Sequence[Leaf], held: Counter[str], everywhere: Counter[str], total: int) -> Worth:
    titles = Counter(term for leaf in group for term in _title_terms(leaf.title))
    size, rest = len(group), total - len(group)
    worth = {}
    for term, times in held.items():
        outside = (everywhere[term] - times + 0.5) / (rest + 1)
        if times > 1 and times / size > outside:
            worth[term] = times / size * math.log(times / size / outside) * (1 + titles[term] / size)
    return dict(sorted(worth.items(), key=lambda one: (-one[1], one[0])))


@lru_cache(maxsize=8_192)
def _title_terms(title: str) -> frozenset[str]:
    """Return the terms of a title; a memory's is read for its topic and for the theme above."""
    return frozenset(form for word in emitted(title) for form in word)


def name(group: Sequence[Leaf], worth: Mapping[str, float], taken: Iterable[str] = ()) -> str:
    """Name one topic.

    Args:
        group: Its memories, the most central first.
        worth: What each term tells of it, the best first.
        taken: Names that are in use; the name is none of them, also when case is ignored.
    """
    used = {one.casefold() for one in taken}
    words = list(_words(group, worth)) or [leaf.title for leaf in group if leaf.title][:1] or ["untitled"]
    for length in range(min(WORDS, len(words)), len(words) + 1):
        label = ", ".join(words[:length])
        if label.casefold() not in used:
            return label
    return next(one for number in count(2) if (one := f"{label} ({number})").casefold() not in used)


def _words(group: Sequence[Leaf], worth: Mapping[str, float]) -> Iterator[str]:
    """Yield the topic's words, the most telling first, none repeating another; twice as many as a name has."""
    wanted = dict(list(worth.items())[:CANDIDATES])
    texts = [(f"{leaf.title}\n{leaf.text[:READ]}", leaf.language) for leaf in group[:CENTRAL]]
    spellings: dict[str, Counter[str]] = {term: Counter() for term in wanted}
    for text, language in texts:
        for start, end, forms in find(text, wanted, language):
            for form in forms:
                spellings[form][text[start:end]] += 1
    plain = _function_words(frozenset(leaf.language for leaf in group))
    said: set[str] = set()
    chosen: list[str] = []
    for term, spelled in spellings.items():
        if len(chosen) == 2 * WORDS:
            return
        word = min(spelled, key=lambda one: (-spelled[one], one), default="")
        if term in plain or not _telling(word):
            continue
        grown = _grown(word, [text for text, _ in texts], worth)
        word = grown if _telling(grown) else word
        told = {form for one in emitted(word) for form in one} | {term}
        if not said & told and not any(word.casefold() in one.casefold() for one in chosen):
            said |= told
            chosen.append(word)
            yield word


@lru_cache(maxsize=64)
def _function_words(languages: frozenset[str]) -> Set[str]:
    found = set(function_words("en"))
    for language in languages:
        with suppress(KeyError):  # Han and Thai have no list
            found |= function_words(language)
    return found


def _telling(word: str) -> bool:
    """Tell whether a word can be a name: no number, hash, byte or file; of two letters only an acronym."""
    if len(word) > LONGEST or not any(letter.isalpha() for letter in word) or _FILE.search(word):
        return False
    if word.isascii():
        return word[0].isalpha() and (len(word) > 2 or (len(word) == 2 and word.isalpha() and word.isupper()))
    return len(word) > 2 or (len(word) == 2 and not PARTICLES & set(word))


def _grown(word: str, texts: Sequence[str], worth: Mapping[str, float]) -> str:
    """Return a word with those telling ones that nearly always stand beside it; a bigram with its compound."""
    runs = holds_run(word)
    next_one, last_one = (_NEXT_LETTER, _LAST_LETTER) if runs else (_NEXT, _LAST)
    while len(word) <= LONGEST:
        here = re.compile(re.escape(word) if runs else rf"{re.escape(word)}(?!\w)")
        beside: Counter[tuple[bool, str]] = Counter()
        uses = 0
        for text in texts:
            for found in here.finditer(text):
                if not runs and text[found.start() - 1 : found.start()].isalnum():
                    continue
                uses += 1
                after = next_one.match(text, found.end())
                before = last_one.search(text, max(0, found.start() - LONGEST), found.start())
                beside.update((one is after, one[0]) for one in (after, before) if one)
        best = max(beside, key=lambda one: (beside[one], one), default=(True, ""))
        if beside[best] < max(LEAST_USES, ALWAYS * uses) or not _tells(best[1], worth, runs):
            return word
        word = word + best[1] if best[0] else best[1] + word
    return word


def _tells(part: str, worth: Mapping[str, float], run: bool) -> bool:
    """Tell whether a neighbour is part of the name, and not an article or "of" that stands there everywhere."""
    if run:
        return part not in PARTICLES
    least = BESIDE * max(worth.values())
    return any(worth.get(form, 0.0) >= least for forms in emitted(part) for form in forms)
