"""Viewer router, with its pages for login, status and audit.

An audit reads every active memory, so it runs on request, one at a time per principal; the page shows the last result,
which is lost when the server ends.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response

from scrubjay.api.auth import Principal, TokenStore
from scrubjay.errors import InputError, ScrubjayError
from scrubjay.models.dates import now_micros
from scrubjay.models.reports import AuditReport
from scrubjay.server.auth import PRINCIPAL_KEY, LoginStore, has_stale_cookie
from scrubjay.server.requests import ReadPrincipal, SessionDep, WritePrincipal, is_operator, server_warnings
from scrubjay.server.session import MAX_PRINCIPALS, Session
from scrubjay.server.viewer import graph, memories, overview, page, sessions
from scrubjay.server.viewer.page import (
    FormFields,
    PageNumber,
    PageRoute,
    first_value,
    iso_time,
    local_path,
    page_of,
    redirect,
    render_page,
    url_with_query,
)

router = APIRouter(include_in_schema=False, route_class=PageRoute)

WRONG_TOKEN = (
    "This token is not valid. Check that it was pasted completely, "
    "or ask the server's operator for a new one."
)


def _render_login(request: Request, code: int, then: str, error: str = "") -> Response:
    closed = request.app.state.tokenless is not None and PRINCIPAL_KEY not in request.scope
    return render_page(
        request, "login", code, then=then, error=error, stale=has_stale_cookie(request), local=closed
    )


@router.get("/login")
def login_page(request: Request, then: str = "/") -> Response:
    return _render_login(request, 200, local_path(then))


@router.post("/login")
async def log_in(request: Request, fields: FormFields) -> Response:
    tokens: TokenStore = request.app.state.tokens
    logins: LoginStore = request.app.state.logins
    then = local_path(first_value(fields, "then"))
    token = tokens.find(first_value(fields, "token").strip())
    if token is None:
        return _render_login(request, 401, then, WRONG_TOKEN)
    response = redirect(then)
    logins.begin(token, request, response)
    return response


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the login; the token stays valid."""
    logins: LoginStore = request.app.state.logins
    response = redirect("/")
    logins.end(request, response)
    return response


PAGE_SIZE: Final = 50


@router.get("/status")
async def status(
    request: Request, who: ReadPrincipal, session: SessionDep, number: PageNumber = 1
) -> Response:
    found = await session.read(who, lambda memory: memory.status())
    return render_page(
        request,
        "status",
        found=found,
        warnings=found.warnings + server_warnings(request, who),
        # Paths are for principals who may name files of the server.
        names="admin" in who.scopes,
        size=is_operator(who, session),
        **page_of(found.sources, number, PAGE_SIZE),
    )


MAX_EXAMPLES: Final = 20
RUN_ID: Final = re.compile(r"run_[0-9a-f]{1,40}")


@dataclass(slots=True)
class AuditState:
    """The last audit of one principal, and the running one."""

    found: AuditReport | None = None
    ended: int = 0
    error: ScrubjayError | None = None
    task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self.task is not None and not self.task.done()

    def begin(self, session: Session, who: Principal) -> None:
        """Start an audit unless one is running."""
        if not self.running:
            self.task = asyncio.create_task(self._run(session, who))

    async def _run(self, session: Session, who: Principal) -> None:
        try:
            self.found = await session.read(who, lambda memory: memory.audit(limit=MAX_EXAMPLES))
            self.error = None
        except ScrubjayError as error:
            self.error = session.public_error(error, who)
        self.ended = now_micros()


async def _audit_state(request: Request) -> AuditState:
    states: OrderedDict[tuple[object, ...], AuditState] = request.app.state.audits
    who: Principal = request.scope[PRINCIPAL_KEY]
    key = (who.tenant, who.user, who.groups)
    state = states.setdefault(key, AuditState())
    states.move_to_end(key)
    while len(states) > MAX_PRINCIPALS:
        states.popitem(last=False)
    return state


AuditStateDep = Annotated[AuditState, Depends(_audit_state)]


@router.get("/audit")
async def audit(
    request: Request, who: ReadPrincipal, state: AuditStateDep, said: str = "", run: str = ""
) -> Response:
    return render_page(
        request,
        "audit",
        found=state.found,
        ended=iso_time(state.ended) if state.ended else "",
        going=state.running,
        error=state.error,
        said=said,
        names="admin" in who.scopes,
        run=run if RUN_ID.fullmatch(run) else "",
    )


@router.post("/audit")
async def start_audit(who: ReadPrincipal, session: SessionDep, state: AuditStateDep) -> Response:
    state.begin(session, who)
    return redirect("/audit")


@router.post("/audit/fix")
async def fix_audit(
    who: WritePrincipal, session: SessionDep, state: AuditStateDep, fields: FormFields
) -> Response:
    kind = first_value(fields, "kind")
    report = await session.write(who, lambda memory: memory.audit([kind], 0))
    state.begin(session, who)
    archived, run = sum(map(len, report.fixed.values())), report.undo.rpartition(" ")[2]
    return redirect(url_with_query("/audit", {"said": str(archived), "run": run}))


@router.post("/audit/undo")
async def undo_audit(
    who: WritePrincipal, session: SessionDep, state: AuditStateDep, fields: FormFields
) -> Response:
    run = first_value(fields, "run")
    if not run:
        raise InputError("No run was named. Nothing was done.")
    await session.write(who, lambda memory: memory.undo_audit(run))
    state.begin(session, who)
    return redirect(url_with_query("/audit", {"said": "undone"}))


LOGIN_PATH: Final = "/login"
PUBLIC_PATHS: Final = (LOGIN_PATH, "/logout", "/assets/", "/favicon.ico")

for part in (
    page.assets_router,
    graph.router,
    memories.router,
    overview.router,
    sessions.router,
):
    router.include_router(part)
