"""Alike: sentences that share rare words -> which say the same, and which are changed by a later one.

Likeness nominates, ``ingest/change`` decides, and only about the likest pairs if there are very many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.order import order
from scrubjay.consolidate.promote.facts import plain, words
from scrubjay.ingest.change.change import change
from scrubjay.ingest.concepts.ordinary import rank
from scrubjay.memory.records import Record

LIKE: Final = 0.6
"""Share of their words that two sentences have in common before they are compared."""
MOST_COMPARED: Final = 50_000
"""Pairs that are compared, the likest first: 10 s of processor time at most."""

Place = tuple[str, str, str]
"""Visibility key, project (of what is not said of oneself) and words of a sentence."""


@dataclass(slots=True)
class Form:
    """One sentence, by its words, and everything that says it.

    Attributes:
        text: Its best wording.
        said: Observations that say it.
        known: Memories that are it.
    """

    text: str
    said: list[Record]
    known: list[Record]

    @property
    def last(self) -> tuple[int, int, int, str]:
        """When it was said last."""
        return max(order(record) for record in (*self.said, *self.known))


def wording(text: str) -> tuple[bool, bool, float, str]:
    """Return what sorts sentences by their wording: whole ones first, then those that tell most a word."""
    told = [rank(word) for word in plain(text).split()]
    return (not text[:1].isupper(), text[-1:] not in ".!", -sum(told) / max(1, len(told)), text)


def compared(
    forms: Mapping[Place, Form], blocks: Mapping[int, set[Place]]
) -> tuple[dict[Place, set[Place]], dict[Place, set[Place]]]:
    """Return the sentences that say the same as each, and those said later that change it."""
    told = {place: words(form.text) for place, form in forms.items()}
    likest: dict[tuple[Place, Place], float] = {}
    for block in blocks.values():
        members = sorted(block)
        for n, one in enumerate(members):
            for other in members[n + 1 :]:
                both = len(told[one] & told[other]) / max(1, len(told[one] | told[other]))
                if both >= LIKE:
                    likest[one, other] = both
    same: defaultdict[Place, set[Place]] = defaultdict(set)
    overtaken: defaultdict[Place, set[Place]] = defaultdict(set)
    for pair in sorted(likest, key=lambda pair: (-likest[pair], pair))[:MOST_COMPARED]:
        old, new = sorted(pair, key=lambda place: forms[place].last)
        verdict = change(forms[old].text, forms[new].text).verdict
        if verdict == "duplicate":
            same[old].add(new)
            same[new].add(old)
        elif verdict in ("supersedes", "contradicts"):
            overtaken[old].add(new)
    return same, overtaken


def clusters(forms: Mapping[Place, Form], same: Mapping[Place, set[Place]]) -> list[list[Place]]:
    """Return the sentences around each best-worded one that say the same as it does; each sentence once."""
    left = dict.fromkeys(sorted(forms, key=lambda place: (place[:2], wording(forms[place].text))))
    found = []
    while left:
        first = next(iter(left))
        found.append([first, *sorted(place for place in same.get(first, ()) if place in left)])
        for place in found[-1]:
            del left[place]
    return found
