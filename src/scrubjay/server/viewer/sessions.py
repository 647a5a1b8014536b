"""Viewer pages of agents' sessions (what hooks added to each), and of conversations with what was learned from them.

The injection log belongs to the user of this machine's settings, so only this user sees it; the memories are read as
the viewer's user may see them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request, Response

from scrubjay.api.injections import MAX_SESSIONS, Injection, InjectionLog
from scrubjay.config.loader import load_settings
from scrubjay.config.paths import data_folder, environment
from scrubjay.errors import ForbiddenError, NotFoundError
from scrubjay.frozen import frozen
from scrubjay.memory import Memory
from scrubjay.models.records import TIERS, Record
from scrubjay.models.views import ConversationPage, TimelinePage
from scrubjay.server.requests import ReadAccess
from scrubjay.server.session import Session
from scrubjay.server.viewer.markdown import RenderedText, render_text
from scrubjay.server.viewer.page import (
    MemoryRow,
    PageNumber,
    PageRoute,
    iso_time,
    memory_row,
    memory_rows,
    page_of,
    render_page,
    speaker,
    url_with_query,
)

router = APIRouter(include_in_schema=False, route_class=PageRoute)

SESSIONS_PAGE_SIZE: Final = 40
INJECTIONS_PAGE_SIZE: Final = 20
EVENT_TITLES: Final = {
    "session-start": "Session start",
    "prompt": "Prompt",
    "late": "Session start, not answered in time",
}


REASONS: Final = {
    "pinned": "pinned",
    "profile": "about you",
    "recent": "of the last days",
    "relevant": "matches the prompt",
}
"""Why a memory was added, by the part of the context it was in."""


@frozen
class SessionSummary:
    """One session in the list; ``memories`` counts each memory once."""

    agent: str
    session: str
    folder: str
    started: str
    ended: str
    memories: int
    tokens: int


@frozen
class InjectedMemory:
    """One memory of an injection; ``row`` is None where it is forgotten or not visible."""

    id: str
    why: str
    relevance: float | None
    tokens: int
    row: MemoryRow | None
    then: str


async def _owner_log(access: ReadAccess) -> InjectionLog | None:
    """Return the log for the user of the settings; None as with ``--store``."""
    if not access.is_owner:
        raise ForbiddenError(
            "The sessions of this machine's agents are shown only to the user of its settings.",
            hint="ask the server's operator",
        )
    return injection_log(access.session)


def injection_log(session: Session) -> InjectionLog | None:
    """Return the log of hooks, None where this server's store is not theirs."""
    env = environment()
    key = attrgetter("store", "tenant", "user")
    return (
        InjectionLog(data_folder(env)) if key(load_settings(environ=env)) == key(session.settings) else None
    )


LogDep = Annotated[InjectionLog | None, Depends(_owner_log)]


@router.get("/sessions")
async def sessions(request: Request, log: LogDep, number: PageNumber = 1) -> Response:
    injections = [] if log is None else await asyncio.to_thread(log.sessions, MAX_SESSIONS)
    summaries = [_summary(session) for session in injections]
    return render_page(
        request,
        "sessions",
        total=len(summaries),
        all_kept=len(summaries) < MAX_SESSIONS,
        tokens=sum(summary.tokens for summary in summaries),
        silent=sum(not summary.memories for summary in summaries),
        **page_of(summaries, number, SESSIONS_PAGE_SIZE),
    )


def _summary(injections: Sequence[Injection]) -> SessionSummary:
    first, last = injections[0], injections[-1]
    return SessionSummary(
        _utf8_text(first.agent),
        _utf8_text(first.session),
        _utf8_text(next((injection.folder for injection in injections if injection.folder), "")),
        _injection_time(first),
        _injection_time(last),
        len({memory["id"] for injection in injections for memory in injection.memories}),
        sum(injection.tokens for injection in injections),
    )


