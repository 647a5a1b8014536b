"""Viewer router, with its pages for login and of the store as a whole: overview, status, audit, redactions, conflicts.

The overview is the part of the start page that takes longer than a search, so the page asks for it separately.
An audit reads every active memory, so it runs on request, one at a time per principal; the page shows the last result,
which is lost when the server ends.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response

from scrubjay.agents.base import Home
from scrubjay.api.auth import Principal, TokenStore
from scrubjay.config.paths import data_folder, environment
from scrubjay.doctor import checks
from scrubjay.errors import InputError, ScrubjayError
from scrubjay.frozen import frozen
from scrubjay.memory import Memory
from scrubjay.models.dates import now_micros
from scrubjay.models.reports import OK, WARNING, AuditReport, Check, Redaction, StoreStatus
from scrubjay.models.views import Conflict
from scrubjay.server.auth import LoginStore, has_stale_cookie
from scrubjay.server.middleware import PRINCIPAL_KEY
from scrubjay.server.requests import Access, ReadAccess, WriteAccess
from scrubjay.server.session import MAX_PRINCIPALS, Session
from scrubjay.server.viewer import graph, memories, page, sessions
from scrubjay.server.viewer.page import (
    FormFields,
    PageNumber,
    PageRoute,
    format_count,
    iso_time,
    local_path,
    page_of,
    redirect,
    render_page,
    url_with_query,
)

router = APIRouter(include_in_schema=False, route_class=PageRoute)

MAX_READ_FOR_REDACTIONS: Final = 5_000
"""Memories up to which the overview counts redactions, for which it reads every text."""
CHECK_SECONDS: Final = 0.5
"""Time limit of each slow check of the store."""
CHECKS_KEPT: Final = 300.0
"""Seconds for which results of these checks are shown again."""
MAX_SOURCES: Final = 5


@frozen
class Attention:
    """One thing that a person should know of: a sentence, the next step, and a page about it.

    ``level`` is ``note``, ``warning`` or ``problem``.
    """

    text: str
    fix: str = ""
    page: str = ""
    level: str = "note"


@frozen
class StoreChecks:
    """Results of the doctor's checks of the store and the log, and when they were made (monotonic seconds)."""

    checks: tuple[Check, ...]
    at: float


@router.get("/overview")
async def overview(access: ReadAccess) -> Response:
    status, conflicts, redactions = await access.read(_read_overview)
    is_operator = access.is_operator
    results: Iterable[Check] = checks.check_contents(status)
    if is_operator and access.is_owner:
        results = await _store_checks(access)
    attention = [
        *(Attention(text, level=WARNING) for text in access.warnings),
        *(Attention(text, level=WARNING) for text in (status.warnings if is_operator else ())),
        *_attention_from_checks(results, names=is_operator),
        *_attention_from_contents(status, conflicts, redactions, names=is_operator),
    ]
    newest = sorted(status.sources, key=lambda source: source.synced or "", reverse=True)
    return render_page(
        access.request,
        "overview",
        found=status,
        attention=attention,
        sources=newest[:MAX_SOURCES],
        more_sources=max(0, len(newest) - MAX_SOURCES),
        names=is_operator,
    )


def _read_overview(memory: Memory) -> tuple[StoreStatus, int, int | None]:
    status = memory.status()
    is_small = status.memories <= MAX_READ_FOR_REDACTIONS
    return status, len(memory.conflicts()), len(memory.redactions()) if is_small else None


async def _store_checks(access: Access) -> tuple[Check, ...]:
    """Return the doctor's checks of this server's store and log, new ones if the last are too old."""
    state = access.request.app.state
    last: StoreChecks | None = state.checks
    if last is None or time.monotonic() - last.at > CHECKS_KEPT:
        last = StoreChecks(await asyncio.to_thread(_check_store, access.session), time.monotonic())
        state.checks = last
    return last.checks


def _check_store(session: Session) -> tuple[Check, ...]:
    env = environment()
    home = Home(Path.home(), env, (), Path(data_folder(env)))
    installation = checks.Installation(session.settings, home, seconds=CHECK_SECONDS)
    return (*checks.check_store(installation), *checks.check_log(installation))


def _attention_from_checks(results: Iterable[Check], *, names: bool) -> Iterator[Attention]:
    for check in results:
        # The page itself shows the number of pending vectors, and that a store is empty.
        if check.state != OK and check.about not in ("vectors", "memories"):
            text = check.found if check.found[:1].isupper() else f"{check.about.capitalize()}: {check.found}"
            if names or check.about not in ("sources", "store", "texts"):
                yield Attention(f"{text.rstrip('.')}.", check.fix, level=check.state)


