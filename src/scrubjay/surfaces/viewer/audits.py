"""Audits: what is of no use, looked for when somebody asks, behind the page; what can be put away, and taken back.

Looking reads every active memory, so it is done when a person asks for it, one look at a time for each principal, and
the page shows what the last look found. Nothing of it is kept when the server ends.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Final, cast

from fastapi import APIRouter, Depends, Request, Response

from scrubjay.errors import InputError, ScrubjayError
from scrubjay.memory.audits import Audit
from scrubjay.memory.dates import now_micros
from scrubjay.surfaces.serve.asked import Reader, Writer
from scrubjay.surfaces.serve.seen import MOST_PRINCIPALS
from scrubjay.surfaces.serve.session import Session
from scrubjay.surfaces.viewer.page import Fields, Page, Working, first, page, query, seen
from scrubjay.surfaces.viewer.words import at
from scrubjay.verbs.tokens import Principal

router = APIRouter(include_in_schema=False, route_class=Page)

EXAMPLES: Final = 20
RUN: Final = re.compile(r"run_[0-9a-f]{1,40}")


@dataclass(slots=True)
class Looked:
    """What the last look of one principal found, and the look that goes on."""

    found: Audit | None = None
    ended: int = 0
    error: ScrubjayError | None = None
    going: asyncio.Task[None] | None = None


class Looks:
    """The last look of each principal."""

    def __init__(self) -> None:
        self._of: OrderedDict[tuple[object, ...], Looked] = OrderedDict()

    def of(self, who: Principal) -> Looked:
        """Return a principal's look, one that has not begun if they have none."""
        name = (who.tenant, who.user, who.groups)
        found = self._of.setdefault(name, Looked())
        self._of.move_to_end(name)
        while len(self._of) > MOST_PRINCIPALS:
            self._of.popitem(last=False)
        return found

    def begin(self, session: Session, who: Principal) -> None:
        """Look, unless a look goes on."""
        mine = self.of(who)
        if mine.going is None or mine.going.done():
            mine.going = asyncio.create_task(_look(session, who, mine))


async def _look(session: Session, who: Principal, mine: Looked) -> None:
    try:
        mine.found, mine.error = await session.do(who, lambda memory: memory.audit(limit=EXAMPLES)), None
    except ScrubjayError as error:
        mine.error = error
    mine.ended = now_micros()


def _looks(request: Request) -> Looks:
    state = request.app.state
    if not hasattr(state, "looks"):
        state.looks = Looks()
    return cast(Looks, state.looks)


Held = Annotated[Looks, Depends(_looks)]


@router.get("/audit")
async def audit(request: Request, who: Reader, looks: Held, said: str = "", run: str = "") -> Response:
    """Show what the last look found."""
    mine = looks.of(who)
    going = mine.going is not None and not mine.going.done()
    return page(
        request, "audit", found=mine.found, ended=at(mine.ended) if mine.ended else "", going=going,
        error=mine.error, said=said, names="admin" in who.scopes, run=run if RUN.fullmatch(run) else "",
    )  # fmt: skip


@router.post("/audit")
async def look(who: Reader, session: Working, looks: Held) -> Response:
    """Begin to look."""
    looks.begin(session, who)
    return seen("/audit")


@router.post("/audit/fix")
async def fix(who: Writer, session: Working, looks: Held, fields: Fields) -> Response:
    """Put away what has one kind of fault, and look again."""
    kind = first(fields, "kind")
    done = await session.do(who, lambda memory: memory.audit([kind], 0), writes=True)
    looks.begin(session, who)
    run = done.undo.rpartition(" ")[2]
    return seen(query("/audit", {"said": f"{sum(map(len, done.fixed.values()))}", "run": run}))


@router.post("/audit/undo")
async def undo(who: Writer, session: Working, looks: Held, fields: Fields) -> Response:
    """Take a run back, and look again."""
    run = first(fields, "run")
    if not run:
        raise InputError("No run was named. Nothing was done.")
    await session.do(who, lambda memory: memory.undo_audit(run), writes=True)
    looks.begin(session, who)
    return seen(query("/audit", {"said": "undone"}))