def _utf8_text(text: object) -> str:
    """Return a text that UTF-8 has: the name of a folder may be of other bytes."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _injection_time(injection: Injection) -> str:
    return iso_time(int(injection.at * 1_000_000))


@router.get("/sessions/one")
async def one_session(
    access: ReadAccess,
    log: LogDep,
    agent: str = "",
    id: str = "",
    number: PageNumber = 1,
) -> Response:
    injections = [] if log is None else await asyncio.to_thread(log.session, agent, id)
    if not injections:
        raise NotFoundError(f"There is no session {id!r:.80} of {agent!r:.40}.", hint="its log may be gone")
    page = page_of(injections, number, INJECTIONS_PAGE_SIZE)
    injected: list[Injection] = page["entries"]
    ids = [_utf8_text(memory["id"]) for injection in injected for memory in injection.memories]
    records = await access.read(lambda memory: memory.records(ids))
    rows = {row.record.id: row for row in memory_rows(records)}
    url = url_with_query("/sessions/one", {"agent": agent, "id": id, "page": number})
    entries = [
        {
            "title": EVENT_TITLES.get(injection.event) or _utf8_text(injection.event),
            "at": _injection_time(injection),
            "fresh": injection.fresh,
            "tokens": injection.tokens,
            "memories": [
                _memory_entry(memory, rows, url, f"{index}-{n}")
                for n, memory in enumerate(injection.memories)
            ],
        }
        for index, injection in enumerate(injected)
    ]
    turns = await access.read(lambda memory: memory.timeline(sessions=[id], tiers=["observation"], limit=1))
    return render_page(
        access.request,
        "session",
        one=_summary(injections),
        said=any(injection.turn is not None for injection in turns.memories),
        **{**page, "entries": entries},
    )


def _memory_entry(memory: Any, rows: dict[str, MemoryRow], here: str, anchor: str) -> InjectedMemory:
    id = _utf8_text(memory["id"])
    return InjectedMemory(
        id,
        REASONS.get(memory.get("part", "")) or _utf8_text(memory.get("part", "")),
        memory.get("relevance"),
        memory.get("tokens", 0),
        rows.get(id),
        f"{here}#m{anchor}",
    )


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
async def conversations(access: ReadAccess, number: PageNumber = 1) -> Response:
    skip = (number - 1) * CONVERSATIONS_PAGE_SIZE
    listed = await access.read(lambda memory: memory.conversations(limit=CONVERSATIONS_PAGE_SIZE, skip=skip))
    return render_page(
        access.request, "conversations", found=listed.conversations, more=listed.more, number=number
    )


@router.get("/conversations/one")
async def conversation(access: ReadAccess, id: str = "", number: PageNumber = 1) -> Response:
    skip = (number - 1) * TURNS_PAGE_SIZE

    def read(memory: Memory) -> tuple[ConversationPage, TimelinePage]:
        page = memory.conversation(id, limit=TURNS_PAGE_SIZE, skip=skip)
        return page, memory.timeline(sessions=[id], tiers=LEARNED_TIERS, limit=MAX_LEARNED)

    page, learned = await access.read(read)
    log = injection_log(access.session) if access.is_owner else None
    agent = page.conversation.agent or ""

    def prepare() -> tuple[list[ShownTurn], bool]:
        turns = groupby(page.turns, key=lambda record: record.turn)
        shown = [_shown_turn(list(records), page) for _, records in turns]
        return shown, log is not None and bool(log.session(agent, id))

    turns, injected = await asyncio.to_thread(prepare)
    return render_page(
        access.request,
        "conversation",
        one=page.conversation,
        turns=turns,
        learned=memory_rows(learned),
        injected=injected,
        more=page.more,
        number=number,
    )


def _shown_turn(records: Sequence[Record], page: ConversationPage) -> ShownTurn:
    role = next((record.role for record in records if record.role), None)
    pieces = [
        (memory_row(record, page.paths.get(record.id)), render_text(record.content, level=3, breaks=True))
        for record in records
    ]
    return ShownTurn(speaker(role), pieces)
