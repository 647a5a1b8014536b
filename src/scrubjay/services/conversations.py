"""Conversations service: list the conversations of a store, and read one in order."""

from __future__ import annotations

from typing import Final

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.dates import record_date
from scrubjay.models.records import Record
from scrubjay.models.views import Conversation, ConversationList, ConversationPage
from scrubjay.search.browse import memory_phrase
from scrubjay.search.results import full_paths
from scrubjay.services.workspace import Workspace
from scrubjay.storage.interface import Reader

OPENING_TURNS: Final = 8
"""First turns among which a person's words are looked for: an agent's instructions may come first."""
MAX_PAGE: Final = 200


def list_conversations(workspace: Workspace, limit: int, skip: int) -> ConversationList:
    _check_range("limit", limit, 1)
    _check_range("skip", skip, 0)
    with workspace.store.reader(workspace.scope) as reader:
        found = reader.sessions(limit + 1, skip)
        described = (_describe(reader, session) for session in found[:limit])
        return ConversationList(tuple(filter(None, described)), len(found) > limit)


def read_conversation(workspace: Workspace, session: str, limit: int, skip: int) -> ConversationPage:
    _check_range("limit", limit, 1)
    _check_range("skip", skip, 0)
    with workspace.store.reader(workspace.scope) as reader:
        conversation = _describe(reader, session)
        if conversation is None:
            raise NotFoundError(
                f"There is no conversation {session!r:.80}.", hint="it may have been forgotten"
            )
        first = reader.turns(session, skip, skip + limit - 1)
        last = reader.last_turn(session) or 0
        return ConversationPage(
            conversation, tuple(first), full_paths(first, reader.sources()), last >= skip + limit
        )


def _check_range(name: str, number: int, least: int) -> None:
    if number < least or (name == "limit" and number > MAX_PAGE):
        bound = f"{least} to {MAX_PAGE}" if name == "limit" else f"at least {least}"
        raise InputError(f"{name} is {number}; it must be {bound}.")


def _describe(reader: Reader, session: str) -> Conversation | None:
    last = reader.last_turn(session)
    if last is None:
        return None
    opening = reader.turns(session, 0, OPENING_TURNS - 1)
    closing = reader.turns(session, last, last)
    turns = opening or closing
    first = next((one for one in turns if one.role == "user" and _is_said(one)), turns[0])
    return Conversation(
        session=session,
        opening=memory_phrase(first),
        started=record_date(turns[0]),
        ended=record_date(closing[-1]),
        turns=last + 1,
        agent=next((one.agent for one in turns if one.agent), None),
        project=next((one.project for one in turns if one.project), None),
    )


def _is_said(record: Record) -> bool:
    """Return whether a memory is a turn itself, and not learned from one."""
    return record.tier == "observation" and bool(record.content.strip())
