"""App: a session and its tokens -> the ASGI application of `scrubjay proxy`, which is the proxy alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette

from scrubjay.surfaces.proxy.passing import FOREIGN, LIMITS, Passing
from scrubjay.surfaces.serve.bodies import Bodies
from scrubjay.surfaces.serve.gate import Gate

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from scrubjay.surfaces.serve.session import Session
    from scrubjay.surfaces.serve.tokenless import TokenlessAccess
    from scrubjay.verbs.tokens import Tokens


def application(session: Session, tokens: Tokens, *, tokenless: TokenlessAccess | None) -> ASGIApp:
    """Return the ASGI application.

    Args:
        session: What does the work.
        tokens: Who is let in.
        tokenless: Which requests are the owner's without a token; None for none.
    """
    return Gate(alone(Passing(session)), tokens, session.owner, tokenless, foreign=FOREIGN)


def alone(passing: Passing) -> ASGIApp:
    """Return what is behind the gate: the proxy and nothing else."""

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with passing.running():
            yield

    return Bodies(passing.around(Starlette(lifespan=running)), passing.patience, LIMITS, FOREIGN)
