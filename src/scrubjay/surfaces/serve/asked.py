"""Asked: a request that the gate let in -> who asks, what they may do, and the session that does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Final, TypeAlias, cast

from fastapi import Depends, Request

from scrubjay.surfaces.serve.gate import PRINCIPAL
from scrubjay.surfaces.serve.open_servers import WARNING
from scrubjay.surfaces.serve.session import Session
from scrubjay.surfaces.serve.tokenless import TokenlessAccess
from scrubjay.verbs.tokens import Principal


def working(request: Request) -> Session:
    """Return what does the work of this server."""
    return cast(Session, request.app.state.session)


def warnings(request: Request, who: Principal) -> tuple[str, ...]:
    """Return what whoever runs this server should put right, as far as it is the server's and not the store's.

    Only an administrator of the owner's tenant may know.
    """
    tokenless: TokenlessAccess | None = request.app.state.tokenless
    if (
        tokenless is None
        or not tokenless.always
        or "admin" not in who.scopes
        or who.tenant != working(request).owner.tenant
    ):
        return ()
    url, user = str(request.base_url).rstrip("/"), working(request).owner.user
    return (WARNING.format(url=url, user=user),)


async def session(request: Request) -> Session:
    """Return the same as a dependency: one that is no coroutine would be sent through a thread."""
    return working(request)


Asking: TypeAlias = "Callable[[Request], Awaitable[Principal]]"
NEEDED: Final[dict[Asking, str]] = {}
"""What each of the dependencies below takes, for the description of the interface."""


def allowed(scope: str) -> Asking:
    """Return a dependency that gives the principal, if they may do what takes this scope."""

    async def who(request: Request) -> Principal:
        found: Principal = request.scope[PRINCIPAL]
        found.need(scope)
        return found

    NEEDED[who] = scope
    return who


def operates(who: Principal, session: Session) -> bool:
    """Tell whether somebody may know of the server as a whole: an administrator, of its owner's tenant.

    What all tenants together ask and store tells each of them of the others.
    """
    return "admin" in who.scopes and who.tenant == session.owner.tenant


Working = Annotated[Session, Depends(session)]
Reader = Annotated[Principal, Depends(allowed("read"))]
Writer = Annotated[Principal, Depends(allowed("write"))]
Admin = Annotated[Principal, Depends(allowed("admin"))]
