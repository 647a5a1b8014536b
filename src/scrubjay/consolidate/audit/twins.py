"""Twins: traits -> memories whose text another of the same matter says already.

Only equal words in the same order are the same, and only what is equal as it is written (blanks and the form of
Unicode aside) is put away: "C" and "C++" have the same words. Statements that are merely alike are left alone, since
"30 seconds" and "90 seconds" are as near as two statements can be. A file says what it says: that two files agree is
told, and neither is put away. Turns of conversations are left alone, people repeat themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from scrubjay.consolidate.audit.fault import Fault
from scrubjay.consolidate.audit.junk import best
from scrubjay.consolidate.audit.trait import Trait
from scrubjay.ingest.draw import normal
from scrubjay.ingest.revise import MARKS
from scrubjay.store.base import Reader


def twins(reader: Reader, traits: Sequence[Trait]) -> list[Fault]:
    """Return all but the best of the memories that say the same.

    Args:
        reader: What the caller sees.
        traits: The active memories that say something.
    """
    words: defaultdict[tuple[int, int], list[Trait]] = defaultdict(list)
    for one in traits:
        if one.kind != "turn" and one.words:
            words[one.matter, one.said].append(one)
    return [fault for group in words.values() if len(group) > 1 for fault in _faults(reader, best(group))]


def _faults(reader: Reader, group: Sequence[Trait]) -> Iterator[Fault]:
    """Yield the faults of memories of the same words, the best first."""
    kept, places = group[0], {group[0].document}
    others: list[Trait] = []
    for one in group[1:]:
        if one.document not in places:
            places.add(one.document)
            others.append(one)
    held = reader.get([one.id for one in (kept, *others)])
    for one in others:
        text = held[one.id].content
        equal = normal(text) == normal(held[kept.id].content) and not any(mark in text for mark in MARKS)
        why = "the same text" if equal else "the same words"
        mend = "archived" if equal and one.kind == "addition" and not one.pinned else ""
        yield Fault(one.id, why, why, len(others), mend, kept.id)
