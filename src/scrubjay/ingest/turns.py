"""Conversation turns: strip injected memories and redact secrets across turns.

Every turn passes here before it is stored (transcripts, `add`, imports, proxy). It is redacted with the turns before
it; an earlier turn changes only if it is one password-like token that a following turn calls a password.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, StoreConflictError
from scrubjay.frozen import frozen
from scrubjay.ingest.deletion import forget_memories
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.dates import now_micros
from scrubjay.models.ids import text_hash
from scrubjay.models.lifecycle import Event, NewMemory
from scrubjay.models.records import Record, Scope
from scrubjay.models.results import BLOCK_CLOSE, BLOCK_OPEN
from scrubjay.redaction.dialogue import CONTEXT_TURNS, calls_secret
from scrubjay.redaction.redactor import RedactedText, is_allowed, redact_text, redact_texts
from scrubjay.storage.changes import Change, PutDocument, PutEvents, PutMemory
from scrubjay.storage.interface import CONFLICT_ATTEMPTS, Reader, Store
from scrubjay.text.dialogue import cut_blocks

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


@frozen
class StrippedText:
    text: str
    blocks: int


def strip_injected(text: str) -> StrippedText:
    """Cut out the text between our injection marks; an unpaired mark stays.

    >>> strip_injected("Hi.<scrubjay-memories>Ann likes tea.</scrubjay-memories> What does Ann like?")
    StrippedText(text='Hi. What does Ann like?', blocks=1)
    """
    return StrippedText(*cut_blocks(text, BLOCK_OPEN, BLOCK_CLOSE))


def content_without_injected(new: NewMemory) -> object:
    if (new.turn is None and new.role is None) or not isinstance(new.content, str):
        return new.content
    return strip_injected(new.content).text


def is_only_injected(new: NewMemory) -> bool:
    content = content_without_injected(new)
    return content != new.content and isinstance(content, str) and not content.strip()


PASSWORD_MARK: Final = "[secret:password]"


@frozen
class RedactedTurns:
    """Redacted turns; ``secret_places`` are the places of earlier turns that they call a secret."""

    redacted: tuple[RedactedText, ...]
    secret_places: tuple[int, ...]


@frozen
class StoredTurn:
    text: str
    ids: tuple[str, ...] = ()


def redact_turns(
    texts: Sequence[str], allow: Sequence[str] = (), before: Sequence[str] = (), after: Sequence[str] = ()
) -> RedactedTurns:
    """Redact consecutive turns of one conversation, given the turns before and after them."""
    turns = [*before, *texts, *after]
    secret_places = []
    for place, turn in enumerate(turns):
        following = turns[place + 1 : place + 1 + CONTEXT_TURNS]
        if any(calls_secret(one, turn) for one in following) and not is_allowed(turn.strip(), allow):
            secret_places.append(place)
    # All at once in the context of the original turns, then those after a redacted turn again.
    context_turns = [*before[-CONTEXT_TURNS:], *texts]
    ends = range(len(context_turns) - len(texts), len(context_turns))
    contexts = [context_turns[max(0, end - CONTEXT_TURNS) : end] for end in ends]
    redacted = redact_texts(texts, allow, contexts)
    for index, (text, end) in enumerate(zip(texts, ends, strict=True)):
        context = context_turns[max(0, end - CONTEXT_TURNS) : end]
        if index + len(before) in secret_places:
            redacted[index] = RedactedText(text.replace(text.strip(), PASSWORD_MARK, 1), {"password": 1})
        elif context != contexts[index]:
            redacted[index] = redact_text(text, allow, context)
        context_turns[end] = redacted[index].text
    return RedactedTurns(tuple(redacted), tuple(place for place in secret_places if place < len(before)))


def read_stored_turns(reader: Reader, session: str, first: int, last: int) -> list[StoredTurn]:
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
    """Return new turns' redacted texts (None for other memories), and ids of stored turns that they call a secret.

    Turns follow one another by number, those without one in their order.
    """
    redacted: list[RedactedText | None] = [None] * len(memories)
    secret_ids: list[str] = []
    sessions = _places_by_session(memories)
    if not sessions:
        return redacted, secret_ids
    before: dict[str, list[StoredTurn]] = {}
    after: dict[str, list[StoredTurn]] = {}
    with store.reader(scope) as reader:
        for session, places in sessions.items():
            first, last = memories[places[0]].turn, memories[places[-1]].turn
            if first is None or last is None:
                continue
            after[session] = read_stored_turns(reader, session, last + 1, last + CONTEXT_TURNS)
            if first > 0:
                before[session] = read_stored_turns(reader, session, first - CONTEXT_TURNS, first - 1)
    for session, places in sessions.items():
        earlier = before.get(session, [])
        turns = redact_turns(
            [stated_text(memories[place]) for place in places],
            allow,
            [turn.text for turn in earlier],
            [turn.text for turn in after.get(session, [])],
        )
        for place, clean in zip(places, turns.redacted, strict=True):
            redacted[place] = clean
        secret_ids += [memory for place in turns.secret_places for memory in earlier[place].ids]
    return redacted, secret_ids


def _places_by_session(memories: Sequence[NewMemory]) -> Mapping[str, Sequence[int]]:
    """Return the places of each session's turns, in the order of their numbers."""
    sessions: dict[str, list[int]] = {}
    for place, new in enumerate(memories):
        numbered = new.turn is None or (isinstance(new.turn, int) and not isinstance(new.turn, bool))
        if isinstance(new.session, str) and isinstance(new.content, str) and numbered:
            sessions.setdefault(new.session, []).append(place)
    for places in sessions.values():
        places.sort(key=lambda place: -1 if memories[place].turn is None else int(memories[place].turn or 0))
    return sessions


