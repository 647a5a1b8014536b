"""Viewer pages of agents' sessions (what hooks added to each), and of conversations with what was learned from them.

The injection log belongs to the user of this machine's settings, so only this user sees it; the memories are read as
the viewer's user may see them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request, Response

from scrubjay.api.injections import MAX_SESSIONS, Injection, InjectionLog
from scrubjay.config.loader import load_settings
from scrubjay.config.paths import data_folder, environment
from scrubjay.errors import ForbiddenError, NotFoundError
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


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session in the list; ``memories`` counts each memory once."""

    agent: str
    session: str
    folder: str
    started: str
    ended: str
    memories: int
    tokens: int


@dataclass(frozen=True, slots=True)
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
    env, own = environment(), session.settings
    hooks = load_settings(environ=env)
    if (hooks.store, hooks.tenant, hooks.user) != (own.store, own.tenant, own.user):
        return None
    return InjectionLog(data_folder(env))


LogDep = Annotated[InjectionLog | None, Depends(_owner_log)]


@router.get("/sessions")
async def sessions(request: Request, log: LogDep, number: PageNumber = 1) -> Response:
    found = [] if log is None else await asyncio.to_thread(log.sessions, MAX_SESSIONS)
    summaries = [_summary(injections) for injections in found]
    return render_page(
        request,
        "sessions",
        total=len(summaries),
        all_kept=len(summaries) < MAX_SESSIONS,
        tokens=sum(one.tokens for one in summaries),
        silent=sum(not one.memories for one in summaries),
        **page_of(summaries, number, SESSIONS_PAGE_SIZE),
    )


def _summary(injections: Sequence[Injection]) -> SessionSummary:
    first, last = injections[0], injections[-1]
    return SessionSummary(
        _storable(first.agent),
        _storable(first.session),
        _storable(next((one.folder for one in injections if one.folder), "")),
        _time(first),
        _time(last),
        len({memory["id"] for one in injections for memory in one.memories}),
        sum(one.tokens for one in injections),
    )


def _storable(text: object) -> str:
    """Return a text that UTF-8 has: the name of a folder may be of other bytes."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _time(injection: Injection) -> str:
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
    shown: list[Injection] = page["entries"]
    ids = [_storable(memory["id"]) for one in shown for memory in one.memories]
    read = await access.read(lambda memory: memory.records(ids))
    rows = {row.record.id: row for row in memory_rows(read)}
    here = url_with_query("/sessions/one", {"agent": agent, "id": id, "page": number})
    entries = [
        {
            "title": EVENT_TITLES.get(one.event) or _storable(one.event),
            "at": _time(one),
            "fresh": one.fresh,
            "tokens": one.tokens,
            "memories": [_injected(memory, rows, here, f"{at}-{n}") for n, memory in enumerate(one.memories)],
        }
        for at, one in enumerate(shown)
    ]
    said = await access.read(lambda memory: memory.timeline(sessions=[id], tiers=["observation"], limit=1))
    return render_page(
        access.request,
        "session",
        one=_summary(injections),
        said=any(one.turn is not None for one in said.memories),
        **{**page, "entries": entries},
    )


def _injected(memory: Any, rows: dict[str, MemoryRow], here: str, anchor: str) -> InjectedMemory:
    id = _storable(memory["id"])
    return InjectedMemory(
        id,
        REASONS.get(memory.get("part", "")) or _storable(memory.get("part", "")),
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
    found = await access.read(lambda memory: memory.conversations(limit=CONVERSATIONS_PAGE_SIZE, skip=skip))
    return render_page(
        access.request, "conversations", found=found.conversations, more=found.more, number=number
    )


@router.get("/conversations/one")
async def conversation(access: ReadAccess, id: str = "", number: PageNumber = 1) -> Response:
    skip = (number - 1) * TURNS_PAGE_SIZE

    def read(memory: Memory) -> tuple[ConversationPage, TimelinePage]:
        page = memory.conversation(id, limit=TURNS_PAGE_SIZE, skip=skip)
        return page, memory.timeline(sessions=[id], tiers=LEARNED_TIERS, limit=MAX_LEARNED)

    found, learned = await access.read(read)
    log = injection_log(access.session) if access.is_owner else None
    agent = found.conversation.agent or ""

    def prepare() -> tuple[list[ShownTurn], bool]:
        turns = groupby(found.turns, key=lambda record: record.turn)
        shown = [_shown_turn(list(records), found) for _, records in turns]
        return shown, log is not None and bool(log.session(agent, id))

    turns, injected = await asyncio.to_thread(prepare)
    return render_page(
        access.request,
        "conversation",
        one=found.conversation,
        turns=turns,
        learned=memory_rows(learned),
        injected=injected,
        more=found.more,
        number=number,
    )


def _shown_turn(records: Sequence[Record], found: ConversationPage) -> ShownTurn:
    role = next((one.role for one in records if one.role), None)
    pieces = [
        (memory_row(one, found.paths.get(one.id)), render_text(one.content, level=3, breaks=True))
        for one in records
    ]
    return ShownTurn(speaker(role), pieces)