def _attention_from_contents(
    status: StoreStatus, conflicts: int, redactions: int | None, *, names: bool
) -> Iterator[Attention]:
    pending = max((model.waiting for model in status.models), default=0)
    if pending:
        yield Attention(
            f"{format_count(pending, 'memory has', 'memories have')} no vectors of the larger model yet; "
            "searches find them by words and the base model.",
            "scrubjay embed",
            "/status",
        )
    if status.unread:
        separator = ":" if len(status.unread) == 1 else ", such as"
        first = f"{separator} {status.unread[0].path}" if names else ""
        unread = f"{format_count(len(status.unread), 'file')} could not be read{first}."
        yield Attention(unread, "scrubjay status", "/status", WARNING)
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
async def conflicts(access: ReadAccess, number: PageNumber = 1) -> Response:
    pairs: Sequence[Conflict] = await access.read(lambda memory: memory.conflicts())
    return render_page(access.request, "conflicts", total=len(pairs), **page_of(pairs, number, PAGE_SIZE))


@router.get("/redactions")
async def redactions(access: ReadAccess, number: PageNumber = 1) -> Response:
    items: Sequence[Redaction] = await access.read(lambda memory: memory.redactions())
    return render_page(access.request, "redactions", total=len(items), **page_of(items, number, PAGE_SIZE))


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
    then = local_path(fields.get("then", ""))
    token = tokens.find(fields.get("token", "").strip())
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
async def status(access: ReadAccess, number: PageNumber = 1) -> Response:
    status = await access.read(lambda memory: memory.status())
    return render_page(
        access.request,
        "status",
        found=status,
        warnings=status.warnings + access.warnings,
        # Paths are for principals who may name files of the server.
        names="admin" in access.who.scopes,
        size=access.is_operator,
        **page_of(status.sources, number, PAGE_SIZE),
    )


MAX_EXAMPLES: Final = 20
RUN_ID: Final = re.compile(r"run_[0-9a-f]{1,40}")


@dataclass(slots=True)
class AuditState:
    report: AuditReport | None = None
    ended: int = 0
    error: ScrubjayError | None = None
    task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self.task is not None and not self.task.done()

    def begin(self, access: Access) -> None:
        if not self.running:
            self.task = asyncio.create_task(self._run(access))

    async def _run(self, access: Access) -> None:
        try:
            self.report = await access.read(lambda memory: memory.audit(limit=MAX_EXAMPLES))
            self.error = None
        except ScrubjayError as error:
            self.error = access.session.public_error(error, access.who)
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
async def audit(access: ReadAccess, state: AuditStateDep, said: str = "", run: str = "") -> Response:
    return render_page(
        access.request,
        "audit",
        found=state.report,
        ended=iso_time(state.ended) if state.ended else "",
        going=state.running,
        error=state.error,
        said=said,
        names="admin" in access.who.scopes,
        run=run if RUN_ID.fullmatch(run) else "",
    )


@router.post("/audit")
async def start_audit(access: ReadAccess, state: AuditStateDep) -> Response:
    state.begin(access)
    return redirect("/audit")


@router.post("/audit/fix")
async def fix_audit(access: WriteAccess, state: AuditStateDep, fields: FormFields) -> Response:
    kind = fields.get("kind", "")
    report = await access.write(lambda memory: memory.audit([kind], 0))
    state.begin(access)
    archived, run = sum(map(len, report.fixed.values())), report.undo.rpartition(" ")[2]
    return redirect(url_with_query("/audit", {"said": str(archived), "run": run}))


@router.post("/audit/undo")
async def undo_audit(access: WriteAccess, state: AuditStateDep, fields: FormFields) -> Response:
    run = fields.get("run", "")
    if not run:
        raise InputError("No run was named. Nothing was done.")
    await access.write(lambda memory: memory.undo_audit(run))
    state.begin(access)
    return redirect(url_with_query("/audit", {"said": "undone"}))


LOGIN_PATH: Final = "/login"
PUBLIC_PATHS: Final = (LOGIN_PATH, "/logout", "/assets/", "/favicon.ico")

for part in (page.assets_router, graph.router, memories.router, sessions.router):
    router.include_router(part)
