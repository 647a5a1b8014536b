"""Twins: traits -> memories whose text another of the same matter says already.

Equal words are equal; statements that are nearly so are read and judged by `change`, since "30 seconds" and
"90 seconds" are as near as two statements can be. A file says what it says: that two files agree is told, and
neither is put away. Turns of conversations are left alone, people repeat themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from typing import Final

from scrubjay.consolidate.audit.fault import Fault
from scrubjay.consolidate.audit.junk import best
from scrubjay.consolidate.audit.near import near
from scrubjay.consolidate.audit.trait import Trait
from scrubjay.ingest.change.change import change
from scrubjay.store.base import Reader

MOST_CHECKED: Final = 10_000
"""Pairs of statements that are judged, the nearest first: one takes about a millisecond."""
AT_ONCE: Final = 500
"""Pairs whose texts are in hand at once."""


def twins(reader: Reader, fingerprint: str | None, traits: Sequence[Trait]) -> list[Fault]:
    """Return all but the best of the memories that say the same.

    Args:
        reader: What the caller sees.
        fingerprint: The base model, or None where the store has no vectors of it.
        traits: The active memories that say something.
    """
    texts: defaultdict[tuple[int, int], list[Trait]] = defaultdict(list)
    for one in traits:
        if one.kind != "turn" and one.words:
            texts[one.matter, one.said].append(one)
    equal = {group[0].id: group for group in (best(same) for same in texts.values())}
    statements = [group[0] for group in equal.values() if group[0].statement]
    same = _judged(reader, near(reader, fingerprint, statements)) if fingerprint is not None else {}
    return list(_faults(equal, same))


def _judged(reader: Reader, pairs: Iterable[tuple[float, Trait, Trait]]) -> Mapping[str, set[str]]:
    """Return which statements say the same, each to those beside it."""
    nearest = iter(nsmallest(MOST_CHECKED, pairs, key=lambda pair: (-pair[0], pair[1].id, pair[2].id)))
    same: defaultdict[str, set[str]] = defaultdict(set)
    while some := list(islice(nearest, AT_ONCE)):
        held = reader.get(sorted({one.id for _, *both in some for one in both}))
        for _, one, other in some:
            old, new = sorted((one, other), key=lambda trait: (trait.recorded, trait.id))
            if change(held[old.id].content, held[new.id].content).verdict == "duplicate":
                same[one.id].add(other.id)
                same[other.id].add(one.id)
    return same


def _faults(equal: Mapping[str, list[Trait]], same: Mapping[str, set[str]]) -> Iterator[Fault]:
    """Yield the faults of groups, each around a memory that says the same as all of the others."""
    done: set[str] = set()
    for keeper in best(group[0] for group in equal.values()):
        if keeper.id in done:
            continue
        alike = [other for other in sorted(same.get(keeper.id, ())) if other not in done]
        done.update((keeper.id, *alike))
        members = [*equal[keeper.id][1:], *(one for other in alike for one in equal[other])]
        places = {keeper.document}
        found: list[tuple[Trait, str]] = []
        for one in members:
            if one.document not in places:
                places.add(one.document)
                words = "the same words" if one.said == keeper.said else "the same in other words"
                found.append((one, words))
        for one, why in found:
            mend = "archived" if one.kind == "addition" and not one.pinned else ""
            yield Fault(one.id, why, why, len(found), mend, keeper.id)
