"""Worth: whether a memory says enough to be about something by itself."""

from __future__ import annotations

from typing import Final

from scrubjay.memory.records import Record
from scrubjay.text.scripts import holds_run, pieces

LEAST_WORDS: Final = 8
"""Words below which a memory has no topic and is like no other: "yes, thanks" is like every other thanks."""
LONG: Final = 200
"""Characters above which nobody need count."""
A_WORD: Final = 2
"""Characters that are about a word in a script without spaces."""


def worth(record: Record) -> bool:
    """Return whether a memory has words enough.

    >>> from scrubjay.memory.records import Record as R
    >>> [worth(R("obs_0", "observation", text, "", "", "user:a", "a", 0, 0)) for text in ("yes, thanks", "好的👍")]
    [False, False]
    """
    text = record.content
    words = len(text.split())
    if len(text) > LONG or words >= LEAST_WORDS:
        return True
    if text.isascii() or not holds_run(text):
        return False
    return words + sum(end - start for run, start, end in pieces(text) if run) // A_WORD >= LEAST_WORDS
