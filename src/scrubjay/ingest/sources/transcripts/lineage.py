"""Lineage: which branch a record of a log is on, from the parent that it names. It knows no tool.

A log is a tree: going back and saying something else hangs a second branch on an older record. The rule, in
one pass and with bounded memory:

    A person's message begins a branch if its parent was already carried on, that is, if a turn was taken that
    descends from the parent. Any other record is on the branch of its parent.

Only a person's message can begin one, for tools that run side by side give one record several children too.
A parent that is not among the last 10,000 records is not known, and its child is on the main branch.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

MOST_RECORDS = 10_000
"""How far back somebody goes to say it differently: a day of talk. About 3 MB."""


@dataclass(slots=True)
class _Record:
    parent: str
    branch: str
    side: bool
    carried_on: bool = False


class Lineage:
    """The records seen last."""

    def __init__(self, most: int = MOST_RECORDS) -> None:
        self._most = most
        self._seen: OrderedDict[str, _Record] = OrderedDict()

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._seen

    def carried_on(self, uuid: str) -> bool:
        """Whether a turn descends from a record."""
        return uuid in self._seen and self._seen[uuid].carried_on

    def add(self, uuid: str, parent: str, *, turn: bool, side: bool = False, prompt: bool = False) -> str:
        """Remember a record and return its branch: the uuid of the branch's first, "" for the main one.

        Args:
            uuid: Of the record; "" for one that none can name.
            parent: uuid of the record it follows; "" for none.
            turn: It was taken as a turn.
            side: It belongs to a sidechain; each of those is a branch of its own.
            prompt: A person said it.
        """
        known = self._seen.get(parent)
        begins = (known is None or not known.side) if side else prompt and self.carried_on(parent)
        branch = uuid if begins else known.branch if known else ""
        if turn:
            self._carry_on(parent)
        if uuid:
            self._seen[uuid] = _Record(parent, branch, side)
            if len(self._seen) > self._most:
                self._seen.popitem(last=False)
        return branch

    def _carry_on(self, uuid: str) -> None:
        while (record := self._seen.get(uuid)) is not None and not record.carried_on:
            record.carried_on = True  # and those above the turn before are already
            uuid = record.parent
