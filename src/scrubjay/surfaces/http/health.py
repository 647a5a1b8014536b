"""Health: whether the process lives, and whether it can answer."""

from __future__ import annotations

from fastapi import APIRouter

from scrubjay.surfaces.serve.asked import Working

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Tell that the process lives; nothing else is looked at."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(session: Working) -> dict[str, str]:
    """Tell whether the store can be read; 503 where it cannot."""
    await session.do(session.owner, lambda memory: memory.models())
    return {"status": "ready"}
