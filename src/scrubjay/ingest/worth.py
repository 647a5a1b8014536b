"""Worth: whether a memory says enough to be about something by itself."""

from __future__ import annotations

from typing import Final

from scrubjay.memory.records import Record

LEAST_WORDS: Final = 8
"""Words below which a memory has no topic and is like no other: "yes, thanks" is like every other thanks."""
LONG: Final = 200
"""Characters above which nobody need count."""


def worth(record: Record) -> bool:
    """Return whether a memory has words enough; one in a script without spaces is taken to have them.

    >>> from scrubjay.memory.records import Record as R
    >>> worth(R("obs_0", "observation", "yes, thanks", "", "", "user:a", "a", 0, 0))
    False
    """
    text = record.content
    return len(text) > LONG or not text.isascii() or len(text.split()) >= LEAST_WORDS
