"""Echo: str -> the text without the memories that were recalled into it.

What was put into a conversation from memory is not captured from it again, or it would be recalled as new, and
captured again. It does not know what is stored: the marks alone tell. Capture of what somebody repeats in words
of their own is for an audit to find.
"""

from __future__ import annotations

from dataclasses import dataclass

from scrubjay.memory.delimiters import CLOSE, OPEN
from scrubjay.memory.new import NewMemory


@dataclass(frozen=True, slots=True)
class Echo:
    """A text, and how many blocks of recalled memories were cut out of it."""

    text: str
    blocks: int


def echo(text: str) -> Echo:
    """Cut out what stands between our own marks; a mark without its other half is a word like any other.

    >>> echo("Hi.<scrubjay-memories>Ann likes tea.</scrubjay-memories> What does Ann like?")
    Echo(text='Hi. What does Ann like?', blocks=1)
    """
    kept: list[str] = []
    place = count = 0
    while (start := text.find(OPEN, place)) >= 0:
        end = text.find(CLOSE, start)
        if end < 0:
            break
        kept.append(text[place:start])
        place = end + len(CLOSE)
        count += 1
    return Echo("".join(kept) + text[place:], count)


def own(new: NewMemory) -> object:
    """Return what a new memory is to say: of a turn, without what was recalled into it."""
    if (new.turn is None and new.role is None) or not isinstance(new.content, str):
        return new.content
    return echo(new.content).text


def nothing(new: NewMemory) -> bool:
    """Tell whether a new memory is a turn that holds recalled memories and says nothing else."""
    said = own(new)
    return said != new.content and isinstance(said, str) and not said.strip()
