"""Viewer pages of conversations: the list, and one in order with what was learned from it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from fastapi import APIRouter, Request, Response

from scrubjay.memory import Memory
from scrubjay.models.records import TIERS, Record
from scrubjay.models.views import ConversationPage, TimelinePage
from scrubjay.server.requests import ReadPrincipal, SessionDep, is_owner
from scrubjay.server.viewer.markdown import RenderedText, render_text
from scrubjay.server.viewer.page import (
    MemoryRow,
    PageNumber,
    PageRoute,
    memory_row,
    memory_rows,
    render_page,
    speaker,
)
from scrubjay.server.viewer.sessions import injection_log

router = APIRouter(include_in_schema=False, route_class=PageRoute)

CONVERSATIONS_PAGE_SIZE: Final = 30
TURNS_PAGE_SIZE: Final = 40
MAX_LEARNED: Final = 30
LEARNED_TIERS: Final = tuple(tier for tier in TIERS if tier != "observation")


@dataclass(slots=True)
class ShownTurn:
    """One turn: its pieces, each with its text as HTML."""

    speaker: str
    pieces: list[tuple[MemoryRow, RenderedText]]


@router.get("/conversations")
async def conversations(
    request: Request, who: ReadPrincipal, session: SessionDep, number: PageNumber = 1
) -> Response:
    skip = (number - 1) * CONVERSATIONS_PAGE_SIZE
    found = await session.read(
        who, lambda memory: memory.conversations(limit=CONVERSATIONS_PAGE_SIZE, skip=skip)
    )
    return render_page(request, "conversations", found=found.conversations, more=found.more, number=number)


@router.get("/conversations/one")
async def conversation(
    request: Request, who: ReadPrincipal, session: SessionDep, id: str = "", number: PageNumber = 1
) -> Response:
    skip = (number - 1) * TURNS_PAGE_SIZE

    def read(memory: Memory) -> tuple[ConversationPage, TimelinePage]:
        page = memory.conversation(id, limit=TURNS_PAGE_SIZE, skip=skip)
        return page, memory.timeline(sessions=[id], tiers=LEARNED_TIERS, limit=MAX_LEARNED)

    found, learned = await session.read(who, read)
    log = injection_log(session) if is_owner(who, session) else None
    agent = found.conversation.agent or ""

    def prepare() -> tuple[list[ShownTurn], bool]:
        return list(_shown_turns(found)), log is not None and bool(log.session(agent, id))

    turns, injected = await asyncio.to_thread(prepare)
    return render_page(
        request,
        "conversation",
        one=found.conversation,
        turns=turns,
        learned=memory_rows(learned),
        injected=injected,
        more=found.more,
        number=number,
    )


def _shown_turns(found: ConversationPage) -> Iterator[ShownTurn]:
    for _, records in groupby(found.turns, key=lambda record: record.turn):
        yield _shown_turn(list(records), found)


def _shown_turn(records: Sequence[Record], found: ConversationPage) -> ShownTurn:
    role = next((one.role for one in records if one.role), None)
    pieces = [
        (memory_row(one, found.paths.get(one.id)), render_text(one.content, level=3, breaks=True))
        for one in records
    ]
    return ShownTurn(speaker(role), pieces)