def redact_stored_turns(store: Store, scope: Scope, base: Embedder, ids: Iterable[str]) -> int:
    """Replace stored turns of the caller by a redaction mark for good; return how many.

    Raises:
        StoreConflictError: Others changed one of them at each attempt.
    """
    left, count = list(ids), 0
    for _ in range(CONFLICT_ATTEMPTS):
        redacted, left = _redact_unchanged(store, scope, base, left)
        count += redacted
        if not left:
            return count
    raise StoreConflictError(f"Turn {left[0]} was changed at each attempt to redact it.", hint="try again")


def _redact_unchanged(
    store: Store, scope: Scope, base: Embedder, ids: Sequence[str]
) -> tuple[int, list[str]]:
    """Redact the turns that nobody changes meanwhile; return how many, and the others."""
    with store.reader(scope) as reader:
        records = [one for one in reader.get(list(ids)).values() if one.owner == scope.user]
        documents = {
            one.id: reader.documents(one.place.source).get(one.place.path)
            for one in records
            if one.place is not None
        }
    if not records:
        return 0, []
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
    # Embed before anything is deleted: it may fail.
    replacements = embed_memories([prepare_memory(record) for record in new], [""] * len(new), base)
    unchanged = {one.id: one for one in records}
    forgotten = set(forget_memories(store, scope, list(unchanged), unchanged=unchanged).report.ids)
    replacements = [one for one in replacements if one.record.id in forgotten]
    changes: list[Change] = []
    for one in replacements:
        document = documents.get(one.record.id)
        changes.append(
            PutMemory(one) if document is None else PutDocument(document, fresh=(one,), grows=True)
        )
    changed = (one.record for one in replacements)
    changes.append(PutEvents(tuple(Event(one.id, "changed", at, one.key) for one in changed)))
    store.write(scope, changes, durable=True)
    return len(replacements), [memory for memory in unchanged if memory not in forgotten]


def stated_text(new: NewMemory) -> str:
    return checked_text(content_without_injected(new), "content")


def checked_text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{field} is not a text: its type is {type(value).__name__}. Nothing was written.")
    # Lone surrogates can be neither stored nor printed.
    return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
