"""Amend: a memory and what is said of it anew -> the memory under its id, its earlier text kept beside it.

The earlier text stays as a memory of its own, superseded, with the same evidence: `history` leads to it, a search
as of then finds it, and forgetting the memory takes it along. What was derived and is put in other words is from
then on said by whoever changed it: no night replaces it and no undo takes it away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError
from scrubjay.ingest.draw import Drawn, draw
from scrubjay.ingest.embed import embed
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.turned import EVERY
from scrubjay.ingest.weave import Weaver
from scrubjay.memory.dates import now_micros
from scrubjay.memory.edges import EDITED, Edge
from scrubjay.memory.events import Event
from scrubjay.memory.histories import Updated
from scrubjay.memory.ids import memory_id, memory_key, tombstones
from scrubjay.memory.life import UNCHANGED, Life
from scrubjay.memory.new import Amendment, NewMemory
from scrubjay.memory.records import Record
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Change, PutEdges, PutEvents, PutLife, PutMemory
from scrubjay.store.scope_check import lasting

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

_TOLD: Final = ("content", "title", "tags", "event", "origin")
"""What its words, vectors, edges or place in time rest on."""
_LIVED: Final = ("confidence", "valid_from", "valid_until", "pinned")
"""What changes without them."""


@dataclass(frozen=True, slots=True)
class _Before:
    """A memory as it is, what it rests on, and how often it was changed."""

    record: Record
    evidence: Sequence[Edge]
    edits: int


def amend(
    store: Store,
    scope: Scope,
    base: Embedder,
    weaver: Weaver,
    memory: str,
    amendment: Amendment,
    allow: Sequence[str] = (),
) -> Updated:
    """Change a memory that belongs to no file, in one transaction; what it is already changes nothing.

    Args:
        store: Where.
        scope: Who says so.
        base: The base model.
        weaver: Connects it anew.
        memory: Its whole id, one that the scope sees.
        amendment: What is said of it.
        allow: What is never replaced as a secret.

    Raises:
        InputError: A field has a value it cannot have, or the text was forgotten or is another memory's.
    """
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        edits = sum(event.op == "changed" for event in reader.events([memory], limit=EVERY))
        before = _Before(reader.get([memory])[memory], reader.edges([memory], ["derived_from"]), edits)
        old, wanted = before.record, said(amendment)
        drawn = draw(_as_new(old, wanted), scope, secret, allow)
        new = _amended(old, drawn.record, wanted, scope.user)
        lasting(old.id, new.valid_from, new.valid_until)
        if new.content != old.content:
            _allowed(reader, secret, new, drawn)
    changed = tuple(name for name in (*_TOLD, *_LIVED) if getattr(new, name) != getattr(old, name))
    if not changed:
        return Updated(old.id, (), None, drawn.scrubbed)
    if set(changed) <= set(_LIVED):
        store.write(scope, _relived(old, new, changed, scope.user), durable=True)
        return Updated(old.id, changed, None, drawn.scrubbed)
    version = _version(secret, before, new) if "content" in changed else None
    store.write(scope, _rewritten(before, new, (version, scope.user), base, weaver), durable=True)
    return Updated(old.id, changed, None if version is None else version.id, drawn.scrubbed)


def said(amendment: Amendment) -> dict[str, Any]:
    """Return, by name, what an amendment says.

    >>> said(Amendment(pinned=True, valid_until=None))
    {'valid_until': None, 'pinned': True}
    """
    values = ((each.name, getattr(amendment, each.name)) for each in fields(amendment))
    return {name: value for name, value in values if value is not UNCHANGED}


def _as_new(old: Record, wanted: dict[str, Any]) -> NewMemory:
    """Return a memory as somebody would add it, so that the same is checked and scrubbed."""
    visibility, _, group = old.key.partition(":")
    shared = group if visibility == "group" else None
    given: dict[str, Any] = {
        "content": old.content,
        "title": old.title,
        "tags": old.tags,
        "confidence": old.confidence,
    }
    given |= {"pinned": old.pinned, "origin": old.origin} | wanted
    own = ("tier", "session", "role", "turn", "project", "agent")
    return NewMemory(
        **given, visibility=visibility, group=shared, **{name: getattr(old, name) for name in own}
    )


def _amended(old: Record, drawn: Record, wanted: Mapping[str, Any], actor: str) -> Record:
    """Return a memory as it shall be, under the id that it has."""
    names = {"date": "event"}
    fresh = {names.get(name, name): getattr(drawn, names.get(name, name)) for name in wanted}
    # The hash says what was written: of a text that nobody says anew it stays, whatever has become of the text.
    digest = drawn.content_hash if "content" in wanted else old.content_hash
    new = replace(old, **fresh, content_hash=digest)
    if new.content != old.content and old.origin == "derived" and "origin" not in wanted:
        new = replace(new, origin="owner")
    if old.owner != actor and new.origin == "owner" != old.origin:  # another does not speak for the owner
        new = replace(new, origin="agent" if old.origin == "derived" else old.origin)
    return replace(new, updated_at=max(now_micros(), old.updated_at + 1))


def _allowed(reader: Reader, secret: bytes, new: Record, drawn: Drawn) -> None:
    """Refuse a text that was forgotten, and one that another memory has."""
    if reader.forgotten(sorted(tombstones(secret, new.content, [new.key]))):
        raise InputError(
            f"The new text of {new.id} was forgotten once. Nothing was written.",
            hint=f"scrubjay forget {new.id}, or say it in other words",
        )
    twin = drawn.record.id
    other = reader.get([twin]).get(twin)
    if twin != new.id and other is not None and other.content_hash == new.content_hash:
        raise InputError(
            f"{other.id} says this already ({other.status}). Nothing was written.",
            hint=f"scrubjay archive {new.id}, or forget it",
        )


def _relived(old: Record, new: Record, changed: Sequence[str], actor: str) -> list[Change]:
    life = Life(**{name: getattr(new, name) for name in changed})
    ops = []
    if "pinned" in changed:
        ops.append("pinned" if new.pinned else "unpinned")
    if set(changed) - {"pinned"}:
        ops.append("changed")
    events = tuple(Event(old.id, op, new.updated_at, old.key, actor=actor) for op in ops)
    return [PutLife({old.id: life}), PutEvents(events)]


def _version(secret: bytes, before: _Before, new: Record) -> Record:
    """Return the memory that keeps a text, true until another took its place."""
    old = before.record
    parts = ("version", old.id, str(before.edits), old.content_hash)
    until = max(new.updated_at, old.valid_from or 0)
    return replace(
        old,
        id=memory_id(old.tier, memory_key(secret, parts)),
        status="superseded",
        pinned=False,
        valid_until=until if old.valid_until is None else min(until, old.valid_until),
        session=None,
        turn=None,
        role=None,
    )


def _rewritten(
    before: _Before, new: Record, made: tuple[Record | None, str], base: Embedder, weaver: Weaver
) -> list[Change]:
    """Return what writes a memory anew, with its words, vectors, names and neighbours, and keeps its text."""
    version, actor = made
    at, old = new.updated_at, before.record
    prepared = [prepare(one) for one in (new, version) if one is not None]
    fresh, *kept = embed(prepared, [""] * len(prepared), base)
    weaver.learn([new], [old.id])
    first, woven = weaver.changes([fresh], [old.id])
    edges: list[Edge] = []
    ops = ["changed"]
    if version is not None:
        edges.append(Edge(old.id, "supersedes", version.id, old.key, 1.0, at, "given", EDITED))
        edges += [replace(edge, src=version.id) for edge in before.evidence]
    if new.pinned != old.pinned:
        ops.append("pinned" if new.pinned else "unpinned")
    other = None if version is None else version.id
    events = tuple(
        Event(old.id, op, at, old.key, other=other if op == "changed" else None, actor=actor) for op in ops
    )
    # What could not be so beside the earlier text may be so beside this one.
    of = (old.id,) if version is not None else ()
    return [
        *first,
        PutMemory(fresh),
        *woven,
        *(PutMemory(one) for one in kept),
        PutEdges(tuple(edges), of, ("contradicts",), inward=True),
        PutEvents(events),
    ]
