"""Looking: a desk -> a memory with all that surrounds it, a stretch of time: what a person looks at, not a program."""

from __future__ import annotations

from dataclasses import replace

from scrubjay.errors import InputError
from scrubjay.memory.looks import Look, Stretch
from scrubjay.recall import look as read_path
from scrubjay.recall.request import Filters, listing
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.living import history
from scrubjay.wiring.places import resolved


def look(desk: Desk, memory: str, neighbours: int) -> Look:
    """Return a memory with what surrounds it; looking is no use of it.

    Raises:
        NotFoundError: No memory's id begins so, or several do.
    """
    told = history(desk, memory)
    with desk.store.reader(desk.scope) as reader:
        return read_path.look(reader, told, neighbours)


def timeline(desk: Desk, filters: Filters, limit: int, skip: int) -> Stretch:
    """Return a page of what happened, last first.

    Raises:
        InputError: A filter has a value it cannot have, or limit or skip is out of range.
    """
    if skip < 0:
        raise InputError(f"skip is {skip}; it must not be negative.")
    filters = replace(filters, projects=resolved(desk, filters.projects))
    checked = listing(filters, limit)
    with desk.store.reader(desk.scope) as reader:
        return read_path.stretch(reader, checked.where, limit, skip)
