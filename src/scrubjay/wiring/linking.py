"""Linking: what a memory is joined with, and what a caller joins or parts."""

from __future__ import annotations

from typing import Final

from scrubjay.errors import InputError, NotFoundError
from scrubjay.ingest.scrub import scrub
from scrubjay.memory.dates import now_micros
from scrubjay.memory.edges import Edge
from scrubjay.memory.webs import Link
from scrubjay.recall import webs
from scrubjay.store.base import Reader
from scrubjay.store.changes import DropEdges, PutEdges
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.permissions import check

KINDS: Final = ("links", "derived_from", "supersedes", "contradicts")
"""Kinds of edges that a caller may make."""


def links(desk: Desk, memory: str) -> tuple[Link, ...]:
    """Return what a memory is joined with, in both directions."""
    with desk.store.reader(desk.scope) as reader:
        return webs.links(reader, whole(reader, memory))


def link(desk: Desk, edge: Edge) -> Link:
    """Join two memories for the caller, by ids or their shortest unique beginnings.

    Raises:
        InputError: An id that is not there or not told, a memory with itself, a kind or weight that cannot be.
    """
    _check(edge.kind)
    weight = edge.weight
    if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 <= weight <= 1:
        raise InputError(f"The weight is {weight!r}; wanted is 0 to 1. Nothing was written.")
    with desk.store.reader(desk.scope) as reader:
        src, dst = whole(reader, edge.src), whole(reader, edge.dst)
        phrase = webs.phrase(reader.get([dst])[dst])
    if src == dst:
        raise InputError(f"{src} cannot be joined with itself. Nothing was written.")
    rule = scrub(edge.rule, desk.settings.redaction.allow).text
    made = Edge(src, edge.kind, dst, desk.scope.key(), float(weight), now_micros(), "given", rule)
    desk.store.write(desk.scope, [PutEdges((made,))], durable=True)
    return Link(dst, made.kind, "to", made.weight, rule, True, phrase)


def unlink(desk: Desk, src: str, dst: str, kind: str) -> None:
    """Part two memories, whoever joined them.

    Raises:
        ForbiddenError: The first is what somebody else shared, and so is the edge.
        InputError: An id that is not there or not told, or a kind that callers do not make.
        NotFoundError: The first is not joined with the second in this way.
    """
    _check(kind)
    with desk.store.reader(desk.scope) as reader:
        one, other = whole(reader, src), whole(reader, dst)
        there = [edge for edge in reader.edges([one], [kind]) if edge.dst == other]
        back = [edge for edge in reader.edges([other], [kind]) if edge.dst == one]
        if any(edge.key != desk.scope.key() for edge in there):
            check(desk, [reader.get([one])[one]], "part")
    if not there:
        hint = f"it is joined the other way round: unlink {other} from {one}" if back else ""
        raise NotFoundError(f"No edge of kind {kind} leads from {one} to {other}.", hint=hint)
    desk.store.write(desk.scope, [DropEdges(((one, kind, other),))], durable=True)


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise InputError(f"Kind {kind!r} is not one of {', '.join(KINDS)}. Nothing was written.")


def whole(reader: Reader, memory: str) -> str:
    """Return the id that a text begins.

    Raises:
        NotFoundError: None does, or several do.
    """
    found = reader.complete(memory, 2) if memory else []
    if len(found) > 1:
        raise NotFoundError(f"Several ids begin with {memory!r}.", hint="give more of its characters")
    if not found:
        raise NotFoundError(
            f"No memory {memory!r} is there, or it is not yours to see.",
            hint="`scrubjay search` shows the ids of what it finds",
        )
    return found[0]
