"""Conversation turns: strip injected memories and redact secrets across turns.

What was put into a conversation from memory is not captured from it again, or it would be recalled as new, and
captured again. It does not know what is stored: the marks alone tell. Capture of what somebody repeats in words
of their own is for an audit to find.

The one place where turns are made ready to be stored, whichever way they come (transcripts, `add`, imports, the
proxy). Each is read with the two turns before it, as they are stored or in the same batch; the earlier ones are
changed in one case alone: one token with a password's form that one of the next two turns calls a password.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError
from scrubjay.ingest.deletion import forget_memories
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.dates import now_micros
from scrubjay.models.ids import text_hash
from scrubjay.models.lifecycle import Event, NewMemory
from scrubjay.models.records import Record, Scope
from scrubjay.models.results import BLOCK_CLOSE, BLOCK_OPEN
from scrubjay.redaction.dialogue import CONTEXT_TURNS, calls_secret
from scrubjay.redaction.redactor import RedactedText, is_allowed, redact_text
from scrubjay.storage.changes import Change, PutDocument, PutEvents, PutMemory
from scrubjay.storage.interface import Reader, Store

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


@dataclass(frozen=True, slots=True)
class StrippedText:
    """A text, and how many blocks of recalled memories were cut out of it."""

    text: str
    blocks: int


def strip_injected(text: str) -> StrippedText:
    """Cut out what stands between our own marks; a mark without its other half is a word like any other.

    >>> strip_injected("Hi.<scrubjay-memories>Ann likes tea.</scrubjay-memories> What does Ann like?")
    StrippedText(text='Hi. What does Ann like?', blocks=1)
    """
    kept: list[str] = []
    place = count = 0
    while (start := text.find(BLOCK_OPEN, place)) >= 0:
        end = text.find(BLOCK_CLOSE, start)
        if end < 0:
            break
        kept.append(text[place:start])
        place = end + len(BLOCK_CLOSE)
        count += 1
    return StrippedText("".join(kept) + text[place:], count)


def content_without_injected(new: NewMemory) -> object:
    """Return what a new memory is to say: of a turn, without what was recalled into it."""
    if (new.turn is None and new.role is None) or not isinstance(new.content, str):
        return new.content
    return strip_injected(new.content).text


def is_only_injected(new: NewMemory) -> bool:
    """Tell whether a new memory is a turn that holds recalled memories and says nothing else."""
    said = content_without_injected(new)
    return said != new.content and isinstance(said, str) and not said.strip()


PASSWORD_MARK: Final = "[secret:password]"


@dataclass(frozen=True, slots=True)
class RedactedTurns:
    """Turns without secrets.

    Attributes:
        found: Each of them.
        called: Places, among the turns before them, of those that they call a secret.
    """

    found: tuple[RedactedText, ...]
    called: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn that is stored.

    Attributes:
        text: Its text.
        ids: The memories that hold it.
    """

    text: str
    ids: tuple[str, ...] = ()


def redact_turns(
    texts: Sequence[str], allow: Sequence[str] = (), before: Sequence[str] = (), after: Sequence[str] = ()
) -> RedactedTurns:
    """Replace the secrets of turns that follow one another.

    Args:
        texts: The turns of one conversation, in order.
        allow: What is never replaced, as of `redact_text`.
        before: The turns before them, without secrets.
        after: The turns behind them, as far as they are known.
    """
    whole = [*before, *texts, *after]
    called = [place for place in range(len(whole)) if _is_called_secret(whole, place, allow)]
    clean = list(before[-CONTEXT_TURNS:])
    found = []
    for place, text in enumerate(texts, len(before)):
        if place in called:
            value = text.strip()
            one = RedactedText(text.replace(value, PASSWORD_MARK, 1), {"password": 1})
        else:
            one = redact_text(text, allow, clean[-CONTEXT_TURNS:])
        found.append(one)
        clean.append(one.text)
    return RedactedTurns(tuple(found), tuple(place for place in called if place < len(before)))


