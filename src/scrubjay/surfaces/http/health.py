"""Health: whether the process lives, and whether it can answer."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from scrubjay.surfaces.http.answered import SAID, Failure, good
from scrubjay.surfaces.http.schemas import whole
from scrubjay.surfaces.serve.asked import Working

router = APIRouter(tags=["health"])

_STATE: Final = whole("State", "How it is.", status=str)
_BAD: Final = {"model": Failure, "description": SAID[503]}


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", responses={200: good(_STATE, "It lives.")})
async def healthz() -> dict[str, str]:
    """Tell that the process lives; nothing else is looked at."""
    return {"status": "ok"}


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses={200: good(_STATE, "It can answer."), 503: _BAD})
async def readyz(session: Working) -> dict[str, str]:
    """Tell whether the store can be read; 503 where it cannot."""
    await session.ready()
    return {"status": "ready"}
