"""Alike: sentences that share rare words -> which of them something said later may have changed.

Likeness nominates, ``ingest/change`` decides, and only about the likest pairs if there are very many. In doubt a
sentence counts as changed, so that it is not promoted; no two that differ in a word count as one.
"""

from __future__ import annotations

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


def overtaken(forms: Mapping[Place, Form], blocks: Mapping[int, set[Place]]) -> set[Place]:
    """Return the sentences that one said later changes or contradicts, as far as can be told."""
    told = {place: words(form.text) for place, form in forms.items()}
    likest: dict[tuple[Place, Place], float] = {}
    for block in blocks.values():
        members = sorted(block)
        for n, one in enumerate(members):
            for other in members[n + 1 :]:
                both = len(told[one] & told[other]) / max(1, len(told[one] | told[other]))
                if both >= LIKE:
                    likest[one, other] = both
    found: set[Place] = set()
    for pair in sorted(likest, key=lambda pair: (-likest[pair], pair))[:MOST_COMPARED]:
        old, new = sorted(pair, key=lambda place: forms[place].last)
        if change(forms[old].text, forms[new].text).verdict in ("supersedes", "contradicts"):
            found.add(old)
    return found