def _is_called_secret(turns: Sequence[str], place: int, allow: Sequence[str]) -> bool:
    later = turns[place + 1 : place + 1 + CONTEXT_TURNS]
    return any(calls_secret(one, turns[place]) for one in later) and not is_allowed(
        turns[place].strip(), allow
    )


def read_stored_turns(reader: Reader, session: str, first: int, last: int) -> list[StoredTurn]:
    """Return the stored turns of a session from one number to another, in order."""
    turns: dict[int, list[Record]] = {}
    for record in reader.turns(session, first, last):
        turns.setdefault(record.turn or 0, []).append(record)
    return [
        StoredTurn("".join(one.content for one in pieces), tuple(one.id for one in pieces))
        for _, pieces in sorted(turns.items())
    ]


def redact_new_turns(
    store: Store, scope: Scope, memories: Sequence[NewMemory], allow: Sequence[str] = ()
) -> tuple[list[RedactedText | None], list[str]]:
    """Return the texts of those of new memories that are turns, and the ids of stored turns that they call a secret.

    A turn follows another of its session by its number; turns without one follow in the order in which they come.

    Args:
        store: Where earlier turns are read, by one indexed read or two a session.
        scope: Who adds them.
        memories: The new memories; what is no turn of a conversation comes back as None.
        allow: What is never replaced, as of `redact_text`.
    """
    found: list[RedactedText | None] = [None] * len(memories)
    called: list[str] = []
    talks = _turns_by_session(memories)
    if not talks:
        return found, called
    with store.reader(scope) as reader:
        known = {
            session: _surrounding_turns(reader, session, [memories[place].turn for place in places])
            for session, places in talks.items()
        }
    for session, places in talks.items():
        before, after = known[session]
        texts = [stated_text(memories[place]) for place in places]
        turns = redact_turns(texts, allow, [one.text for one in before], [one.text for one in after])
        for place, one in zip(places, turns.found, strict=True):
            found[place] = one
        called += [memory for place in turns.called for memory in before[place].ids]
    return found, called


def _surrounding_turns(
    reader: Reader, session: str, numbers: Sequence[int | None]
) -> tuple[list[StoredTurn], list[StoredTurn]]:
    """Return the stored turns just before and just behind some; without numbers nobody knows which they are."""
    first, last = numbers[0], numbers[-1]
    if first is None or last is None:
        return [], []
    before = read_stored_turns(reader, session, first - CONTEXT_TURNS, first - 1) if first > 0 else []
    return before, read_stored_turns(reader, session, last + 1, last + CONTEXT_TURNS)


def _turns_by_session(memories: Sequence[NewMemory]) -> Mapping[str, Sequence[int]]:
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


def redact_stored_turns(store: Store, scope: Scope, base: Embedder, ids: Iterable[str]) -> int:
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
        replace(
            one,
            content=PASSWORD_MARK,
            content_hash=text_hash(PASSWORD_MARK),
            updated_at=max(at, one.updated_at + 1),
        )
        for one in records
    ]
    marks = embed_memories(
        [prepare_memory(record) for record in new], [""] * len(new), base
    )  # before: it may fail
    forget_memories(store, scope, [one.id for one in records])
    changes: list[Change] = []
    for one in marks:
        document = documents.get(one.record.id)
        changes.append(
            PutMemory(one) if document is None else PutDocument(document, fresh=(one,), grows=True)
        )
    changes.append(PutEvents(tuple(Event(one.id, "changed", at, one.key) for one in new)))
    store.write(scope, changes, durable=True)
    return len(new)


def stated_text(new: NewMemory) -> str:
    """Return the text of a new memory, as it is before it is scrubbed.

    Raises:
        InputError: It is no text.
    """
    return _checked_text(content_without_injected(new), "content")


def _checked_text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{field} is a {type(value).__name__}, not a text. Nothing was written.")
    # What cannot be UTF-8 (half of a surrogate pair) cannot be stored or printed.
    return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
