"""Turns: what is said in conversations, and what was said before it -> what is said, without secrets.

The one place where turns are made ready to be stored, whichever way they come (transcripts, `add`, imports, the
proxy). Each is read with the two turns before it, as they are stored or in the same batch; the earlier ones are
changed in one case alone: one token with a password's form that one of the next two turns calls a password.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.draw import said
from scrubjay.ingest.embed import embed
from scrubjay.ingest.forget import forget
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.scrub import Scrubbed, allowed, scrub
from scrubjay.ingest.scrub_answers import TURNS, called_secret
from scrubjay.memory.dates import now_micros
from scrubjay.memory.events import Event
from scrubjay.memory.ids import text_hash
from scrubjay.memory.new import NewMemory
from scrubjay.memory.records import Record
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Change, PutDocument, PutEvents, PutMemory

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

MARK: Final = "[secret:password]"


@dataclass(frozen=True, slots=True)
class Turns:
    """Turns without secrets.

    Attributes:
        found: Each of them.
        called: Places, among the turns before them, of those that they call a secret.
    """

    found: tuple[Scrubbed, ...]
    called: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A turn that is stored.

    Attributes:
        text: Its text.
        ids: The memories that hold it.
    """

    text: str
    ids: tuple[str, ...] = ()


def scrub_turns(
    texts: Sequence[str], allow: Sequence[str] = (), before: Sequence[str] = (), after: Sequence[str] = ()
) -> Turns:
    """Replace the secrets of turns that follow one another.

    Args:
        texts: The turns of one conversation, in order.
        allow: What is never replaced, as of `scrub`.
        before: The turns before them, without secrets.
        after: The turns behind them, as far as they are known.
    """
    whole = [*before, *texts, *after]
    called = [place for place in range(len(whole)) if _called(whole, place, allow)]
    clean = list(before[-TURNS:])
    found = []
    for place, text in enumerate(texts, len(before)):
        if place in called:
            value = text.strip()
            one = Scrubbed(text.replace(value, MARK, 1), {"password": 1})
        else:
            one = scrub(text, allow, clean[-TURNS:])
        found.append(one)
        clean.append(one.text)
    return Turns(tuple(found), tuple(place for place in called if place < len(before)))


def _called(turns: Sequence[str], place: int, allow: Sequence[str]) -> bool:
    later = turns[place + 1 : place + 1 + TURNS]
    return any(called_secret(one, turns[place]) for one in later) and not allowed(turns[place].strip(), allow)


def stored(reader: Reader, session: str, first: int, last: int) -> list[Stored]:
    """Return the stored turns of a session from one number to another, in order."""
    turns: dict[int, list[Record]] = {}
    for record in reader.turns(session, first, last):
        turns.setdefault(record.turn or 0, []).append(record)
    return [
        Stored("".join(one.content for one in pieces), tuple(one.id for one in pieces))
        for _, pieces in sorted(turns.items())
    ]


def scrub_new(
    store: Store, scope: Scope, memories: Sequence[NewMemory], allow: Sequence[str] = ()
) -> tuple[list[Scrubbed | None], list[str]]:
    """Return the texts of those of new memories that are turns, and the ids of stored turns that they call a secret.

    A turn follows another of its session by its number; turns without one follow in the order in which they come.

    Args:
        store: Where earlier turns are read, by one indexed read or two a session.
        scope: Who adds them.
        memories: The new memories; what is no turn of a conversation comes back as None.
        allow: What is never replaced, as of `scrub`.
    """
    found: list[Scrubbed | None] = [None] * len(memories)
    called: list[str] = []
    talks = _talks(memories)
    if not talks:
        return found, called
    with store.reader(scope) as reader:
        known = {
            session: _around(reader, session, [memories[place].turn for place in places])
            for session, places in talks.items()
        }
    for session, places in talks.items():
        before, after = known[session]
        texts = [said(memories[place]) for place in places]
        turns = scrub_turns(texts, allow, [one.text for one in before], [one.text for one in after])
        for place, one in zip(places, turns.found, strict=True):
            found[place] = one
        called += [memory for place in turns.called for memory in before[place].ids]
    return found, called


def _around(reader: Reader, session: str, numbers: Sequence[int | None]) -> tuple[list[Stored], list[Stored]]:
    """Return the stored turns just before and just behind some; without numbers nobody knows which they are."""
    first, last = numbers[0], numbers[-1]
    if first is None or last is None:
        return [], []
    before = stored(reader, session, first - TURNS, first - 1) if first > 0 else []
    return before, stored(reader, session, last + 1, last + TURNS)


def _talks(memories: Sequence[NewMemory]) -> Mapping[str, Sequence[int]]:
    """Return the places of each session's turns, in their order."""
    talks: dict[str, list[int]] = {}
    for place, new in enumerate(memories):
        turn = new.turn
        numbered = turn is None or (isinstance(turn, int) and not isinstance(turn, bool))
        if isinstance(new.session, str) and isinstance(new.content, str) and numbered:
            talks.setdefault(new.session, []).append(place)
    for places in talks.values():
        places.sort(key=lambda place: -1 if memories[place].turn is None else int(memories[place].turn or 0))
    return talks


def redact(store: Store, scope: Scope, base: Embedder, ids: Iterable[str]) -> int:
    """Take the texts of stored turns out of a store for good; a mark stays in the place of each. Return how many.

    Args:
        store: Where.
        scope: Who says that they are secrets.
        base: The base model.
        ids: The turns. One that belongs to somebody else is left alone.
    """
    with store.reader(scope) as reader:
        records = [one for one in reader.get(list(ids)).values() if one.owner == scope.user]
        documents = {
            one.id: reader.documents(one.place.source).get(one.place.path)
            for one in records
            if one.place is not None
        }
    if not records:
        return 0
    at = now_micros()
    new = [
        replace(one, content=MARK, content_hash=text_hash(MARK), updated_at=max(at, one.updated_at + 1))
        for one in records
    ]
    marks = embed([prepare(record) for record in new], [""] * len(new), base)  # before: it may fail
    forget(store, scope, [one.id for one in records])
    changes: list[Change] = []
    for one in marks:
        document = documents.get(one.record.id)
        changes.append(
            PutMemory(one) if document is None else PutDocument(document, fresh=(one,), grows=True)
        )
    changes.append(PutEvents(tuple(Event(one.id, "changed", at, one.key) for one in new)))
    store.write(scope, changes, durable=True)
    return len(new)
