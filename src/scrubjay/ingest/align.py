"""Align: old passages, new texts -> which new text is which old memory.

Ids must survive edits elsewhere in the file and small edits of their own text. First by equal text, in
order; then, among what is left, by equal heading path and likeness; last by likeness alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from typing import Final

from scrubjay.memory.records import Record

SAME_SECTION: Final = 0.1
"""Least likeness of two texts under the same headings to be one memory that was edited: nearly any, since
a section keeps its subject while its words change."""
SAME_TEXT: Final = 0.6
"""Least likeness where the headings differ: a section that was renamed or moved, not another one."""
MOST_COMPARED: Final = 400
"""Unmatched passages compared with one another; beyond, each with those near its own place, under equal headings."""
NEAR: Final = 20
"""Places before and after a passage's own at which it is looked for in a document of more."""
MOST_KEPT: Final = 4
"""Likest candidates that are kept of those."""
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Text:
    """What is known of a new passage before it has an id."""

    content_hash: str
    heading_path: tuple[str, ...]
    content: str


def align(old: Sequence[Record], new: Sequence[Text]) -> list[Record | None]:
    """Return, for each new passage, the old memory that it is, or None for a new one.

    No old memory is given twice. The same input gives the same answer.
    """
    found: list[Record | None] = [None] * len(new)
    by_hash: dict[str, deque[Record]] = defaultdict(deque)
    for record in old:
        by_hash[record.content_hash].append(record)
    for place, text in enumerate(new):
        if by_hash[text.content_hash]:
            found[place] = by_hash[text.content_hash].popleft()
    taken = {record.id for record in found if record is not None}
    left = [record for record in old if record.id not in taken]
    open_places = [place for place, record in enumerate(found) if record is None]
    if not left or not open_places:
        return found
    _pair(found, left, open_places, new, same_headings=True)
    taken = {record.id for record in found if record is not None}
    left = [record for record in left if record.id not in taken]
    open_places = [place for place in open_places if found[place] is None]
    if left and len(left) * len(open_places) <= MOST_COMPARED**2:
        _pair(found, left, open_places, new, same_headings=False)
    return found


def _pair(
    found: list[Record | None],
    left: Sequence[Record],
    places: Sequence[int],
    new: Sequence[Text],
    *,
    same_headings: bool,
) -> None:
    floor = SAME_SECTION if same_headings else SAME_TEXT
    words = lru_cache(maxsize=2 * MOST_COMPARED)(_words)
    by_path: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in left:
        by_path[record.heading_path].append(record)
    asked = Counter(new[place].heading_path for place in places)
    seen: Counter[tuple[str, ...]] = Counter()
    pairs: list[tuple[float, int, int, str, Record]] = []
    for place in places:
        path = new[place].heading_path
        beside = by_path[path] if same_headings else left
        first, last = 0, len(beside)
        if same_headings and asked[path] * len(beside) > MOST_COMPARED**2:
            here = seen[path] * len(beside) // asked[path]
            first, last = max(0, here - NEAR), here + NEAR
        seen[path] += 1
        own = _words(new[place].content)
        found_here = []
        for rank, record in enumerate(beside[first:last], first):
            alike = _likeness(own, words(record.content))
            if alike >= floor:
                found_here.append((-alike, abs(place - rank), place, record.id, record))
        if last - first < len(beside):
            found_here = nsmallest(MOST_KEPT, found_here, key=lambda pair: pair[:4])
        pairs += found_here
    used: set[str] = set()
    for _, _, place, memory, record in sorted(pairs, key=lambda pair: pair[:4]):
        if found[place] is None and memory not in used:
            found[place] = record
            used.add(memory)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _likeness(a: frozenset[str], b: frozenset[str]) -> float:
    if not a and not b:
        return 1.0
    return len(a & b) / len(a | b)
