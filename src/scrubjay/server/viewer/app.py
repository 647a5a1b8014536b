"""Viewer router, with its pages for login, status and audit.

An audit reads every active memory, so it runs on request, one at a time per principal; the page shows the last result,
which is lost when the server ends.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Final, cast

from fastapi import APIRouter, Depends, Query, Request, Response

from scrubjay.api.auth import Principal, TokenStore
from scrubjay.errors import InputError, ScrubjayError
from scrubjay.models.dates import now_micros
from scrubjay.models.reports import AuditReport
from scrubjay.server.auth import PRINCIPAL_KEY, LoginStore, has_stale_cookie
from scrubjay.server.requests import ReadPrincipal, SessionDep, WritePrincipal, is_operator, server_warnings
from scrubjay.server.session import MAX_PRINCIPALS, Session
from scrubjay.server.viewer import graph, memory, page, search
from scrubjay.server.viewer.page import (
    FormFields,
    PageRoute,
    first_value,
    iso_time,
    redirect,
    render_page,
    url_with_query,
)

router = APIRouter(include_in_schema=False, route_class=PageRoute)

WRONG_TOKEN = (
    "This token is not valid. Check that it was pasted completely, "
    "or ask the server's operator for a new one."
)


def _get_tokens(request: Request) -> TokenStore:
    return cast(TokenStore, request.app.state.tokens)


def _get_logins(request: Request) -> LoginStore:
    return cast(LoginStore, request.app.state.logins)


def _render_login(request: Request, code: int, then: str, error: str = "") -> Response:
    closed = request.app.state.tokenless is not None and PRINCIPAL_KEY not in request.scope
    return render_page(
        request, "login", code, then=then, error=error, stale=has_stale_cookie(request), local=closed
    )


@router.get("/login")
def login_page(request: Request, then: str = "/") -> Response:
    return _render_login(request, 200, _local_path(then))


@router.post("/login")
async def log_in(
    request: Request,
    fields: FormFields,
    tokens: Annotated[TokenStore, Depends(_get_tokens)],
    logins: Annotated[LoginStore, Depends(_get_logins)],
) -> Response:
    secret, then = first_value(fields, "token").strip(), _local_path(first_value(fields, "then"))
    token = tokens.find(secret)
    if token is None:
        return _render_login(request, 401, then, WRONG_TOKEN)
    answer = redirect(then)
    logins.begin(token, request, answer)
    return answer


@router.post("/logout")
async def log_out(request: Request, logins: Annotated[LoginStore, Depends(_get_logins)]) -> Response:
    answer = redirect("/")
    logins.end(request, answer)
    return answer


def _local_path(then: str) -> str:
    r"""Return a path of this server, ``/`` for anything else.

    >>> given = ("/timeline?page=2", "//evil.example", "/\\evil.example", "https://evil.example", "")
    >>> [_local_path(each) for each in given]
    ['/timeline?page=2', '/', '/', '/', '/']
    """
    good = then.startswith("/") and not then.startswith(("//", "/\\")) and then.isprintable()
    return then if good and "\\" not in then else "/"


PAGE_SIZE: Final = 50


@router.get("/status")
async def status(
    request: Request,
    who: ReadPrincipal,
    session: SessionDep,
    number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1,
) -> Response:
    found = await session.read(who, lambda memory: memory.status())
    held = found.sources[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    more = len(found.sources) > number * PAGE_SIZE
    # Where store and sources lie is for who may name files of the server.
    return render_page(
        request,
        "status",
        found=found,
        warnings=found.warnings + server_warnings(request, who),
        held=held,
        number=number,
        more=more,
        names="admin" in who.scopes,
        size=is_operator(who, session),
    )


MAX_EXAMPLES: Final = 20
RUN_ID: Final = re.compile(r"run_[0-9a-f]{1,40}")


@dataclass(slots=True)
class AuditState:
    """The last audit of one principal, and the running one."""

    found: AuditReport | None = None
    ended: int = 0
    error: ScrubjayError | None = None
    going: asyncio.Task[None] | None = None


class AuditStates:
    def __init__(self) -> None:
        self._of: OrderedDict[tuple[object, ...], AuditState] = OrderedDict()

    def of(self, who: Principal) -> AuditState:
        name = (who.tenant, who.user, who.groups)
        found = self._of.setdefault(name, AuditState())
        self._of.move_to_end(name)
        while len(self._of) > MAX_PRINCIPALS:
            self._of.popitem(last=False)
        return found

    def begin(self, session: Session, who: Principal) -> None:
        """Start an audit unless one is running."""
        mine = self.of(who)
        if mine.going is None or mine.going.done():
            mine.going = asyncio.create_task(_run_audit(session, who, mine))


async def _run_audit(session: Session, who: Principal, mine: AuditState) -> None:
    try:
        mine.found, mine.error = (
            await session.read(who, lambda memory: memory.audit(limit=MAX_EXAMPLES)),
            None,
        )
    except ScrubjayError as error:
        mine.error = error
    mine.ended = now_micros()


def _audit_states(request: Request) -> AuditStates:
    state = request.app.state
    if not hasattr(state, "looks"):
        state.looks = AuditStates()
    return cast(AuditStates, state.looks)


AuditStatesDep = Annotated[AuditStates, Depends(_audit_states)]


@router.get("/audit")
async def audit(
    request: Request, who: ReadPrincipal, looks: AuditStatesDep, said: str = "", run: str = ""
) -> Response:
    mine = looks.of(who)
    going = mine.going is not None and not mine.going.done()
    return render_page(
        request, "audit", found=mine.found, ended=iso_time(mine.ended) if mine.ended else "", going=going,
        error=mine.error, said=said, names="admin" in who.scopes, run=run if RUN_ID.fullmatch(run) else "",
    )  # fmt: skip


@router.post("/audit")
async def start_audit(who: ReadPrincipal, session: SessionDep, looks: AuditStatesDep) -> Response:
    looks.begin(session, who)
    return redirect("/audit")


@router.post("/audit/fix")
async def fix_audit(
    who: WritePrincipal, session: SessionDep, looks: AuditStatesDep, fields: FormFields
) -> Response:
    kind = first_value(fields, "kind")
    done = await session.write(who, lambda memory: memory.audit([kind], 0))
    looks.begin(session, who)
    run = done.undo.rpartition(" ")[2]
    return redirect(url_with_query("/audit", {"said": f"{sum(map(len, done.fixed.values()))}", "run": run}))


@router.post("/audit/undo")
async def undo_audit(
    who: WritePrincipal, session: SessionDep, looks: AuditStatesDep, fields: FormFields
) -> Response:
    run = first_value(fields, "run")
    if not run:
        raise InputError("No run was named. Nothing was done.")
    await session.write(who, lambda memory: memory.undo_audit(run))
    looks.begin(session, who)
    return redirect(url_with_query("/audit", {"said": "undone"}))


LOGIN_PATH: Final = "/login"
PUBLIC_PATHS: Final = (LOGIN_PATH, "/logout", "/assets/")
"""What needs no token: the form that takes one, and files that say nothing of anybody's memories."""

for part in (page.assets_router, graph.router, memory.router, search.router):
    router.include_router(part)
