"""Name: what the memories of a topic say -> its name, in words that people wrote.

The name is the three most telling words, each in the spelling most used in the topic's central memories, and
longer where one word nearly always stands next to another: "GitHub Actions", "数据库". Two topics never have
the same name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Final

from scrubjay.ingest.topics.spell import LONGEST, PARTICLES, Said, telling
from scrubjay.text.scripts import holds_run
from scrubjay.text.tokens import terms

WORDS: Final = 3
"""Words or phrases in a name; up to twice as many where another topic has the name already."""
ALWAYS: Final = 0.6
"""Share of its uses in which a word must stand next to another to be named together with it."""
LEAST_USES: Final = 3
"""Uses together that make two words one name."""
USES: Final = 30
"""Uses of a word that are looked at."""
BESIDE: Final = 0.2
"""Worth that a neighbour must have, as a share of the best term's."""

_NEXT, _LAST = re.compile(r"[ \-]\w+"), re.compile(r"(?<!\w)\w++[ \-]\Z")
_NEXT_LETTER, _LAST_LETTER = re.compile(r"\w"), re.compile(r"\w\Z")
_JOINTS = frozenset(" -")


def name(
    said: Said, titles: Sequence[str], taken: Iterable[str] = (), plain: Collection[str] = frozenset()
) -> str:
    """Name one topic.

    Args:
        said: What its central memories say.
        titles: Theirs, of which the first stands in where no word tells anything.
        taken: Names that are in use; the name is none of them, also when case is ignored.
        plain: Folded words that name nothing.
    """
    used = {one.casefold() for one in taken}
    words: list[str] = []
    for word in _words(said, plain):
        words.append(word)
        if len(words) >= WORDS and ", ".join(words).casefold() not in used:
            return ", ".join(words)
    words = words or [title for title in titles if title][:1] or ["untitled"]
    for length in range(min(WORDS, len(words)), len(words) + 1):
        label = ", ".join(words[:length])
        if label.casefold() not in used:
            return label
    return next(one for number in count(2) if (one := f"{label} ({number})").casefold() not in used)


def _words(said: Said, plain: Collection[str]) -> Iterator[str]:
    """Yield the topic's words, the most telling first, none repeating another; twice as many as a name has."""
    told: set[str] = set()
    chosen: list[str] = []
    for term, spelled in said.spellings.items():
        if term in plain or term in told or not telling(spelled):
            continue
        word = _grown(spelled, said)
        forms = {*terms(word).counts, term}
        if not told & forms and not any(word.casefold() in one.casefold() for one in chosen):
            told |= forms
            chosen.append(word)
            yield word
        if len(chosen) == 2 * WORDS:
            return


def _grown(word: str, said: Said) -> str:
    """Return a word with those telling ones that nearly always stand beside it; a bigram with its compound."""
    runs, text = said.runs and holds_run(word), said.text
    next_one, last_one = (_NEXT_LETTER, _LAST_LETTER) if runs else (_NEXT, _LAST)
    while len(word) <= LONGEST:
        beside: Counter[tuple[bool, str]] = Counter()
        uses = 0
        for start, end in _uses(word, text, runs):
            uses += 1
            if runs or text[end : end + 1] in _JOINTS:
                after = next_one.match(text, end)
                beside[True, after[0] if after else ""] += 1
            if runs or text[start - 1 : start] in _JOINTS:
                before = last_one.search(text, max(0, start - LONGEST), start)
                beside[False, before[0] if before else ""] += 1
        best = max(beside, key=lambda one: (beside[one], one), default=(True, ""))
        often = beside[best] >= max(LEAST_USES, ALWAYS * uses)
        if not often or not best[1] or not _tells(best[1], said.weights, runs):
            return word
        word = word + best[1] if best[0] else best[1] + word
    return word


def _uses(word: str, text: str, runs: bool) -> Iterator[tuple[int, int]]:
    start, seen = text.find(word), 0
    while start >= 0 and seen < USES:
        end = start + len(word)
        if runs or not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
            seen += 1
            yield start, end
        start = text.find(word, end)


def _tells(part: str, weights: Mapping[str, float], run: bool) -> bool:
    """Tell whether a neighbour is part of the name, and not an article or "of" that stands there everywhere."""
    if run:
        return part not in PARTICLES
    word = part.strip(" -")
    return telling(word) and weights.get(word, 0.0) >= BESIDE * max(weights.values())
