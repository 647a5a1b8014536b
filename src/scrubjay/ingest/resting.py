"""Resting: memories that are to be forgotten -> what was made from them and says what they said.

What was made from a forgotten memory and holds its words goes with it, and so on upward. Its other sources are
made active again where it had archived them, so that the next night makes it anew without. What merely lists
the memory as evidence loses that edge and stays; so does what somebody put in words of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from scrubjay.memory.records import Record
from scrubjay.store.base import Reader

RUN: Final = 4
"""Words in a row that a text shares with a memory when it was taken from it."""
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Rests:
    """What rests on memories.

    Attributes:
        gone: Id to record of what goes with them.
        beside: Archived sources of what goes, and of what is to be forgotten and was made itself, that stay.
    """

    gone: Mapping[str, Record]
    beside: tuple[Record, ...]


def resting(reader: Reader, records: Mapping[str, Record]) -> Rests:
    """Return what was made from memories and says what they said, and what else that was made from."""
    gone: dict[str, Record] = {}
    made = [memory for memory, record in records.items() if record.origin == "derived"]
    beside = reader.get(sorted({edge.dst for edge in reader.edges(made, ["derived_from"])}))
    wave = dict(records)
    while wave:
        edges = reader.edges(list(wave), ["derived_from"], inward=True)
        upward = reader.get(sorted({edge.src for edge in edges} - gone.keys() - records.keys()))
        going: dict[str, Record] = {}
        for memory, record in upward.items():
            own = record.origin != "derived"
            if own and not any(edge.src == memory and edge.origin == "found" for edge in edges):
                continue  # a person joined it: it says what it says by itself
            sources = reader.get([edge.dst for edge in reader.edges([memory], ["derived_from"])])
            lost = {one for one in sources if one in wave or one in gone or one in records}
            left = [sources[one].content for one in sources.keys() - lost]
            if (not left and not own) or _tells(record, [sources[one].content for one in lost], left):
                going[memory] = record
                beside |= sources
        gone |= going
        wave = going
    stay = [one for memory, one in sorted(beside.items()) if memory not in gone and memory not in records]
    return Rests(gone, tuple(one for one in stay if one.status == "archived"))


def _tells(record: Record, lost: Iterable[str], left: Iterable[str]) -> bool:
    """Tell whether a memory holds words in a row that only sources which go have said."""
    kept, lost = said(left), list(lost)
    own = f"{record.title} {record.content}"
    if not kept.issuperset(said([own]) & said(lost)):
        return True
    short = {" ".join(run) for run in said(lost) - kept if len(run) < RUN}
    plain = f" {' '.join(_WORD.findall(own.casefold()))} "
    return any(words and f" {words} " in plain for words in short)


def said(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """Return every few words in a row that texts hold; a text of fewer words is one run."""
    return set(chain.from_iterable(_runs(_WORD.findall(text.casefold())) for text in texts))


def _runs(words: list[str]) -> Iterator[tuple[str, ...]]:
    yield from (tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1)))
