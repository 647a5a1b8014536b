"""Asked: a request that the gate let in -> who asks, what they may do, and the session that does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, cast

from fastapi import Depends, Request

from scrubjay.surfaces.serve.gate import PRINCIPAL
from scrubjay.surfaces.serve.session import Session
from scrubjay.verbs.tokens import Principal


def session(request: Request) -> Session:
    """Return what does the work of this server."""
    return cast(Session, request.app.state.session)


NEEDED: Final[dict[Callable[[Request], Principal], str]] = {}
"""What each of the dependencies below takes, for the description of the interface."""


def allowed(scope: str) -> Callable[[Request], Principal]:
    """Return a dependency that gives the principal, if they may do what takes this scope."""

    def who(request: Request) -> Principal:
        found: Principal = request.scope[PRINCIPAL]
        found.need(scope)
        return found

    NEEDED[who] = scope
    return who


Working = Annotated[Session, Depends(session)]
Reader = Annotated[Principal, Depends(allowed("read"))]
Writer = Annotated[Principal, Depends(allowed("write"))]
Admin = Annotated[Principal, Depends(allowed("admin"))]
