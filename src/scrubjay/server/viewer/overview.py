"""Viewer pages of the store as a whole: what is known and what needs attention, redactions and conflicts.

The overview is the part of the start page that takes longer than a search, so the page asks for it separately.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response

from scrubjay.agents.base import Home
from scrubjay.config.paths import data_folder, environment
from scrubjay.doctor import checks
from scrubjay.memory import Memory
from scrubjay.models.reports import OK, WARNING, Check, Redaction, StoreStatus
from scrubjay.models.views import Conflict
from scrubjay.server.requests import ReadPrincipal, SessionDep, is_operator, is_owner, server_warnings
from scrubjay.server.session import Session
from scrubjay.server.viewer.page import PageNumber, PageRoute, format_count, page_of, render_page

router = APIRouter(include_in_schema=False, route_class=PageRoute)

PAGE_SIZE: Final = 50
MAX_READ_FOR_REDACTIONS: Final = 5_000
"""Memories up to which the overview counts redactions, for which it reads every text."""
CHECK_SECONDS: Final = 0.5
"""Time limit of each slow check of the store."""
CHECKS_KEPT: Final = 300.0
"""Seconds for which results of these checks are shown again."""
MAX_SOURCES: Final = 5


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that a person should know of: a sentence, the next step, and a page about it.

    ``level`` is ``note``, ``warning`` or ``problem``.
    """

    text: str
    fix: str = ""
    page: str = ""
    level: str = "note"


@dataclass(frozen=True, slots=True)
class StoreChecks:
    """Results of the doctor's checks of the store and the log, and when they were made (monotonic seconds)."""

    found: tuple[Check, ...]
    at: float


@router.get("/overview")
async def overview(request: Request, who: ReadPrincipal, session: SessionDep) -> Response:
    found, conflicts, redactions = await session.read(who, _read)
    operator = is_operator(who, session)
    checked: Iterable[Check] = checks.check_contents(found)
    if operator and is_owner(who, session):
        checked = await _store_checks(request, session)
    attention = [
        *(Attention(text, level=WARNING) for text in server_warnings(request, who)),
        *(Attention(text, level=WARNING) for text in (found.warnings if operator else ())),
        *_from_checks(checked, names=operator),
        *_from_contents(found, conflicts, redactions, names=operator),
    ]
    newest = sorted(found.sources, key=lambda source: source.synced or "", reverse=True)
    return render_page(
        request,
        "overview",
        found=found,
        attention=attention,
        sources=newest[:MAX_SOURCES],
        more_sources=max(0, len(newest) - MAX_SOURCES),
        names=operator,
    )


def _read(memory: Memory) -> tuple[StoreStatus, int, int | None]:
    found = memory.status()
    small = found.memories <= MAX_READ_FOR_REDACTIONS
    return found, len(memory.conflicts()), len(memory.redactions()) if small else None


async def _store_checks(request: Request, session: Session) -> tuple[Check, ...]:
    """Return the doctor's checks of this server's store and log, new ones if the last are too old."""
    last: StoreChecks | None = request.app.state.checks
    if last is None or time.monotonic() - last.at > CHECKS_KEPT:
        last = StoreChecks(await asyncio.to_thread(_check_store, session), time.monotonic())
        request.app.state.checks = last
    return last.found


def _check_store(session: Session) -> tuple[Check, ...]:
    env = environment()
    home = Home(Path.home(), env, (), Path(data_folder(env)))
    installation = checks.Installation(session.settings, home, seconds=CHECK_SECONDS)
    return (*checks.check_store(installation), *checks.check_log(installation))


def _from_checks(found: Iterable[Check], *, names: bool) -> Iterator[Attention]:
    for check in found:
        # Pending vectors are told with their number anyway, and an empty store by its page.
        if check.state != OK and check.about not in ("vectors", "memories"):
            text = check.found if check.found[:1].isupper() else f"{check.about.capitalize()}: {check.found}"
            if names or check.about not in ("sources", "store", "texts"):
                yield Attention(f"{text.rstrip('.')}.", check.fix, level=check.state)


def _from_contents(
    found: StoreStatus, conflicts: int, redactions: int | None, *, names: bool
) -> Iterator[Attention]:
    waiting = max((model.waiting for model in found.models), default=0)
    if waiting:
        yield Attention(
            f"{format_count(waiting, 'memory has', 'memories have')} no vectors of the larger model yet; "
            "searches find them by words and the base model.",
            "scrubjay embed",
            "/status",
        )
    if found.unread:
        unread = format_count(len(found.unread), "file is", "files are")
        first = f", such as {found.unread[0].path}" if names else ""
        yield Attention(f"{unread} not stored as they are now{first}.", "scrubjay sync", "/status", WARNING)
    if conflicts:
        pairs = format_count(conflicts, "pair of memories contradicts", "pairs of memories contradict")
        yield Attention(f"{pairs} each other.", page="/conflicts", level=WARNING)
    if redactions:
        yield Attention(
            f"{format_count(redactions, 'secret was', 'secrets or private parts were')} left out of the stored texts.",
            page="/redactions",
        )
    elif redactions is None:
        yield Attention(
            "Secrets and private parts were looked for and left out when texts were stored.",
            page="/redactions",
        )


@router.get("/conflicts")
async def conflicts(
    request: Request, who: ReadPrincipal, session: SessionDep, number: PageNumber = 1
) -> Response:
    found: Sequence[Conflict] = await session.read(who, lambda memory: memory.conflicts())
    return render_page(request, "conflicts", total=len(found), **page_of(found, number, PAGE_SIZE))


@router.get("/redactions")
async def redactions(
    request: Request, who: ReadPrincipal, session: SessionDep, number: PageNumber = 1
) -> Response:
    found: Sequence[Redaction] = await session.read(who, lambda memory: memory.redactions())
    return render_page(request, "redactions", total=len(found), **page_of(found, number, PAGE_SIZE))
