"""Recency: results that answer about as well and tell of the same -> which of them is newer than which.

What was decided later of the same matter is what holds now. The rule is bounded: a newer memory goes before an older
one only where it holds every word of the question that the older one holds, is about as likely to answer, and shares
much of its text. Everything else keeps its order, and the first five are looked at, whatever number is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from scrubjay.memory.dates import DAY
from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record, said
from scrubjay.recall.channels.ranking import WordsRanking
from scrubjay.recall.plan import Plan
from scrubjay.recall.relevance import Sign
from scrubjay.recall.telling import held_by, weighed
from scrubjay.text.languages import language
from scrubjay.text.telling import says_nothing
from scrubjay.text.tokens import terms

NEAR: Final = 0.7
"""Share of the older one's relevance that the newer one must come to."""
ALIKE: Final = 0.15
"""Share of the telling words of both texts that both hold, from which on they tell of the same."""


PREFERRED: Final = ("tier", "project")
"""Parts of a score by which a caller prefers memories: a date does not outdo them."""


def newer_equals(
    candidates: Sequence[Candidate],
    records: Mapping[str, Record],
    signs: Mapping[str, Sign],
    plan: Plan,
    words: WordsRanking | None,
) -> dict[str, tuple[str, ...]]:
    """Return of each memory those behind it that answer about as well, tell of the same and were said later.

    What was said on one day is of one age, and a file without a date of its own is neither newer nor older than
    anything.

    Args:
        candidates: Memories, best first.
        records: Their records.
        signs: What speaks for each.
        plan: The query made ready.
        words: What the query's words said, or None where it has none.
    """
    ids = [one.id for one in candidates]
    weights = weighed(plan, words)
    held = {
        one: by & weights.keys()
        for one, by in zip(ids, held_by(words, ids), strict=True)
        if dated(records[one])
    }
    telling = cache(lambda one: _telling(records[one]))  # few pairs come so far that their texts are compared
    wished = {
        one.id: math.fsum(part.amount for part in one.contributions if part.channel in PREFERRED)
        for one in candidates
    }
    found: dict[str, tuple[str, ...]] = {}
    for place, old in enumerate(ids):
        if not held.get(old):
            continue
        late = [
            new
            for new in ids[place + 1 :]
            if new in held
            and said(records[new]) - said(records[old]) >= DAY
            and wished[new] >= wished[old]
            and held[new] >= held[old]
            and signs[new].relevance >= NEAR * signs[old].relevance
            and len(telling(old) & telling(new)) >= ALIKE * len(telling(old) | telling(new))
        ]
        if late:
            found[old] = tuple(sorted(late, key=lambda one: (-said(records[one]), one)))
    return found


def dated(record: Record) -> bool:
    """Return whether it is known when a memory was said: not of a file that names no day of its own."""
    return record.event is not None or record.valid_from is not None or record.place is None


def _telling(record: Record) -> set[str]:
    return {word for word in terms(record.content, language(record.content)).counts if not says_nothing(word)}
