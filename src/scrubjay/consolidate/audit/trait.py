"""Trait: Record -> what an audit compares of a memory when its text is no longer at hand.

A hundred thousand of them take about 60 MB, whatever the memories' length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, Final

from scrubjay.consolidate.audit.words import digest, levelled
from scrubjay.ingest.nominees import states
from scrubjay.memory.records import Record
from scrubjay.text.scripts import holds_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

FEW: Final = 2
"""Words up to which a text says nothing, unless one of them names something: "yes", "thank you"."""
A_WORD: Final = 2
"""Characters that are about a word in a script without spaces."""
_NAMES: Final = re.compile(r"\d|[^\W_]_[^\W_]|[a-z][A-Z]|[A-Z]{2}|\w[./:@\\-]\w")
"""What is in identifiers, paths, addresses, numbers and acronyms: "ECONNRESET" and "port 8080" say a lot."""


@dataclass(frozen=True, slots=True)
class Trait:
    """One active memory.

    Attributes:
        id: Its id.
        key: Its visibility key.
        tier: Its tier.
        derived: Whether it was made from others.
        kind: ``addition``, ``passage`` of a file, or ``turn`` of a conversation.
        document: Number of the document it stands in; of its id, if in none.
        session: Its conversation, or None.
        origin: Who said it.
        matter: Number of what must be equal before two memories can say the same: key, tier, project, event.
        said: Number of its levelled words in their order.
        digits: Number of the words in it that hold a digit.
        words: How many words it has.
        bare: Whether it says nothing.
        statement: Whether it is one statement, as `ingest.nominees` has it.
        dated: Whether it tells of an event of its own.
        recorded: UTC microseconds when it was first written.
        young: UTC microseconds of the last that is known of it: written, happened or used.
        ends: UTC microseconds from which it is no longer true, or None.
        used: Whether it was ever used.
        pinned: Whether nothing but its owner may put it away.
    """

    id: str
    key: str
    tier: str
    derived: bool
    kind: str
    document: int
    session: str | None
    origin: str
    matter: int
    said: int
    digits: int
    words: int
    bare: bool
    statement: bool
    dated: bool
    recorded: int
    young: int
    ends: int | None
    used: bool
    pinned: bool


def trait(record: Record, words: Sequence[str], numbers: NDArray[np.uint64]) -> Trait:
    """Return what is compared of a memory.

    Args:
        record: The memory.
        words: Its levelled words.
        numbers: Their numbers.
    """
    place, event = record.place, record.event
    kind = "turn" if record.turn is not None else "addition" if place is None else "passage"
    document = f"{place.source}/{place.path}" if place is not None else record.id
    matter = (record.key, record.tier, record.project, event.start if event is not None else None)
    figures = sorted(word for word in words if not word.isalpha())
    return Trait(
        id=record.id,
        key=intern(record.key),
        tier=intern(record.tier),
        derived=record.origin == "derived",
        kind=kind,
        document=digest(document.encode()),
        session=None if record.session is None else intern(record.session),
        origin=intern(record.origin),
        matter=digest(repr(matter).encode()),
        said=digest(numbers.tobytes()),
        digits=digest(" ".join(figures).encode()),
        words=len(words),
        bare=_bare(record, words),
        statement=states(record),
        dated=event is not None,
        recorded=record.recorded_at,
        young=youth(record),
        ends=record.valid_until,
        used=record.last_used is not None,
        pinned=record.pinned,
    )


def youth(record: Record) -> int:
    """Return the last that is known of a memory: when it was written, happened or was used.

    What is written today of the year 1815 is of today.
    """
    happened = record.event.start if record.event is not None else 0
    return max(record.recorded_at, happened, record.last_used or 0)


def _bare(record: Record, words: Sequence[str]) -> bool:
    """Tell whether a memory says nothing: no letter at all, or one or two words that name nothing."""
    text = record.content
    if not words:
        return not any(char.isalnum() for char in text)
    if len(words) > FEW * A_WORD or _NAMES.search(text):
        return False
    count = -(-len(words) // A_WORD) if holds_run(text) else len(words)
    if count > FEW:
        return False
    # A title of one's own is half of what is said ("wifi password": "bluebunny").
    return record.tier == "observation" and set(levelled(record.title)) <= set(words)
