"""Gist: Record -> what promotion asks of its text: who could say the same as it does, and which steps it shows.

Reading a text costs a thousand times what its gist takes to keep, so a gist is written down with the memory that it
is of (`Reading`). It holds numbers for words, and names of steps; it does not depend on when anything came, nor on
what is stored beside it, so nothing must be put right when memories come late, change, or are taken back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.consolidate.promote.commands import commands
from scrubjay.consolidate.promote.drawn import number, spoken
from scrubjay.consolidate.promote.facts import facts, keys, noted
from scrubjay.memory.records import Record

RULES: Final = "2"
"""By which rules texts are read: whoever changes what `facts`, ``statements`` or `commands` find counts it up, so that
every text is read anew."""

Sentence = tuple[bool, tuple[int, ...]]
"""Whether somebody speaks of themselves, and the numbers of the pairs of words that a sentence is looked up by."""


@dataclass(frozen=True, slots=True)
class Gist:
    """What promotion asks of one text.

    Attributes:
        said: Its sentences that could be facts.
        steps: Names of the steps that it shows, in order.
    """

    said: tuple[Sentence, ...] = ()
    steps: tuple[str, ...] = ()


NOTHING: Final = Gist()


def gist(record: Record) -> Gist:
    """Return what promotion asks of a record's text, whatever its status is now.

    >>> gist(Record("obs_0", "observation", "Run `git push origin`.", "", "", "", "", 0, 0, session="s")).steps
    ('git push',)
    """
    match _read_as(record):
        case "":
            return NOTHING
        case "shown":
            return Gist(steps=tuple(step.name for step in commands(record.content)))
    active = replace(record, status="active")
    return Gist(tuple(sentence(text) for text in facts(active)))


def sentence(text: str) -> Sentence:
    """Return what a sentence is looked up by."""
    return (text[:2].lower() in ("i ", "i'", "my"), tuple(number("\x1f".join(pair)) for pair in keys(text)))


def places(record: Record, said: Sentence) -> Iterator[int]:
    """Yield the numbers under which a record's sentence is found: who sees it, what of, and a pair of its words.

    "The server" is another one in each project; somebody who speaks of themselves is always the same.
    """
    ground = number(f"{record.key}\x1f{ground_of(record, said)}")
    yield from (pair ^ ground for pair in said[1])


def ground_of(record: Record, said: Sentence) -> str:
    """Return the project that a record's sentence is about."""
    return "" if said[0] else record.project or ""


def mark(record: Record) -> str:
    """Return what a record's gist was read from, or an empty string where there is nothing to read."""
    read_as = _read_as(record)
    if not read_as:
        return ""
    return f"{number(f'{RULES} {read_as} {record.content_hash}'):016x}"


def _read_as(record: Record) -> str:
    """Return how a record is read: for what a person said or noted, for what was shown being done, or not at all."""
    if record.tier != "observation":
        return ""
    if spoken(record):
        return "said"
    if record.session is not None:
        return "shown" if record.origin != "derived" else ""
    return "noted" if noted(record) else ""


def kept(one: Gist) -> bytes:
    """Return a gist as it is kept.

    >>> said = Gist(((True, (1, 2)), (False, ())), ("git push",))
    >>> given(kept(said)) == said, given(kept(NOTHING)) == NOTHING
    (True, True)
    """
    return json.dumps([one.said, one.steps]).encode() if one != NOTHING else b""


def given(data: bytes) -> Gist:
    """Return the gist that was kept."""
    if not data:
        return NOTHING
    said, steps = json.loads(data)
    return Gist(tuple((own, tuple(pairs)) for own, pairs in said), tuple(steps))
