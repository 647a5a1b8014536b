"""Evidence: memories that are judged -> the same, with what their title, length and speaker say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from scrubjay.memory.records import Record
from scrubjay.memory.turns import PERSON as PERSONS
from scrubjay.recall.slate import Slate
from scrubjay.text.snippets import contains_phrase
from scrubjay.text.tokens import TermGroup, emitted

TITLE: Final = 3.0
"""What a title that is the query adds, on z-scores: a heading's words find its file first .97 of the time on two
trees (.87 by words alone), and no set falls (bench/LOG.md)."""
LENGTH: Final = 0.2
"""What ``ln(1 + words / 100)`` takes away: a long memory has more windows, of which the best counts, and so
more chances. Measured +.003 mean nDCG, none hurt; without the 100, short turns would be favoured too far."""
WORDS: Final = 100.0
PHRASE: Final = 1.0
"""What holding all that a sentence quotes adds: as much as being a deviation nearer."""
PERSON: Final = 0.3
"""What a person's own turn adds over an assistant's: a memory is asked for what was said to it; what it
answered is mostly restated. LongMemEval turns R@10 .860 to .875, BEAM R@5 .509 to .535 (bench/LOG.md)."""


SPEAKER: Final = 2.0
"""What a turn adds that was said by the one whom the question names: of LoCoMo's questions with one speaker's name, 585
of 612 turns of evidence are that speaker's. Turns R@5 .532 to .576 at 1, .584 at 2, .586 at 3 (bench/LOG.md)."""


def evidence(
    rows: Slate,
    groups: Sequence[TermGroup],
    weights: Sequence[float],
    speaker: str | None = None,
) -> None:
    """Add title match, length and speaker to what speaks for memories.

    Args:
        rows: Memories, whose heads tell title, length and speaker.
        groups: The query's words.
        weights: The idf of each.
        speaker: Whom the query names of those who speak, or None.
    """
    total = math.fsum(weights)
    wanted = {form: place for place, group in enumerate(groups) for form in group.forms}
    for _, head, parts in rows:
        if head is None:
            continue
        match = title_match(head.title, wanted, weights, total) if head.title else 0.0
        if match:
            parts.append(("title", match, match, TITLE))
        if head.words:
            parts.append(("length", float(head.words), -math.log1p(head.words / WORDS), LENGTH))
        if head.turn and head.role in PERSONS:
            parts.append(("person", 1.0, 1.0, PERSON))
        if head.turn and speaker is not None and head.role == speaker:
            parts.append(("speaker", 1.0, 1.0, SPEAKER))


def title_match(title: str, wanted: Mapping[str, int], weights: Sequence[float], total: float) -> float:
    """Return how far a title is the query, 0 to 1.

    The share of the query's idf that stands in the title, times the share of the title's words that the
    query names: a long title that holds the query, and a short one that the query only mentions, both fall.
    """
    words = _title(title)
    if not words or not total:
        return 0.0
    named = [{wanted[form] for form in forms if form in wanted} for forms in words]
    held = set().union(*named)
    share = sum(1 for groups in named if groups) / len(words)
    return math.fsum(weights[place] for place in sorted(held)) / total * share


@lru_cache(maxsize=8192)
def _title(title: str) -> tuple[frozenset[str], ...]:
    return tuple(emitted(title))


def wished(rows: Slate, records: Mapping[str, Record], phrases: Sequence[str]) -> None:
    """Add what a question quotes and a memory holds word for word."""
    for row in rows:
        record = records.get(row.id)
        count = sum(1 for phrase in phrases if record is not None and contains_phrase(record.content, phrase))
        if count:
            row.parts.append(("phrase", float(count), count / len(phrases), PHRASE))
