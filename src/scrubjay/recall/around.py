"""Around: candidates -> groups, each a turn with the results beside it; and groups -> the turns around them.

Nothing is shown twice: a result that stands among the turns shown with a better one is shown there, and a turn that
two results have around them is shown with the better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.memory.answers import Turn
from scrubjay.memory.dates import date_of
from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record
from scrubjay.recall.grouped import Group
from scrubjay.store.base import Reader
from scrubjay.text.snippets import snippet
from scrubjay.text.tokens import TermGroup

MOST_TURNS: Final = 21
"""Turns from which on a result takes no more in on account of others beside it; one alone has as many at most."""
SNIPPET: Final = 300
"""Characters of a turn that is shown with a result: enough to see what was spoken of; `get` has it whole."""

Place = tuple[str, int]
"""A conversation, and a turn of it."""


def grouped(candidates: Sequence[Candidate], records: Mapping[str, Record], neighbours: int) -> list[Group]:
    """Let each candidate that would be shown around a better one join it.

    Args:
        candidates: Best first.
        records: The record of each.
        neighbours: Turns that are shown on either side; 0 joins nothing.
    """
    leads: list[Candidate] = []
    others: dict[str, list[Candidate]] = {}
    holds: dict[Place, str] = {}
    sizes: dict[str, int] = {}
    for one in candidates:
        place = _place(records[one.id]) if neighbours else None
        lead = holds.get(place, one.id) if place is not None else one.id
        if lead == one.id:
            leads.append(one)
        else:
            others.setdefault(lead, []).append(one)
        if place is not None and sizes.get(lead, 0) < MOST_TURNS:
            for near in _near(place, neighbours):
                if holds.setdefault(near, lead) == lead:
                    sizes[lead] = sizes.get(lead, 0) + 1
    return [Group(lead, tuple(others.get(lead.id, ()))) for lead in leads]


def around(
    reader: Reader,
    groups: Sequence[Group],
    records: Mapping[str, Record],
    neighbours: int,
    words: Sequence[TermGroup],
) -> dict[str, tuple[Turn, ...]]:
    """Return the turns that are shown with each group's lead, in their order, each of them once.

    Args:
        reader: Where the turns are; who may not see one is not shown it.
        groups: What is shown, best first.
        records: The records of leads and others.
        neighbours: Turns on either side of each.
        words: The query's words, for snippets.
    """
    taken = {one.id for group in groups for one in (group.lead, *group.others)}
    found: dict[str, tuple[Turn, ...]] = {}
    for group in groups:
        own = _place(records[group.lead.id])
        if own is None:
            continue
        scores = {one.id: one.score for one in group.others}
        near = {one.id: records[one.id] for one in group.others}
        for one in (group.lead, *group.others) if neighbours else ():
            place = _place(records[one.id])
            if place is not None:
                turns = reader.turns(place[0], place[1] - neighbours, place[1] + neighbours)
                near |= {turn.id: turn for turn in turns if turn.id not in taken and _place(turn)}
        taken |= near.keys()
        told = [_turn(turn, own[1], scores.get(turn.id), words) for turn in near.values()]
        found[group.lead.id] = tuple(sorted(told, key=lambda turn: (turn.offset, turn.id)))
    return found


def _place(record: Record) -> Place | None:
    """Return where a turn stands; what was drawn from turns stands nowhere among them."""
    if record.session is None or record.turn is None or record.origin == "derived":
        return None
    return record.session, record.turn


def _near(place: Place, neighbours: int) -> list[Place]:
    session, turn = place
    return [(session, near) for near in range(turn - neighbours, turn + neighbours + 1)]


def _turn(record: Record, own: int, score: float | None, words: Sequence[TermGroup]) -> Turn:
    offset = (record.turn if record.turn is not None else own) - own
    text = snippet(record.content, words, SNIPPET).text
    return Turn(record.id, offset, record.role, date_of(record), text, score)
